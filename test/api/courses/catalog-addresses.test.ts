import { expect, test } from 'vitest';
import { addCategory, categorizeCourse } from '../../../src/domains/courses/courses/category-service.ts';
import { importObjects } from '../../support/all-responses.ts';
import { addDate } from '../../support/dates.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

const catalog = 'https://catalog.example';
const addressOf = async (me: Provider, id: number) =>
  (await me.get(`/v2/courses/${id}`)).json<{ catalog_url: string }>().catalog_url;
const addressesOf = async (me: Provider) =>
  (await me.get('/v2/courses')).json<{ catalog_url: string }[]>().map((course) => course.catalog_url);

test('titles with one slug have different addresses; the first keeps the plain one', async () => {
  const me = await createProvider();
  const [plain, sharp, plus] = [`C ${me.id}`, `C ${me.id}#`, `C ${me.id}++`];
  const ids = [await me.course({ title: plain }), await me.course({ title: sharp }), await me.course({ title: plus })];
  const slug = `${catalog}/c-${me.id}`;
  expect(await addressesOf(me)).toEqual([slug, `${slug}-${ids[1]}`, `${slug}-${ids[2]}`]);

  const [one, two] = [await me.course({ title: '日本語コース' }), await me.course({ title: '🎉🎉🎊' })];
  expect(await addressOf(me, one)).not.toBe(await addressOf(me, two));
  const address = { catalog_url: await addressOf(me, two) };
  // Another test may have a course with the title `Course` and this number.
  expect(address.catalog_url).toMatch(new RegExp(`^${catalog}/course(-${two})+$`));
  await addDate(me, two);
  const { items } = (await me.get('/v2/coursedates?include=course')).json<{ items: object[] }>();
  expect(items).toMatchObject([{ ...address, course: address }]);
});

test('schools that create one title at once have different addresses, and each of them one event', async () => {
  const schools = await Promise.all(Array.from({ length: 6 }, createProvider));
  const title = `Race ${schools[0]!.id}`;
  const ids = await Promise.all(
    schools.map(async (school, n) => {
      if (n % 2 === 0) return school.course({ title });
      const created = (await school.post('/courses', { title })).json<{ course_id: string }>();
      return Number(created.course_id);
    }),
  );
  const addresses = await Promise.all(schools.map((school, n) => addressOf(school, ids[n]!)));
  const slug = `${catalog}/race-${schools[0]!.id}`;
  expect(new Set(addresses).size).toBe(6);
  expect(addresses.filter((address) => address === slug)).toHaveLength(1);
  expect(addresses.every((address, n) => address === slug || address === `${slug}-${ids[n]}`)).toBe(true);
  const { rows } = await database.pool.query<{ change: string }>(
    `select change from events where provider_id = any($1) and resource = 'course'`,
    [schools.map(({ id }) => id)],
  );
  expect(rows.map(({ change }) => change)).toEqual(Array.from({ length: 6 }, () => 'created'));
});

test('an address follows the title, and keeps an id once it has one', async () => {
  const [first, second] = [await createProvider(), await createProvider()];
  const title = `Yoga ${first.id}`;
  const [a, b] = [await first.course({ title }), await second.course({ title })];
  const [slug, other] = [`${catalog}/yoga-${first.id}`, `${catalog}/pilates-${first.id}`];
  const rename = async (me: Provider, id: number, to: string) => {
    expect((await me.put(`/v2/courses/${id}`, { title: to })).status).toBe(200);
    return addressOf(me, id);
  };
  expect(await addressOf(second, b)).toBe(`${slug}-${b}`);
  expect(await rename(second, b, `Pilates ${first.id}`)).toBe(`${other}-${b}`);
  expect(await rename(first, a, `Pilates ${first.id}`)).toBe(other);
  expect(await rename(second, b, title)).toBe(`${slug}-${b}`);
  expect(await rename(first, a, title)).toBe(slug);
  expect(await rename(second, b, `${title}!`)).toBe(`${slug}-${b}`);

  const c = await first.course({ title: `${title} ${b}` });
  expect(await addressOf(first, c)).toBe(`${slug}-${b}-${c}`);
});

test('the address of a deleted course is free again, one of an inactive course is not', async () => {
  const me = await createProvider();
  const title = `Chess ${me.id}`;
  const slug = `${catalog}/chess-${me.id}`;
  const first = await me.course({ title });
  expect((await me.request('DELETE')(`/v2/courses/${first}`)).status).toBe(200);
  const second = await me.course({ title });
  expect(await addressOf(me, second)).toBe(slug);
  expect((await me.put(`/v2/courses/${second}`, { active: 0 })).status).toBe(200);
  const third = await me.course({ title });
  expect(await addressOf(me, third)).toBe(`${slug}-${third}`);
});

test('only courses of one category have equal addresses', async () => {
  const [first, second] = [await createProvider(), await createProvider()];
  const slugs = ['one', 'two'].map((name) => `${name}-${first.id}`);
  const [one, two] = [
    await addCategory(database, { title: 'One', slug: slugs[0]! }),
    await addCategory(database, { title: 'Two', slug: slugs[1]! }),
  ];
  const title = `Judo ${first.id}`;
  const [a, slug] = [await first.course({ title }), `judo-${first.id}`];
  await categorizeCourse(await first.ctx(), a, one);
  const b = await second.course({ title });
  expect(await addressOf(second, b)).toBe(`${catalog}/${slug}`);
  await categorizeCourse(await second.ctx(), b, two);
  expect(await addressOf(second, b)).toBe(`${catalog}/${slugs[1]}/${slug}`);
  await categorizeCourse(await second.ctx(), b, one);
  expect(await addressOf(second, b)).toBe(`${catalog}/${slugs[0]}/${slug}-${b}`);
  expect(await addressOf(first, a)).toBe(`${catalog}/${slugs[0]}/${slug}`);
});

test('imported courses have different addresses, also of their categories', async () => {
  const [first, second] = [await createProvider(), await createProvider()];
  const category = { kind: 'category', ref: 'k', title: `Cooking ${first.id}` };
  const course = (ref: string, fields: object) => ({ kind: 'course', ref, categories: ['k'], ...fields });
  const lines = [
    category,
    course('a', { title: 'Soup' }),
    course('b', { title: 'Soup!' }),
    course('c', { title: 'Soup?', deleted_at: '2026-01-01 10:00:00' }),
  ];
  for (const school of [first, second])
    expect(await importObjects(school, lines)).toMatchObject({ written: 4, reasons: [] });
  const slug = `${catalog}/cooking-${first.id}/soup`;
  const all = [...(await addressesOf(first)), ...(await addressesOf(second))];
  const ids = [first, second].map(async (school) => (await school.get('/v2/courses')).json<{ id: number }[]>());
  const [, ...later] = (await Promise.all(ids)).flat();
  expect(all).toEqual([slug, ...later.map(({ id }) => `${slug}-${id}`)]);
});
