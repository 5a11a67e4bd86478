import { expect, onTestFinished, test, vi } from 'vitest';
import { courseTranslations } from '../../../src/database/tables/courses.ts';
import {
  changeDate,
  addDate,
  addGathering,
  addInstructor,
  addLocation,
  assignInstructor,
} from '../../support/dates.ts';
import { createOrder, createUser, write } from '../../support/orders.ts';
import { signedInVisitor } from '../../support/pages.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

async function somebody(fields: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const userId = await createUser(me, { firstname: 'Kari', ...fields });
  return { testApp, me, userId, browser: await signedInVisitor(testApp.app, me, userId, headers) };
}

type Spec = {
  course?: Record<string, unknown>;
  date?: Parameters<typeof addDate>[2];
  participant?: Parameters<typeof createOrder>[1]['participant'];
};

/** A course date with this user on it. */
async function takesPart(me: Provider, userId: number, { course, date, participant = {} }: Spec = {}) {
  const courseId = await me.course(course);
  const dateId = await addDate(me, courseId, date);
  const { participantIds } = await createOrder(me, { courseId, dateId, users: [userId], participant });
  return { courseId, dateId, participantId: participantIds[0]!, path: `/my/courses/${participantIds[0]}` };
}

const nine = { startTimeAt: '09:00', endTimeAt: '15:30' };
const visibleText = (html: string) =>
  html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
/** The section below a heading. */
const below = (html: string, heading: string) => visibleText(html.slice(html.indexOf(`id="${heading}"`)));

test('the first page shows future courses (next first) and past ones (latest first)', async () => {
  const { me, userId, browser } = await somebody();
  for (const [title, startAt] of Object.entries({
    Later: '2031-01-08',
    Sooner: '2030-06-10',
    Older: '2020-03-02',
    Old: '2021-03-02',
  }))
    await takesPart(me, userId, { course: { title }, date: { startAt, ...nine } });
  const { text } = await browser.get('/my');
  const order = ['id="coming"', 'Sooner', 'Later', 'id="past"', 'Old<', 'Older'].map((word) => text.indexOf(word));
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(visibleText(text)).toContain('Monday 10 June 2030, 09:00–15:30');
  expect(below(text, 'past')).toContain('Tuesday 2 March 2021');
});

test("an empty page has a message in the browser's language", async () => {
  const { browser } = await somebody();
  const english = await browser.get('/my');
  expect(english.text).toContain('<html lang="en">');
  expect(english.text).toContain('You are not signed up for any coming course.');
  for (const language of ['no', 'nb', 'nn-NO, en;q=0.5']) {
    const norwegian = await browser.get('/my', { 'accept-language': language });
    expect(norwegian.headers['vary']).toContain('Accept-Language');
    expect(norwegian.text).toContain('<html lang="no">');
    expect(norwegian.text).toContain('Hei, Kari');
    expect(norwegian.text).toContain('Du er ikke påmeldt noe kommende kurs.');
  }
});

test('dates are formatted in the page language with the local time zone', async () => {
  const { me, userId, browser } = await somebody({}, { 'accept-language': 'nb' });
  await takesPart(me, userId, { date: { startAt: '2030-06-10', ...nine, timezone: 'America/New_York' } });
  await takesPart(me, userId, { date: { startAt: '2030-07-01', endAt: '2030-07-03', ...nine } });
  await takesPart(me, userId, { date: { startAt: '2030-08-01', endAt: '2030-08-02' } });
  const text = visibleText((await browser.get('/my')).text);
  expect(text).toContain('Mandag 10. juni 2030, 09:00–15:30 Tidssone America/New_York');
  expect(text).toContain('Mandag 1. juli 2030, 09:00 – onsdag 3. juli 2030, 15:30');
  expect(text).toContain('Torsdag 1. august 2030 – fredag 2. august 2030');
  expect(text.match(/Tidssone/g)).toHaveLength(1);
});

