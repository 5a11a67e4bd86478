import { expect, test } from 'vitest';
import { openCatalog } from '../../support/catalog.ts';
import { readMain } from '../../support/catalog-form.ts';
import { addDate } from '../../support/dates.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();

async function createSchool() {
  const me = await testApp.createProvider('Fjord school');
  const knots = await me.course({ title: 'Knots', tags: [{ title: 'Sea' }] });
  for (const startAt of ['2030-06-10', '2030-07-10']) await addDate(me, knots, { startAt });
  const catalog = await openCatalog(testApp, me);
  const read = async (query: string, headers: Record<string, string> = { 'accept-language': 'en' }) => {
    const { status, text, headers: answered } = await catalog.get(query, headers);
    return { status, text, etag: answered['etag'] };
  };
  return { me, ...catalog, read };
}

const malformedMonths = [
  ...['2027-13', '2027-00', '2027-99', '2027-1', '2027', '2027-06-15', '2027-02-30', '13-2027', '06.2027', '2027-0x'],
  ...['202706', '2027/06', 'juni%202027', 'abc', '-', '2027-1a', '2027-13&month=2030-06', '%00', '%ff', '2030-06%00'],
];
test.each(malformedMonths)('?month=%s is as if it was not sent', async (month) => {
  const { read } = await createSchool();
  expect(await read(`?month=${month}`)).toEqual(await read(''));
});

test.each([
  'page=0',
  'page=-1',
  'page=x',
  'page=1',
  'page=1e3',
  'lang=x',
  'lang=nb_NO',
  'q=',
  'tag=%20',
  'month[x]=2030-06',
])('?%s is as if it was not sent', async (query) => {
  const { read } = await createSchool();
  expect(await read(`?${query}`)).toEqual(await read(''));
});

test('a month without a date is a filter, and the first of several counts', async () => {
  const { read } = await createSchool();
  const [none, june] = [await read('?month=2031-01'), await read('?month=2030-06&month=2030-07')];
  expect([none.status, none.text.includes('No date matches'), none.text.includes('January 2031')]).toEqual([
    ...[200, true, true],
  ]);
  expect(june.text).toContain('One date');
  expect(june).toEqual(await read('?month=2030-06'));
});

test.each(['/calendar.ics', '/feed.atom'])('%s ignores what it does not have', async (path) => {
  const { read } = await createSchool();
  const of = async (query: string) => (await read(`${path}${query}`)).etag;
  expect(await of('?month=2027-13&page=x&tag=')).toBe(await of(''));
  expect(await of('?tag=sea')).not.toBe(await of(''));
});

test.each([
  [undefined, 'no', 'no'],
  ['de,fr;q=0.5', 'no', 'no'],
  ['*', 'no', 'no'],
  ['de, en;q=0.1', 'no', 'en'],
  ['nn', 'en', 'no'],
  [undefined, null, 'en'],
] as const)('for Accept-Language %j and a school in %j pages are in %s', async (accepted, language, shown) => {
  const { me, get, base } = await createSchool();
  expect((await me.put('/v2/booking-settings', { language })).status).toBe(200);
  const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-language': accepted };
  expect((await get('', headers)).text).toContain(`<html lang="${shown}">`);
  expect((await get('/no-page', headers)).text).toContain(`<html lang="${shown}">`);
  expect((await get('/feed.atom', headers)).text).toContain(`xml:lang="${shown}"`);
  expect((await get('?lang=en', headers)).text).toContain('<html lang="en">');
  expect(base).toContain('/catalog/');
});

test('the footer names the school, its organization number and its address', async () => {
  const { me, get } = await createSchool();
  const footer = async (lang = 'en') => {
    const { text } = await get(`?lang=${lang}`);
    return readMain({ text: text.replace(/<main.*<\/main>/s, '').replaceAll(/(<\/?)footer/g, '$1main') });
  };
  const body = { title: 'Fjord school', org_nr: '923 609 016', phone: '1', email_admin: 'a@fjord.example' };
  const post = { post_address: 'PB 1', post_zip: '5003', post_city: 'Bergen' };
  const put = (visit: object = {}) => me.put('/v2/schools', { ...body, ...post, ...visit });
  expect((await put()).status).toBe(200);
  expect(await footer()).toContain('|Fjord school|Organization number 923 609 016|PB 1, 5003 Bergen|');
  await put({ visit_address: 'Bryggen 1', visit_zip: '5003', visit_city: 'Bergen' });
  expect(await footer('no')).toContain('|Fjord school|Organisasjonsnummer 923 609 016|Bryggen 1, 5003 Bergen|');
});
