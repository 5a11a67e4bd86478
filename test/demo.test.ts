import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { loadDemo } from '../src/demo/load.ts';
import { listPartners } from '../src/resources/partners/service.ts';
import { listProviders } from '../src/resources/providers/service.ts';
import { asAdmin, openTestDatabase, openWorld, ownDatabase, send, settings, type World } from './support/world.ts';

const name = `booking_demo_${process.pid}`;
const key = 'demo-key-of-this-test-0123456789';
let world: World;
let loaded: string | null;
let courses: Course[];

type Course = {
  id: number;
  title: string;
  type: string;
  teaching_language: { id: string };
  descriptions: { lead: string; description: string };
  description_languages: string[];
  price: { value: number; currency: string };
  categories: { id: number; titleParent: string }[];
  tags: { id: number }[];
  provider?: { id: number; title: string };
};

beforeAll(async () => {
  await asAdmin(`create database ${name} template ${inject('template')} strategy file_copy`);
  world = await openWorld(openTestDatabase(name));
  loaded = await loadDemo(world.database, settings, () => key);
  courses = await get('/v2/courses?limit=250');
});
afterAll(async () => {
  await world.close();
  await asAdmin(`drop database if exists ${name} with (force)`);
});

const get = async <T = Course[]>(url: string) =>
  (await send(world.app, { url, headers: { 'x-api-key': key } })).json<T>();

