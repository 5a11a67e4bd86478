import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { logSlowStatements } from '../../../src/database/store.ts';
import { openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

type Line = {
  msg: string;
  reqId?: string;
  provider?: number;
  statement: string;
  err?: { message: string; stack?: string };
};

/** The application with the log of slow statements, and the lines of its log. */
async function openObserved() {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const database = openTestDatabase(await ownDatabase());
  logSlowStatements(database, log);
  const testApp = await openTestApp(database, { logger: log });
  onTestFinished(testApp.close);
  const linesWith = (text: string) =>
    lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg.includes(text));
  /** Runs PL/pgSQL before each new course. */
  const beforeInsert = (statement: string) =>
    database.pool.query(`create or replace function before_insert() returns trigger language plpgsql as
      $$ begin ${statement}; return new; end $$;
      create or replace trigger before_insert before insert on courses execute function before_insert()`);
  return { ...testApp, linesWith, beforeInsert };
}

test('the log line of a slow statement names the provider and the request, in both interfaces', async () => {
  const { createProvider, linesWith, beforeInsert } = await openObserved();
  const [one, other] = [await createProvider(), await createProvider()];
  // The limit of a slow statement is half a second.
  await beforeInsert('perform pg_sleep(0.6)');
  const create = [
    one.post('/v2/courses', { title: 'A' }, { 'x-request-id': 'of-one' }),
    other.post('/courses', { title: 'A' }, { 'x-request-id': 'of-other' }),
  ];
  expect((await Promise.all(create)).map(({ status }) => status)).toEqual([201, 200]);
  const slow = linesWith('a statement took more than half a second');
  const find = (id: string) => slow.find(({ reqId }) => reqId === id);
  expect(find('of-one')).toMatchObject({ level: 40, provider: one.id, ms: expect.any(Number) });
  // A verb and a table, or a name of its own; not a hash alone.
  expect(slow.filter(({ statement }) => /^[a-z]_/.test(statement))).toEqual([]);
  expect(find('of-other')).toMatchObject({ level: 40, provider: other.id, ms: expect.any(Number) });
});

const failures = [
  ['division_by_zero', 'was rejected by the database'],
  ['read_only_sql_transaction', 'is unavailable'],
  ['feature_not_supported', 'failed'],
] as const;
test.each(failures)('the log line of a request that ends with %s names the provider and the request', async (...of) => {
  const [code, message] = of;
  const { createProvider, linesWith, beforeInsert } = await openObserved();
  const [one, other] = [await createProvider(), await createProvider()];
  await beforeInsert(`raise exception 'no' using errcode = '${code}'`);
  await one.post('/v2/courses', { title: 'A' }, { 'x-request-id': 'of-one' });
  await other.post('/courses', { title: 'A' }, { 'x-request-id': 'of-other' });
  expect(linesWith(message)).toMatchObject([
    { reqId: 'of-one', provider: one.id, msg: `POST /v2/courses ${message}` },
    { reqId: 'of-other', provider: other.id, msg: `POST /courses ${message}` },
  ]);
  // Every request fails while the database is lost, for one reason.
  const hasStack = ({ err }: Line) => typeof err!.stack === 'string' && err!.stack !== '';
  expect(linesWith(message).map(hasStack)).toEqual(Array(2).fill(message !== 'is unavailable'));
  for (const { err } of linesWith(message)) expect(err!.message).toBe('no');
});