test.each([
  [1, 'You have a place', true],
  [2, 'You have an extra place', true],
  [3, 'You are on the waiting list', true],
  [7, 'The school has yet to confirm your place', true],
  [4, 'You are deregistered', false],
  [8, 'You are deregistered; the school charges a fee', false],
])('participant status %i is shown as: %s', async (statusId, rawResponse, hasCalendar) => {
  const { me, userId, browser } = await somebody();
  const { path } = await takesPart(me, userId, {
    date: { ...nine, isVirtual: true, eventUrl: 'https://meet.example/kari' },
    participant: { statusId },
  });
  for (const page of ['/my', path]) {
    const { text } = await browser.get(page);
    expect(visibleText(text)).toContain(` ${rawResponse} `);
    expect(text.includes(`${path}/calendar.ics`)).toBe(hasCalendar);
    // Only confirmed participants get the link.
    expect(text.includes('https://meet.example/kari')).toBe([1, 2].includes(statusId));
  }
  const calendar = await browser.get(`${path}/calendar.ics`);
  expect(calendar.status).toBe(hasCalendar ? 200 : 404);
  expect(calendar.text.includes('https://meet.example/kari')).toBe([1, 2].includes(statusId));
  expect(/STATUS:(\w+)/.exec(calendar.text)?.[1]).toBe(
    hasCalendar ? ([1, 2].includes(statusId) ? 'CONFIRMED' : 'TENTATIVE') : undefined,
  );
});

test('a deregistered participant no longer sees a past course', async () => {
  const { me, userId, browser } = await somebody();
  const { path } = await takesPart(me, userId, { date: { startAt: '2021-03-02' }, participant: { statusId: 4 } });
  expect((await browser.get('/my')).text).not.toContain(path);
  expect((await browser.get(path)).status).toBe(404);
});

test('canceled and postponed dates are marked', async () => {
  const { me, userId, browser } = await somebody();
  const off = await takesPart(me, userId, { date: { statusId: 3, eventUrl: 'https://meet.example/off' } });
  const moved = await takesPart(me, userId, { date: { statusId: 4 } });
  const { text } = await browser.get('/my');
  expect(text).toContain('Canceled by the school');
  expect(text).toContain('The school has postponed this date');
  expect(text).not.toContain(`${off.path}/calendar.ics`);
  expect(text).not.toContain('meet.example');
  expect(text).not.toContain(`${moved.path}/calendar.ics`);
  expect((await browser.get(`${off.path}/calendar.ics`)).status).toBe(404);
});

test('a past course shows its certificate but no joining details', async () => {
  const { me, userId, browser } = await somebody();
  const { path } = await takesPart(me, userId, {
    date: { startAt: '2021-03-02', eventUrl: 'https://meet.example/over' },
    participant: { passed: true, completed: true, certificateIssuedAt: '2021-03-09' },
  });
  await takesPart(me, userId, { date: { startAt: '2021-05-02' }, participant: { completed: true } });
  const past = below((await browser.get('/my')).text, 'past');
  expect(past).toContain('Passed Certificate issued Tuesday 9 March 2021');
  expect(past).toContain('Completed');
  const { text } = await browser.get(path);
  expect(text).toContain('Certificate issued Tuesday 9 March 2021');
  expect(text).not.toContain('meet.example');
});