test('the key that was asked for opens the demo school and its 40 courses', async () => {
  expect(loaded).toBe(key);
  expect(await get<object>('/v2/schools')).toMatchObject({ school: { title: 'Fjordkurs Bergen' } });
  expect(courses.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  expect(new Set(courses.map(({ title }) => title.toLowerCase())).size).toBe(40);
});

test('there are two approved partners, one that asks, and a sub-school', async () => {
  const schools = await listProviders(world.database);
  const demo = schools[0]!.provider_id;
  expect(schools.map(({ parent_id }) => parent_id)).toEqual([null, null, null, null, demo]);
  const connections = await listPartners(world.database);
  expect(connections.map(({ provider_id }) => provider_id)).toEqual([demo, demo, demo]);
  expect(connections.map(({ status }) => status)).toEqual(['approved', 'approved', 'requested']);
});

test("partners' public courses show when they are included, and only those", async () => {
  const all = await get('/v2/courses?limit=250&include_partners=1');
  const theirs = all.filter(({ provider }) => provider?.title !== 'Fjordkurs Bergen');
  expect(all).toHaveLength(40 + theirs.length);
  expect([...new Set(theirs.map(({ provider }) => provider?.title))]).toEqual([
    'Hansa Matakademi',
    'Løvetann IT-akademi',
  ]);
  expect(new Set(theirs.map(({ type }) => type))).toEqual(new Set(['public']));
});

test('every course has texts, the long one as HTML', () => {
  for (const { title, descriptions } of courses) {
    expect(descriptions.description, title).toMatch(/^<p>[^]*<\/(p|ul)>$/);
    expect(descriptions.lead.length, title).toBeGreaterThan(50);
    expect(descriptions.lead, title).not.toContain('<');
  }
});

test('courses are taught in Norwegian, in English and in other languages', () => {
  const taught = (language: string) => courses.filter(({ teaching_language }) => teaching_language.id === language);
  expect(taught('no').length).toBeGreaterThanOrEqual(20);
  expect(taught('en').length).toBeGreaterThanOrEqual(5);
  expect(taught('no').length + taught('en').length).toBeLessThan(40);
});

test('description_language changes the texts of the courses that have it, and no others', async () => {
  expect(courses.filter(({ description_languages }) => description_languages.length > 0).length).toBeGreaterThanOrEqual(
    20,
  );
  const english = await get('/v2/courses?limit=250&description_language=en');
  const changed = english.filter(({ descriptions }, n) => descriptions.lead !== courses[n]!.descriptions.lead);
  const translated = courses.filter(({ description_languages }) => description_languages.includes('en'));
  expect(translated.length).toBeGreaterThanOrEqual(10);
  expect(changed.map(({ id }) => id)).toEqual(translated.map(({ id }) => id));
});

test('every course is in a category below another, and carries tags', async () => {
  const unsorted = courses.filter(({ categories }) => categories.length === 0);
  expect(unsorted).toEqual([]);
  expect(courses.flatMap(({ categories }) => categories).filter(({ titleParent }) => titleParent === '')).toEqual([]);
  expect(courses.filter(({ tags }) => tags.length === 0)).toEqual([]);
  expect((await get<unknown[]>('/v2/course-tags')).length).toBeGreaterThanOrEqual(10);
});

test('prices differ, some are free, and the main product has the same price', async () => {
  const priced = await get<(Course & { products: object[] })[]>('/v2/courses?limit=250&include[]=products');
  expect(new Set(priced.map(({ price }) => price.value)).size).toBeGreaterThan(20);
  expect(priced.filter(({ price }) => price.value === 0).length).toBeGreaterThan(0);
  expect(new Set(priced.map(({ price }) => price.currency))).toEqual(new Set(['NOK', 'EUR']));
  for (const { title, price, products } of priced) {
    expect(products, title).toMatchObject([{ price: price.value, currency: price.currency, is_main_product: true }]);
  }
});

/** How many rows each table that the demo data fills has. */
async function rowCounts({ pool }: World['database']) {
  const tables = ['providers', 'provider_state', 'api_keys', 'partner_connections', 'categories', 'customers'].concat([
    'courses',
    'products',
    'tags',
    'labels',
    'course_tags',
    'course_labels',
    'course_categories',
    'course_translations',
  ]);
  const counts = tables.map((table) => `select '${table}' as name, count(*)::int as count from ${table}`);
  const { rows } = await pool.query<{ name: string; count: number }>(counts.join(' union all '));
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

test('loading it again answers null, asks for no key and changes nothing', async () => {
  const [before, versions] = [await rowCounts(world.database), await clocks()];
  const again = await loadDemo(world.database, settings, () => {
    throw new Error('no key is needed');
  });
  expect(again).toBeNull();
  expect([await rowCounts(world.database), await clocks()]).toEqual([before, versions]);
  expect(Object.values(before).filter((count) => count === 0)).toEqual([]);
});

const clocks = async () =>
  (await world.database.pool.query('select * from provider_state order by 1')).rows as unknown[];

async function empty() {
  const database = openTestDatabase(await ownDatabase());
  onTestFinished(() => database.close());
  return database;
}

const nothing = (counts: Record<string, number>) => Object.values(counts).every((count) => count === 0);

test('when the key cannot be written down nothing is loaded', async () => {
  const database = await empty();
  const failing = loadDemo(database, settings, () => {
    throw new Error('the disk is full');
  });
  await expect(failing).rejects.toThrow('the disk is full');
  expect(nothing(await rowCounts(database))).toBe(true);
  expect(await loadDemo(database, settings, () => key)).toBe(key);
});

test('a failure near the end leaves nothing', async () => {
  const database = await empty();
  await database.pool.query(`create function fail() returns trigger language plpgsql as
    $$ begin if new.status = 'requested' then raise exception 'late'; end if; return new; end $$;
    create trigger late before insert on partner_connections for each row execute function fail()`);
  await expect(loadDemo(database, settings, () => key)).rejects.toMatchObject({ cause: { message: 'late' } });
  expect(nothing(await rowCounts(database))).toBe(true);
});

test('of several loads at once one loads', async () => {
  const database = await empty();
  const keys = await Promise.all(['a', 'b', 'c'].map((one) => loadDemo(database, settings, () => one.repeat(40))));
  expect(keys.filter((one) => one !== null)).toHaveLength(1);
  expect((await listProviders(database)).length).toBe(5);
});
