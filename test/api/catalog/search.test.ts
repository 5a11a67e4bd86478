import { expect, test } from 'vitest';
import { openCatalog } from '../../support/catalog.ts';
import { addDate } from '../../support/dates.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();

async function createSchool() {
  const me = await testApp.createProvider();
  const knots = await me.course({ title: 'Knots' });
  for (const startAt of ['2030-06-10', '2030-07-10']) await addDate(me, knots, { startAt });
  const silent = await me.course({ title: 'Silent sailing' });
  await me.course({ title: 'Silent internal', type: 'internal' });
  const { get } = await openCatalog(testApp, me);
  /** The addresses of courses in the list of those without a coming date. */
  const listOthers = async (query: string) => {
    const { text } = await get(query, { 'accept-language': 'en' });
    const [, section = ''] = /<section aria-labelledby="others">(.*?)<\/section>/s.exec(text) ?? [];
    return [...section.matchAll(/\/courses\/([^"?]*)/g)].map(([, address]) => address);
  };
  return { me, get, listOthers, knots, silent: `silent-sailing-${silent}` };
}

test.each([
  ['', true],
  ['?q=silent', true],
  ['?q=SAILING%20sil', true],
  ['?q=silent%20knots', false],
  ['?q=knots', false],
  ['?q=silent&month=2030-06', false],
  ['?month=2030-06', false],
])('%s lists a course without a date: %s', async (query, isListed) => {
  const { listOthers, silent } = await createSchool();
  expect(await listOthers(query)).toEqual(isListed ? [silent] : []);
});

test('a search finds a course by its title of now', async () => {
  const { me, get, knots } = await createSchool();
  const find = async () => {
    const texts = await Promise.all(['knots', 'ropes'].map(async (q) => (await get(`?q=${q}`)).text));
    return texts.map((text) => text.includes('/dates/'));
  };
  expect([await find(), await find()]).toEqual([
    [true, false],
    [true, false],
  ]);
  expect((await me.put(`/v2/courses/${knots}`, { title: 'Ropes' })).status).toBe(200);
  expect(await find()).toEqual([false, true]);
});

test('courses without a date are in the Norwegian alphabet, without regard to case', async () => {
  const me = await testApp.createProvider();
  const titles = ['Zumba', 'Åkle', 'ål', 'Ærfugl', 'baking', 'Øl', 'Aalesund', 'Bier', 'Éclair'];
  for (const title of titles) await me.course({ title });
  const { get } = await openCatalog(testApp, me);
  const { text } = await get('?q=', {});
  const [, section = ''] = /<section aria-labelledby="others">(.*?)<\/section>/s.exec(text) ?? [];
  const listed = [...section.matchAll(/\/courses\/[^>]*>([^<]+)</g)].map(([, title]) => title);
  expect(listed).toEqual(['baking', 'Bier', 'Éclair', 'Zumba', 'Ærfugl', 'Øl', 'Åkle', 'ål', 'Aalesund']);
});
