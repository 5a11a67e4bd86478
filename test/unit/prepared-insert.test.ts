import { eq, sql } from 'drizzle-orm';
import { bigint, pgTable, timestamp } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { prepareInsert } from '../../src/database/prepared-insert.ts';
import { courses } from '../../src/database/tables/courses.ts';
import { allAreas } from '../../src/database/areas.ts';
import { recordStatements } from '../support/record-statements.ts';
import { sharedTestApp } from '../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

const insertCourse = prepareInsert(courses);
const required = { slug: 'first-aid', levelId: 1, formOfTeachingId: 1, teachingLanguageId: 'no' };

test('a row is inserted with the input, explicit nulls and defaults', async () => {
  const { id: providerId } = await createProvider();
  const created: number[] = [];
  const sent = await recordStatements(() =>
    database.write([providerId], allAreas, async (tx, now) => {
      const timestamps = { providerId, createdAt: now, updatedAt: now };
      created.push(await insertCourse(tx, { ...required, ...timestamps, title: 'Defaults' }));
      const input = { reference: null, isFullTime: false, priceValue: '12.5', customProperties: { color: null } };
      created.push(
        await insertCourse(tx, { ...required, ...timestamps, ...input, title: 'Given', priceCurrency: 'EUR' }),
      );
    }),
  );
  const [byDefault, input] = await Promise.all(
    created.map(async (id) => (await database.db.select().from(courses).where(eq(courses.id, id)))[0]!),
  );
  expect(byDefault).toMatchObject({
    title: 'Defaults',
    isActive: true,
    textLead: '',
    priceCurrency: 'NOK',
    type: 'public',
  });
  expect(byDefault).toMatchObject({ isFullTime: null, priceValue: null, customProperties: null, deletedAt: null });
  expect(input).toMatchObject({ reference: null, isFullTime: false, priceValue: '12.50', priceCurrency: 'EUR' });
  expect(input!.customProperties).toEqual({ color: null });
  // One statement for any set of columns.
  const inserts = sent.filter(({ text }) => text.startsWith('insert into "courses"'));
  expect(inserts).toHaveLength(2);
  expect(new Set(inserts.map(({ name, text }) => `${name} ${text}`)).size).toBe(1);
  expect(inserts[0]!.name).toBe('insert_courses');
});

test('a default that is an SQL expression is rejected', () => {
  const table = pgTable('entries', {
    providerId: bigint({ mode: 'number' }).notNull(),
    id: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    madeAt: timestamp({ mode: 'string' }).default(sql`now()`),
  });
  expect(() => prepareInsert(table)).toThrow('entries.madeAt has a default that is no value');
});