test('a course date shows its place, gatherings, visible instructors and texts', async () => {
  const { me, userId, browser } = await somebody();
  const locationId = await addLocation(me, {
    title: 'Bryggen 1',
    address: 'Bryggen 1',
    zipcode: '5003',
    city: 'Bergen',
  });
  const other = await addLocation(me, { customTitle: 'The boathouse', city: 'Askøy' });
  const { dateId, path } = await takesPart(me, userId, {
    course: {
      text_lead: '<p>Two evenings and a swim.</p>',
      text_description: '<h1>What you learn</h1><ul><li>Knots</li></ul>',
      text_prerequisites: 'Nothing',
    },
    date: { startAt: '2030-06-10', endAt: '2030-06-11', locationId, placeAdditionalInfo: 'Second floor' },
  });
  const shown = await addInstructor(me, { firstname: 'Siri', lastname: 'Vik', showOnWeb: true });
  const guest = await addInstructor(me, { firstname: 'Nils', lastname: 'Berg', showOnWeb: true });
  await assignInstructor(me, dateId, shown);
  await assignInstructor(me, dateId, await addInstructor(me, { firstname: 'Unn', lastname: 'Hidden' }));
  await addGathering(me, dateId, { theme: 'Knots' });
  const evening = { gatheringAt: '2030-06-11 18:00', gatheringEndAt: '2030-06-11 20:00', locationId: other };
  await addGathering(me, dateId, { ...evening, eventUrl: 'https://meet.example/swim' }, [guest]);

  const { text } = await browser.get(path);
  const words = visibleText(text);
  expect(words).toContain('Bryggen 1 Bryggen 1 5003 Bergen Second floor');
  expect(words).toContain('Siri Vik Nils Berg');
  expect(words).not.toContain('Hidden');
  expect(words).toMatch(
    /Monday 10 June 2030, 09:00–11:30 Knots Tuesday 11 June 2030, 18:00–20:00 The boathouse Askøy Open/,
  );
  expect(words).toContain('What you should know before Nothing');
  expect(text).toContain('<p>Two evenings and a swim.</p>');
  expect(text).toContain('<h3>What you learn</h3><ul><li>Knots</li></ul>');
  expect(text.match(/<h1/g)).toHaveLength(1);
  expect(visibleText((await browser.get('/my')).text)).toContain(
    'Next time Monday 10 June 2030, 09:00–11:30 (2 meetings)',
  );
});

test("a course's texts are shown in the reader's language where they are translated", async () => {
  const { me, userId, browser } = await somebody();
  const { courseId, path } = await takesPart(me, userId, {
    course: { text_lead: '<p>To kvelder.</p>', text_audience: 'Alle' },
  });
  await write(me, (tx) =>
    tx
      .insert(courseTranslations)
      .values({ providerId: me.id, courseId, languageId: 'en', textLead: '<p>Two evenings.</p>' }),
  );
  expect((await browser.get(path)).text).toContain('Two evenings.');
  expect((await browser.get(path, { 'accept-language': 'no' })).text).toContain('To kvelder.');
});

test('a foreign, deleted or unknown course date is not found', async () => {
  const { testApp, me, userId, browser } = await somebody();
  const mine = await takesPart(me, userId);
  const colleague = await takesPart(me, await createUser(me));
  const stranger = await testApp.createProvider();
  const foreign = await takesPart(stranger, await createUser(stranger));
  const deleted = await takesPart(me, userId);
  await changeDate(me, deleted.dateId, { deletedAt: '2026-01-01' });

  expect((await browser.get(mine.path)).status).toBe(200);
  const { text } = await browser.get('/my');
  const unknown = ['/my/courses/9007199254740993', '/my/courses/0', '/my/courses/x', '/my/courses/1e3'];
  const others = [colleague.path, foreign.path, deleted.path];
  const responses = new Set<string>();
  for (const path of [...unknown, ...others])
    for (const page of [path, `${path}/calendar.ics`]) {
      const response = await browser.get(page);
      expect(response.status).toBe(404);
      responses.add(response.text);
    }
  expect(responses.size).toBe(1);
  for (const path of others) expect(text).not.toContain(`"${path}"`);
});

test('archived courses stay listed for their participants', async () => {
  const { me, userId, browser } = await somebody();
  const { path } = await takesPart(me, userId, {
    date: { startAt: '2021-03-02' },
    participant: { passed: true, archivedAt: '2026-01-01' },
  });
  const { text } = await browser.get('/my');
  expect(text).toContain(`"${path}"`);
  expect(below(text, 'past')).toContain('Passed');
  expect((await browser.get(path)).status).toBe(200);
});

