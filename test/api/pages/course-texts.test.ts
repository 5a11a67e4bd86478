import { expect, test } from 'vitest';
import { addDate } from '../../support/dates.ts';
import { createOrder, createUser } from '../../support/orders.ts';
import { signedInVisitor } from '../../support/pages.ts';
import { sharedTestApp } from '../../support/test-app.ts';

async function pageOf(course: Record<string, unknown>, date: Parameters<typeof addDate>[2] = {}) {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const userId = await createUser(me, { firstname: 'Kari' });
  const courseId = await me.course(course);
  const dateId = await addDate(me, courseId, { startAt: '2031-06-10', endAt: '2031-06-10', ...date });
  const { participantIds } = await createOrder(me, { courseId, dateId, users: [userId] });
  const browser = await signedInVisitor(testApp.app, me, userId, {});
  const path = `/my/courses/${participantIds[0]}`;
  const [page, calendar] = [await browser.get(path), await browser.get(`${path}/calendar.ics`)];
  expect([page.status, calendar.status]).toEqual([200, 200]);
  return { text: page.text, calendar: calendar.text };
}

const description = async (html: string) => {
  const { text } = await pageOf({ text_description: html });
  return /<div class="text">(.*?)<\/div><\/section>/s.exec(text)![1]!;
};
/** The text alone, as a reader without style sheets gets it. */
const words = (html: string) => html.replace(/<br ?\/?>/g, '\n').replace(/<[^>]+>/g, '');

test.each([
  ['<table><tr><td>1</td><td>500</td></tr><tr><td>2</td><td>900</td></tr></table>', /^1\s+500\s+2\s+900$/],
  ['<table><thead><tr><th>Price</th><th>Time</th></tr></thead></table>', /^Price\s+Time$/],
  ['<div>A</div><div>B</div>', /^A\s+B$/],
  ['<section>A</section><article>B</article>C', /^A\s+B\s+C$/],
  ['<dl><dt>A</dt><dd>B</dd></dl>', /^A\s+B$/],
  ['A<hr>B', /^A\s+B$/],
])('cells and blocks stay apart: %s', async (html, expected) => {
  const shown = await description(html);
  expect(words(shown).trim()).toMatch(expected);
});

test('a table stays a table, without its styles', async () => {
  const shown = await description(
    '<table style="x" onclick="y"><tr><td colspan="2" class="z">1</td><td>500</td></tr></table>',
  );
  expect(shown).toContain('<table><tr><td colspan="2">1</td> <td>500</td> </tr> </table>');
});

test('line breaks are kept in a text without HTML, and only there', async () => {
  expect(await description('L1\nL2\r\n\r\nL3 & <3')).toBe('L1<br />\nL2<br />\n<br />\nL3 &amp; &lt;3');
  expect(await description('<p>L1\nL2</p>')).toBe('<p>L1\nL2</p>');
});

test.each([
  ['mailto:a@x.example', 'mailto:a@x.example'],
  ['MAILTO:a@x.example?subject=Hei', 'mailto:a@x.example?subject=Hei'],
  ['tel:+4712345678', 'tel:+4712345678'],
  ['www.x.example/a', 'https://www.x.example/a'],
  ['//x.example/a', 'https://x.example/a'],
  ['https://x.example/', 'https://x.example/'],
])('a link to %s is kept', async (href, expected) => {
  expect(await description(`<a href="${href}">Kontakt</a>`)).toContain(
    `<a href="${expected}" rel="noopener">Kontakt</a>`,
  );
});

test.each(['javascript:alert(1)', 'data:text/html,x', 'java\tscript:alert(1)', 'vbscript:x', 'file:///etc/passwd'])(
  'a link to %s is removed',
  async (href) => expect(await description(`<a href="${href}">x</a>`)).toBe('<a>x</a>'),
);

test('the title of a calendar file is escaped', async () => {
  const { calendar } = await pageOf({ title: 'C:\\nytt; a, b' });
  for (const name of ['X-WR-CALNAME', 'NAME', 'SUMMARY'])
    expect(calendar).toContain(`\r\n${name}:C:\\\\nytt\\; a\\, b\r\n`);
});

test('an end time without a start time is an end', async () => {
  const { text, calendar } = await pageOf({}, { endTimeAt: '15:00' });
  expect(text.replace(/<[^>]+>/g, '')).toContain('Tuesday 10 June 2031, until 15:00');
  expect(calendar).toContain('DTSTART;VALUE=DATE:20310610');
});

test.each([
  { startAt: '9999-12-31', endAt: '9999-12-31', startTimeAt: '20:00', endTimeAt: '23:00', zone: 'America/Los_Angeles' },
  { startAt: '9999-12-30', endAt: '9999-12-31', startTimeAt: '09:00', zone: 'America/Los_Angeles' },
])('the last day of the calendar has a calendar file west of its zone', async (date) => {
  const { calendar } = await pageOf({}, { ...date, timezone: date.zone });
  expect(calendar).toMatch(/DTSTART:9999123[01]T\d{6}Z/);
  expect(calendar).toMatch(/DTEND:99991231T235959Z/);
});
