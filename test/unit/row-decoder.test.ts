import { eq, sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, inject, onTestFinished, test } from 'vitest';
import { parseComposites, parseInSlices, rowsPerSlice } from '../../src/database/query-builder/composite-rows.ts';
import { prepareRows, type Select } from '../../src/database/query-builder/index.ts';
import type { Reader } from '../../src/database/reader.ts';
import { auditEntries } from '../../src/database/tables/audit.ts';
import { courseDates } from '../../src/database/tables/coursedates.ts';
import { courses } from '../../src/database/tables/courses.ts';
import { locations } from '../../src/database/tables/places.ts';
import { allAreas } from '../../src/database/areas.ts';
import { runs } from '../support/property-runs.ts';
import { openTestDatabase, sharedTestApp } from '../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

const bound = { maxRows: 10, maxBytes: 1_000_000 };

/** Executes a query by composite literals; `found` is undefined beyond the bounds. */
const readRows = (db: Reader, query: Select<unknown>, { maxRows, maxBytes } = bound) =>
  prepareRows(query, { maxRows })(db, {}, maxBytes);

const camel = (name: string) => `text${name[0]!.toUpperCase()}${name.slice(1)}`;

test('rows decoded from composite literals equal rows decoded by cell', async () => {
  const me = await createProvider();
  const title = 'Fjell "og" \\ fjord\n\t\u0001\u001f\u2028 – 🏔 \' $1 []{}';
  const texts = ['lead', 'description', 'place', 'prerequisites', 'duration', 'credits', 'submissions', 'audience'];
  const long = Object.fromEntries(
    texts.map((name, n) => [`text_${name}`, `${name} (a, "b") \\ é\n`.repeat(1 + 400 * n)]),
  );
  const course = await me.course({ title: 'Fjell', price_value: 1234, ...long });
  const ctx = await me.ctx();
  await ctx.write(allAreas, ({ tx }) => tx.update(courses).set({ title }).where(eq(courses.id, course)));
  await me.course();
  const date = { start_at: '2030-05-01', end_at: '2030-05-01', custom_properties: { room: 'c, \\d' } };
  expect(await me.post(`/v2/courses/${course}/coursedates`, date)).toMatchObject({ status: 201 });
  const location = { title: 'Hall (2)', lat: -59.913869, lng: 10.75 };
  expect(await me.post('/v2/locations', location)).toMatchObject({ status: 201 });
  const other = openTestDatabase(inject('shared'));
  onTestFinished(() => other.close());
  const { db } = other;

  const rows = [
    db.select().from(courses).where(eq(courses.providerId, me.id)).orderBy(courses.id),
    db.select().from(courseDates).where(eq(courseDates.providerId, me.id)),
    db.select().from(locations).where(eq(locations.providerId, me.id)),
    db.select().from(auditEntries).where(eq(auditEntries.providerId, me.id)).orderBy(auditEntries.id),
    db.select({ reference: courses.reference }).from(courses).where(eq(courses.providerId, me.id)),
    db.select({ lead: courses.textLead }).from(courses).where(eq(courses.providerId, me.id)).orderBy(courses.id),
    db
      .select({ id: courses.id, date: { id: courseDates.id, title: courseDates.title }, lead: courses.textLead })
      .from(courses)
      .leftJoin(courseDates, eq(courseDates.courseId, courses.id))
      .where(eq(courses.providerId, me.id))
      .orderBy(courses.id),
  ];
  const found: unknown[][] = [];
  for (const [n, query] of rows.entries()) {
    const [composites, cells] = [await readRows(db, query), (await query) as unknown[]];
    expect(composites?.rows, String(n)).toEqual(cells);
    found.push(cells);
  }
  expect(found.map(({ length }) => length)).toEqual([2, 1, 1, 4, 2, 2, 2]);
  expect(found[0]![0]).toMatchObject({
    title,
    providerId: me.id,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:/),
  });
  const distinct = new Set(texts.map((name) => (found[0]![0] as Record<string, string>)[camel(name)]));
  expect(distinct.size).toBe(texts.length);
  expect(found[6]).toMatchObject([
    { id: course, date: { id: expect.any(Number) } },
    { date: null, lead: '' },
  ]);

  const none = db.select().from(courseDates).where(eq(courseDates.id, -1));
  expect(await readRows(db, none)).toEqual({ rows: [], bytes: 0 });
});

