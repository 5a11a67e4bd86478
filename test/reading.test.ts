import { eq, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asRecords } from '../src/database/reading.ts';
import { readRecords, type Cell } from '../src/database/records.ts';
import { auditEntries } from '../src/database/tables/audit.ts';
import { courseDates } from '../src/database/tables/coursedates.ts';
import { courses } from '../src/database/tables/courses.ts';
import { locations } from '../src/database/tables/places.ts';
import { sharedWorld } from './support/world.ts';

const { database, newProvider } = await sharedWorld();

test('rows that come as records are the same as those that come by the cell', async () => {
  const me = await newProvider();
  const title = 'Fjell "og" \\ fjord\n\t\u0001\u001f\u2028 – 🏔 \' $1 []{}';
  const course = await me.course({ title, price_value: 1234 });
  await me.course();
  const date = { start_at: '2030-05-01', end_at: '2030-05-01', custom_properties: { room: 'c, \\d' } };
  expect(await me.post(`/v2/courses/${course}/coursedates`, date)).toMatchObject({ status: 201 });
  const location = { title: 'Hall (2)', lat: -59.913869, lng: 10.75 };
  expect(await me.post('/v2/locations', location)).toMatchObject({ status: 201 });
  const { db } = database;

  const rows = [
    db.select().from(courses).where(eq(courses.providerId, me.id)).orderBy(courses.id),
    db.select().from(courseDates).where(eq(courseDates.providerId, me.id)),
    db.select().from(locations).where(eq(locations.providerId, me.id)),
    db.select().from(auditEntries).where(eq(auditEntries.providerId, me.id)).orderBy(auditEntries.id),
  ];
  const found: unknown[][] = [];
  for (const [n, query] of rows.entries()) {
    const [records, cells] = [
      await query.prepare(`${asRecords}${n}`).execute(),
      await query.prepare(`by_${n}`).execute(),
    ];
    expect(records).toEqual(cells);
    found.push(cells);
  }
  expect(found.map(({ length }) => length)).toEqual([2, 1, 1, 4]);
  expect(found[0]![0]).toMatchObject({
    title,
    providerId: me.id,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:/),
  });

  const none = db.select().from(courseDates).where(eq(courseDates.id, -1));
  expect(await none.prepare(`${asRecords}none`).execute()).toEqual([]);
});

test('an expression that tells no type is what it is by the cell', async () => {
  const query = database.db
    .select({
      id: courses.id,
      ...{ isTrue: sql`1 = 1`, isFalse: sql`1 = 2`, none: sql`null::text`, whole: sql`-7`, half: sql`-0.5::float8` },
      ...{
        text: sql`'a, (b) "c" \\ d'`,
        empty: sql`''`,
        listed: sql`array[1, 2]`,
        object: sql`'{"a": [null]}'::jsonb`,
      },
      counted: sql<number>`'12'::int`.mapWith(Number),
    })
    .from(courses)
    .where(eq(courses.id, await (await newProvider()).course()));
  const [records, cells] = [await query.prepare(`${asRecords}typed`).execute(), await query.prepare('typed').execute()];
  expect(records).toEqual(cells);
  expect(cells).toMatchObject([{ isTrue: true, isFalse: false, none: null, whole: -7, half: -0.5, counted: 12 }]);
});

test('any cells of records are read back as they were', async () => {
  // PostgreSQL keeps no such character in a text.
  const text = fc.string({ unit: 'grapheme', maxLength: 8 }).map((value) => value.replaceAll('\0', ''));
  const awkward = fc.stringMatching(/^[,()"\\ \n\ta]{0,6}$/);
  const record = fc.tuple(
    fc.option(fc.oneof(text, awkward)),
    fc.option(fc.maxSafeInteger()),
    fc.option(fc.boolean()),
    fc.option(fc.oneof(text, awkward)),
  );
  const asked = `select coalesce(string_agg(row(a, b, c, to_json(d))::text, '' order by n), '') as records
    from unnest($1::text[], $2::bigint[], $3::boolean[], $4::text[]) with ordinality as t(a, b, c, d, n)`;
  await fc.assert(
    fc.asyncProperty(fc.array(record), async (rows) => {
      const columns = [0, 1, 2, 3].map((n) => rows.map((row) => row[n] ?? null));
      const found = await database.pool.query<{ records: string }>(asked, columns);
      const cells = readRecords<Cell[]>(found.rows[0]!.records, ['text', 'number', 'boolean', 'json'], (row) => row);
      expect(cells).toEqual(rows);
    }),
  );
});
