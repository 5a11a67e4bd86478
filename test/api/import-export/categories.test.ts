import { expect, test } from 'vitest';
import { exportToLines, importObjects } from '../../support/all-responses.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

type Category = { id: number; title: string };

const category = (ref: string, title: string, fields: Record<string, unknown> = {}) => ({
  kind: 'category',
  ref,
  title,
  ...fields,
});
const course = (ref: string) => ({ kind: 'course', ref, title: `Course ${ref}`, categories: [ref] });

const createProvider = async () => (await sharedTestApp()).createProvider();

async function categoriesOf(me: Provider) {
  const courses = (await me.get('/v2/courses')).json<{ title: string; categories: Category[] }[]>();
  return Object.fromEntries(courses.map(({ title, categories }) => [title.slice(7), categories[0]!]));
}

async function slugsOf({ database }: Awaited<ReturnType<typeof sharedTestApp>>, categories: Category[]) {
  const { rows } = await database.pool.query<{ id: number; slug: string }>(
    'select id::int, slug from categories where id = any($1)',
    [categories.map(({ id }) => id)],
  );
  const slugs = new Map(rows.map(({ id, slug }) => [id, slug]));
  return categories.map(({ id }) => slugs.get(id));
}

test('categories whose titles have the same slug stay apart', async () => {
  const me = await createProvider();
  const [sharp, plain, plus] = [`C# ${me.id}`, `C ${me.id}`, `C++ ${me.id}`];
  const objects = [category('a', sharp), category('b', plain), category('c', plus), ...['a', 'b', 'c'].map(course)];
  expect(await importObjects(me, objects)).toMatchObject({ written: 6, reasons: [] });
  const { a, b, c } = await categoriesOf(me);
  expect([a!.title, b!.title, c!.title]).toEqual([sharp, plain, plus]);
  expect(await slugsOf(await sharedTestApp(), [a!, b!, c!])).toEqual(
    ['', '-2', '-3'].map((number) => `c-${me.id}${number}`),
  );
});

test('titles without a Latin letter stay apart', async () => {
  const me = await createProvider();
  const objects = [
    category('zh', `中文${'日'.repeat(3)}`),
    category('ja', `日本語 ${'本'.repeat(3)}`),
    course('zh'),
    course('ja'),
  ];
  expect(await importObjects(me, objects)).toMatchObject({ written: 4, reasons: [] });
  const { zh, ja } = await categoriesOf(me);
  expect([zh!.title, ja!.title]).toEqual([objects[0]!, objects[1]!].map((one) => 'title' in one && one.title));
});

test('equal titles under different parents are different categories', async () => {
  const me = await createProvider();
  const objects = [
    category('A', `A ${me.id}`),
    category('B', `B ${me.id}`),
    category('in A', `Annet ${me.id}`, { parent_id: 'A' }),
    category('in B', `Annet ${me.id}`, { parent_id: 'B' }),
    category('alone', `Annet ${me.id}`),
    ...['in A', 'in B', 'alone'].map(course),
  ];
  expect(await importObjects(me, objects)).toMatchObject({ written: 8, reasons: [] });
  const found = Object.values(await categoriesOf(me));
  expect(new Set(found.map(({ id }) => id)).size).toBe(3);
});

test('a category with the same title and parent is found by every school, whatever its slug', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [parent, title] = [category('p', `Languages ${me.id}`), `Norwegian ${me.id}`];
  await importObjects(me, [parent, category('c', title, { parent_id: 'p', slug: `norsk-${me.id}` }), course('c')]);
  const again = category('c', title.toUpperCase(), { parent_id: 'p', slug: `another-${me.id}` });
  expect(await importObjects(other, [parent, again, course('c')])).toMatchObject({ written: 3, reasons: [] });
  expect(await categoriesOf(other)).toEqual(await categoriesOf(me));

  const exported = await exportToLines(await sharedTestApp(), me);
  expect(exported.filter(({ kind }) => kind === 'category')).toMatchObject([
    { title: `Languages ${me.id}` },
    { title, slug: `norsk-${me.id}` },
  ]);
});

test('of two categories with the same title and parent the one with the slug is found', async () => {
  const [me, { database }] = [await createProvider(), await sharedTestApp()];
  const title = `Twin ${me.id}`;
  const { rows } = await database.pool.query<{ id: number }>(
    `insert into categories (title, slug, created_at, updated_at)
     select $1, 'twin-' || $2 || '-' || n, now(), now() from generate_series(1, 2) n returning id::int`,
    [title, me.id],
  );
  const objects = [category('second', title, { slug: `twin-${me.id}-2` }), category('any', title)];
  await importObjects(me, [...objects, course('second'), course('any')]);
  const { second, any } = await categoriesOf(me);
  expect([second!.id, any!.id]).toEqual([rows[1]!.id, rows[0]!.id]);
});

test('two schools that import the same category at once add it once', async () => {
  const schools = [await createProvider(), await createProvider(), await createProvider()];
  const title = `At once ${schools[0]!.id}`;
  await Promise.all(schools.map((me) => importObjects(me, [category('c', title), course('c')])));
  const ids = await Promise.all(schools.map(async (me) => (await categoriesOf(me))['c']!.id));
  expect(new Set(ids).size).toBe(1);
});
