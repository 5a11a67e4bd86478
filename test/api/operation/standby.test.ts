import { expect, inject, onTestFinished, test } from 'vitest';
import { standbyCheck } from '../../../src/plugins/operations/standby.ts';
import type { Config } from '../../../src/core/config.ts';
import { startJobs } from '../../../src/database/periodic.ts';
import { standbyJobs } from '../../../src/database/standby/check.ts';
import { freePort } from '../../support/ports.ts';
import { asAdmin, connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';
import { createMeasured } from '../../support/metrics.ts';

/** A database whose sessions of this role take it for a standby with these values. */
async function openReplica(name: string, { seconds = 'null', bytes = 0, isPaused = false, isReceiving = true }) {
  const role = `standby_reader_${process.pid}`;
  const database = openTestDatabase(name);
  await asAdmin(`create role ${role} login superuser password 'pw'`);
  await asAdmin(`alter role ${role} in database ${name} set search_path = fake, public, pg_catalog`);
  onTestFinished(async () => {
    await database.close();
    await asAdmin(`drop database ${name} with (force)`);
    await asAdmin(`drop role ${role}`);
  });
  const functions = {
    'pg_is_in_recovery() returns bool': 'true',
    // Other databases of the server write at the same time.
    'pg_wal_lsn_diff(pg_lsn, pg_lsn) returns numeric': `case when $1 is not null then ${bytes} end`,
    'pg_last_xact_replay_timestamp() returns timestamptz': `clock_timestamp() - make_interval(secs => ${seconds})`,
    'pg_is_wal_replay_paused() returns bool': String(isPaused),
  };
  await database.pool.query('create schema fake');
  for (const [signature, value] of Object.entries(functions))
    await database.pool.query(`create function fake.${signature} language sql as $$ select ${value} $$`);
  await database.pool.query(`create view fake.pg_stat_wal_receiver as select 1 where ${isReceiving}`);
  return { ...connectionTo(name), user: role, password: 'pw' };
}

async function openWith(name: string, standby: object) {
  const database = openTestDatabase(name, { readConnection: standby });
  const { metrics, parts } = await createMeasured({ database });
  const testApp = await openTestApp(database, { parts });
  onTestFinished(testApp.close);
  const lines: object[] = [];
  const log = (level: string) => (object: unknown, msg?: string) =>
    void lines.push(typeof object === 'string' ? { level, msg: object } : { level, ...(object as object), msg });
  const logged = { warn: log('warn'), info: log('info') } as never;
  return {
    ...testApp,
    lines,
    startCheck: () => startJobs(standbyJobs(database.standby, logged), logged),
    examine: () => standbyCheck.run({ pool: database.pool, config: {} as Config, database }),
    read: async (series: string) =>
      new RegExp(`^${series.replace(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(await metrics.render())?.[1],
  };
}

const listCourses = async ({ createProvider }: Awaited<ReturnType<typeof openWith>>, lists: number) => {
  const me = await createProvider();
  await me.course();
  for (let n = 0; n < lists; n += 1) expect((await me.get(`/v2/courses?since_id=${n}`)).status).toBe(200);
};

const prefix = 'Lists are read from the primary, since the standby is not used:';

test('log, metrics and doctor report an unreachable standby, and lists come from the primary', async () => {
  const opened = await openWith(inject('shared'), { host: '127.0.0.1', port: await freePort(), user: 'x' });
  await listCourses(opened, 2);
  expect(await opened.read('booking_lists_total{source="primary"}')).toBe('2');
  expect(await opened.read('booking_lists_total{source="standby"}')).toBe('0');
  expect(await opened.read('booking_standby_up')).toBe('0');
  expect(await opened.read('booking_standby_lag_seconds')).toBeUndefined();
  const hint = 'check that it runs, and the host and port of DATABASE_READ_URL';
  const text = `${prefix} it cannot be reached (ECONNREFUSED)`;
  expect(await opened.examine()).toEqual([{ level: 'warning', message: `${text}; ${hint}` }]);
  onTestFinished(opened.startCheck());
  await expect.poll(() => opened.lines).toEqual([{ level: 'warn', hint, msg: text }]);
});

test('doctor warns of a database that is not a standby', async () => {
  const name = inject('shared');
  const opened = await openWith(name, connectionTo(name));
  expect(await opened.read('booking_standby_up')).toBe('0');
  const [finding] = await opened.examine();
  expect(finding).toMatchObject({ level: 'warning', message: expect.stringContaining('it accepts writes') as string });
});

test('lists of a standby are counted by source, and doctor finds a standby that is used', async () => {
  const name = await ownDatabase(() => undefined);
  const opened = await openWith(name, await openReplica(name, {}));
  await listCourses(opened, 3);
  expect(await opened.read('booking_lists_total{source="standby"}')).toBe('3');
  expect(await opened.read('booking_standby_up')).toBe('1');
  await expect.poll(() => opened.read('booking_standby_lag_seconds')).toBe('0');
  await expect.poll(() => opened.read('booking_standby_lag_bytes')).toBe('0');
  expect(await opened.examine()).toEqual([{ level: 'ok', message: 'The standby is 0.0 seconds behind' }]);
});

test.each([
  [{ isPaused: true }, 'its replay is paused'],
  [{ isReceiving: false }, 'it receives nothing from the primary'],
  [{}, 'it replays slower than the primary writes'],
])('doctor reports the lag of a standby with its cause: %o', async (state, cause) => {
  const name = await ownDatabase(() => undefined);
  const behind = { ...state, seconds: '75', bytes: 2 ** 21 };
  const text = `${prefix} it is 75 seconds behind (2.0 MB); ${cause}`;
  const opened = await openWith(name, await openReplica(name, behind));
  // A primary that does not tell its position within 250 ms leaves the lag unknown.
  const expected = { level: 'warning', message: expect.stringContaining(text) as string };
  await expect.poll(opened.examine).toMatchObject([expected]);
  expect(await opened.read('booking_standby_up')).toBe('1');
  await expect.poll(async () => Number(await opened.read('booking_standby_lag_seconds'))).toBeCloseTo(75, 0);
  await expect.poll(() => opened.read('booking_standby_lag_bytes')).toBe(String(behind.bytes));
});

test('a list that fails on the standby counts as read from the primary, and the log has the reason', async () => {
  const name = await ownDatabase(() => undefined);
  const opened = await openWith(name, await openReplica(name, {}));
  await opened.database.pool.query(`create function fake.cancel() returns bool language plpgsql as
    $$ begin raise exception 'canceling statement due to conflict with recovery' using errcode = '40001'; end $$`);
  await opened.database.pool.query('create view fake.courses as select * from public.courses where fake.cancel()');
  await listCourses(opened, 1);
  expect(await opened.read('booking_lists_total{source="primary"}')).toBe('1');
  const [finding] = await opened.examine();
  expect(finding!.message).toContain('it cancels lists in favor of replay; set hot_standby_feedback = on');
});
