import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { assertInternals } from '../../src/database/query-builder/internals.ts';

const client = new Client();
const builder = drizzle({ client });
const expression = sql`1`;

test('the installed versions have all private members', () => {
  expect(() => assertInternals(builder, client, expression)).not.toThrow();
});

test.each<[member: string, builder: object, client: object, expression: object]>([
  ['drizzle-orm (session.prepareQuery)', {}, client, expression],
  ['drizzle-orm (SQL.decoder)', builder, client, {}],
  ['pg (connection.stream)', builder, {}, expression],
  ['pg (connection.stream)', builder, { connection: { stream: { destroy: () => undefined } } }, expression],
  ['pg (connection.stream)', builder, { connection: { stream: { cork: () => undefined } } }, expression],
])('a version without %s is rejected', (member, ...parts) => {
  expect(() => assertInternals(...parts)).toThrow(`this version of ${member} is unknown`);
});