test('the course list does not load descriptions', async () => {
  const { testApp, me, userId, browser } = await somebody();
  const { path } = await takesPart(me, userId, { course: { text_lead: '<p>Two evenings.</p>' } });
  const query = vi.spyOn(testApp.database.pool, 'query');
  onTestFinished(() => query.mockRestore());
  const asksForTexts = async (page: string) => {
    query.mockClear();
    expect((await browser.get(page)).status).toBe(200);
    return JSON.stringify(query.mock.calls).includes('text_lead');
  };
  expect([await asksForTexts('/my'), await asksForTexts(path)]).toEqual([false, true]);
});

test('the calendar file has an event for each gathering, in UTC', async () => {
  const { me, userId, browser } = await somebody();
  const { dateId, participantId, path } = await takesPart(me, userId, {
    course: { title: 'Knots; ropes, and \\ more' },
    date: { startAt: '2030-06-10', endAt: '2030-12-10', placeAdditionalInfo: 'Quay 3,\nleft' },
  });
  await addGathering(me, dateId);
  await addGathering(me, dateId, {
    gatheringAt: '2030-12-10 09:00',
    gatheringEndAt: '2030-12-10 11:30',
    theme: 'Ice',
  });
  const response = await browser.get(`${path}/calendar.ics`);
  expect(response.headers).toMatchObject({
    'content-type': 'text/calendar; charset=utf-8',
    'content-disposition': 'attachment; filename="course.ics"',
    'cache-control': 'no-store',
  });
  expect(response.text.endsWith('END:VCALENDAR\r\n')).toBe(true);
  const lines = response.text.replace(/\r\n[ \t]/g, '').split('\r\n');
  const of = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1));
  expect(of('DTSTART')).toEqual(['20300610T070000Z', '20301210T080000Z']);
  expect(of('DTEND')).toEqual(['20300610T093000Z', '20301210T103000Z']);
  expect(of('SUMMARY')).toEqual(['Knots\\; ropes\\, and \\\\ more', 'Knots\\; ropes\\, and \\\\ more: Ice']);
  expect(of('LOCATION')[0]).toBe('Quay 3\\,\\nleft');
  expect(of('STATUS')).toEqual(['CONFIRMED', 'CONFIRMED']);
  expect(of('UID')).toEqual(
    ['', '-2'].map((n) => `participant-${me.id}-${participantId}-${userId}-${dateId}${n}@localhost`),
  );
  expect((await browser.get(`${path}/calendar.ics`)).text).toBe(response.text);
});

test.each([
  [{ startAt: '2030-06-10' }, ['DTSTART;VALUE=DATE:20300610', 'DTEND;VALUE=DATE:20300611']],
  [{ startAt: '2030-06-10', endAt: '2030-06-12' }, ['DTSTART;VALUE=DATE:20300610', 'DTEND;VALUE=DATE:20300613']],
  [{ startAt: '9999-12-31', endAt: '9999-12-31' }, ['DTSTART;VALUE=DATE:99991231']],
  [{ startAt: '9999-12-30', endAt: '9999-12-31' }, ['DTSTART;VALUE=DATE:99991230', 'DTEND;VALUE=DATE:99991231']],
  [{ startAt: '2030-06-10', ...nine }, ['DTSTART:20300610T070000Z', 'DTEND:20300610T133000Z']],
  [
    { startAt: '2030-06-10', endAt: '2030-06-12', startTimeAt: '09:00' },
    ['DTSTART:20300610T070000Z', 'DTEND:20300612T215959Z'],
  ],
  [{ startAt: '2030-06-10', startTimeAt: '09:00', timezone: 'Asia/Kathmandu' }, ['DTSTART:20300610T031500Z']],
])('a date %j without gatherings is one event', async (date, expected) => {
  const { me, userId, browser } = await somebody();
  const { path } = await takesPart(me, userId, { date, participant: { statusId: 3 } });
  const { text } = await browser.get(`${path}/calendar.ics`);
  expect(text.split('\r\n').filter((line) => /^DT(START|END)/.test(line))).toEqual(expected);
  expect(text).toContain('STATUS:TENTATIVE');
});