test('rows beyond the bounds of a statement are not sent', async () => {
  const me = await createProvider();
  for (const title of ['First', 'Second']) await me.course({ title, text_lead: 'x'.repeat(1_000) });
  const isOwn = eq(courses.providerId, me.id);
  const queries = [
    database.db.select({ id: courses.id }).from(courses).where(isOwn),
    database.db.select({ id: courses.id, lead: courses.textLead }).from(courses).where(isOwn),
  ];
  for (const query of queries as Select<unknown>[]) {
    const { rows, bytes } = (await readRows(database.db, query))!;
    expect(rows).toHaveLength(2);
    expect(await readRows(database.db, query, { maxRows: 2, maxBytes: bytes })).toEqual({ rows, bytes });
    expect(await readRows(database.db, query, { maxRows: 1, maxBytes: bytes })).toBeUndefined();
    expect(await readRows(database.db, query, { maxRows: 2, maxBytes: bytes - 1 })).toBeUndefined();
  }
});

test('text that is not a composite literal of these types is rejected', () => {
  const read = (text: string) => () => parseComposites(text, ['number', 'text'], (cells) => cells);
  expect(read('(1,a)(-2,)')()).toEqual([
    [1, 'a'],
    [-2, null],
  ]);
  for (const text of ['(1.5,a)', '(NaN,a)', '(1,a', '(1', '(1,"a', '(1,"a""', '(', '(1)', 'x']) {
    expect(read(text), text).toThrow(/cell [012] is no (number|text)/);
  }
});

test('expressions decode the same by cell, except types that JSON represents differently', async () => {
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
      price: sql`12.50::numeric`,
    })
    .from(courses)
    .where(eq(courses.id, await (await createProvider()).course()));
  const [composites, cells] = [await readRows(database.db, query), await query];
  expect(composites?.rows).toEqual(cells.map((row) => ({ ...row, price: 12.5 })));
  expect(cells).toMatchObject([
    { price: '12.50', isTrue: true, isFalse: false, none: null, whole: -7, half: -0.5, counted: 12 },
  ]);
});

test('any composite literals are parsed back to the same values', async () => {
  // PostgreSQL cannot store this character.
  const text = fc.string({ unit: 'grapheme', maxLength: 8 }).map((value) => value.replaceAll('\0', ''));
  const awkward = fc.stringMatching(/^[,()"\\ \n\ta]{0,6}$/);
  const record = fc.tuple(
    fc.option(fc.oneof(text, awkward)),
    fc.option(fc.maxSafeInteger()),
    fc.option(fc.boolean()),
    fc.option(fc.oneof(text, awkward)),
  );
  const query = `select coalesce(string_agg(row(a, b, c, to_json(d))::text, '' order by n), '') as records
    from unnest($1::text[], $2::bigint[], $3::boolean[], $4::text[]) with ordinality as t(a, b, c, d, n)`;
  await fc.assert(
    fc.asyncProperty(fc.array(record), async (rows) => {
      const columns = [0, 1, 2, 3].map((n) => rows.map((row) => row[n] ?? null));
      const found = await database.pool.query<{ records: string }>(query, columns);
      const cells = parseComposites(found.rows[0]!.records, ['text', 'number', 'boolean', 'json'], (row) => row);
      expect(cells).toEqual(rows);
    }),
    { numRuns: runs(0.5) },
  );
});

test('records parsed in slices equal records parsed at once', async () => {
  const text = Array.from({ length: 2 * rowsPerSlice + 1 }, (_, n) => `(${n},"a ""b"" ${n}")`).join('');
  const kinds = ['number', 'text'] as const;
  const slices = await parseInSlices(text, [...kinds], (row) => row);
  expect(slices).toHaveLength(2 * rowsPerSlice + 1);
  expect(slices).toEqual(parseComposites(text, [...kinds], (row) => row));
  expect(await parseInSlices('', [...kinds], (row) => row)).toEqual([]);
});
