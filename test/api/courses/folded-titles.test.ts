import { expect, test } from 'vitest';
import { listCategories } from '../../../src/domains/courses/courses/category-service.ts';
import { importObjects } from '../../support/all-responses.ts';
import { write } from '../../support/orders.ts';
import { contentTypeHeader, encodeBody } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

/** One title. */
const spellings = ['Excel – kurs for d’Arcy', "Excel - kurs for d'Arcy", 'EXCEL\u00a0—  kurs for d´arcy'];
const isRefused = (text: string) => text.includes('An active course with an equal title exists already');

test('titles that differ in blanks, apostrophes and hyphens alone are equal, in each body format and both interfaces', async () => {
  const me = await createProvider();
  const id = await me.course({ title: spellings[0] });
  for (const title of spellings)
    for (const url of ['/v2/courses', '/courses'])
      for (const dialect of ['json', 'form', 'multipart'] as const) {
        const { status, text } = await me.post(url, encodeBody(dialect, { title }), contentTypeHeader(dialect));
        expect([status, isRefused(text)], text).toEqual([400, true]);
      }
  const other = await me.course();
  expect(isRefused((await me.put(`/v2/courses/${other}`, { title: spellings[1] })).text)).toBe(true);
  // Its own title may be spelled anew.
  for (const title of spellings) {
    expect((await me.put(`/v2/courses/${id}`, { title })).status).toBe(200);
    expect((await me.get(`/v2/courses/${id}`)).json<{ title: string }>().title).toBe(title);
  }
});

test('courses with equal titles, one of them made during an import, can be changed, and the activation of one is refused', async () => {
  const me = await createProvider();
  const ids = [await me.course({ title: 'A - B' }), await me.course({ title: 'other' })];
  await write(me, (tx) =>
    tx.execute(`update courses set title = 'A – B' where provider_id = ${me.id} and id = ${ids[1]}`),
  );
  for (const id of ids) expect((await me.put(`/v2/courses/${id}`, { price_value: 7 })).status).toBe(200);
  expect((await me.put(`/v2/courses/${ids[1]}`, { active: 0 })).status).toBe(200);
  expect(isRefused((await me.put(`/v2/courses/${ids[1]}`, { active: 1 })).text)).toBe(true);
});

test('of concurrent courses of one title exactly one is created', async () => {
  const me = await createProvider();
  const created = await Promise.all([...spellings, ...spellings].map((title) => me.post('/v2/courses', { title })));
  expect(created.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
});

test('an import refuses a title that a line or a course has', async () => {
  const me = await createProvider();
  const course = (ref: string, title: string, fields = {}) => ({ kind: 'course', ref, title, ...fields });
  await me.course({ title: spellings[0] });
  const objects = [
    course('1', spellings[1]!),
    course('2', 'A  B'),
    course('3', 'a\u00a0b'),
    course('4', spellings[2]!, { active: false }),
  ];
  expect((await importObjects(me, objects)).reasons).toEqual([
    '1: Another course has this title already',
    '3: Line 2 has the same title',
  ]);
});

type Titled = { id: number; title: string };
const tagsOf = async (me: Provider) => (await me.get('/v2/course-tags')).json<Titled[]>();

test('tags and labels are found by any spelling of their titles', async () => {
  const me = await createProvider();
  const [first, ...others] = spellings.map((title) => ({ title }));
  const created = await me.post('/v2/course-tags', first);
  expect(created.status).toBe(201);
  for (const other of others) {
    const found = await me.post('/v2/course-tags', other);
    expect([found.status, found.text]).toEqual([200, created.text]);
  }
  const titles = [...others, { title: 'New–one' }, { title: 'New-one' }, { title: 'new‐ONE' }];
  const id = await me.course({ tags: titles, labels: titles });
  expect((await tagsOf(me)).map(({ title }) => title)).toEqual([spellings[0], 'New–one']);
  const { tags, labels } = (await me.get(`/v2/courses/${id}?include=labels`)).json<{
    tags: Titled[];
    labels: Titled[];
  }>();
  expect([tags.length, labels.length]).toEqual([2, 2]);
  await importObjects(me, [{ kind: 'tag', ref: 't', title: spellings[2] }]);
  expect(await tagsOf(me)).toHaveLength(2);
});

test('a place is found by any spelling', async () => {
  const me = await createProvider();
  const url = `/v2/courses/${await me.course()}/coursedates`;
  const search = async (place_by_search: string) => {
    const created = await me.post(url, { start_at: '2031-06-10', end_at: '2031-06-10', place_by_search });
    const { coursedate_id: id } = created.json<{ coursedate_id: number }>();
    const { place } = (await me.get(`${url}/${id}?include=place`)).json<{ place: Titled }>();
    return place.title;
  };
  for (const text of ['Nord-Fron', 'nord–fron', 'Nord\u2011Fron, Innlandet', 'Nord‐Fron (innlandet)', 'Nord−Fr'])
    expect([text, await search(text)]).toEqual([text, 'Nord-Fron']);
});

test('an import takes a category or role of any spelling', async () => {
  const me = await createProvider();
  const name = `Årstid ${me.id}`;
  const category = (ref: string, title: string) => ({ kind: 'category', ref, title });
  const role = (ref: string, title: string) => ({ kind: 'role', ref, title });
  const objects = [
    category('1', `${name} – vår`),
    category('2', `${name} - vår`),
    category('3', `${name}\u00a0- sommer`),
    role('1', 'Kurs–leder'),
    role('2', 'kurs-leder'),
  ];
  await importObjects(me, objects, { allow: ['categories'] });
  const categories = await listCategories(database);
  expect(categories.map(({ title }) => title).filter((title) => title.startsWith(name))).toEqual([
    `${name} – vår`,
    `${name}\u00a0- sommer`,
  ]);
  const { rows } = await write(me, (tx) =>
    tx.execute<{ title: string }>(`select title from roles where provider_id = ${me.id} and id <> 1`),
  );
  expect(rows).toEqual([{ title: 'Kurs–leder' }]);
});
