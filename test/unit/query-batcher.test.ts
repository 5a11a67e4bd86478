import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { waitForBlocked } from '../support/locks.ts';
import { connectionTo, openTestDatabase, openTestApp, ownDatabase } from '../support/test-app.ts';

const pid = 'select pg_backend_pid() as pid, ';

async function opened(options: Parameters<typeof openTestDatabase>[1] = {}) {
  const name = await ownDatabase();
  const database = openTestDatabase(name, options);
  onTestFinished(() => database.close());
  return { name, database };
}

test('queries of one turn share a connection and fail independently', async () => {
  const { database } = await opened();
  const request = (text: string) => database.pool.query<{ pid: number; n: number }>(text).then(({ rows }) => rows[0]!);
  const responses = await Promise.allSettled(['1 as n', '1 / 0 as n', '3 as n'].map((what) => request(pid + what)));
  expect(responses.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const pids = responses.flatMap((response) => (response.status === 'fulfilled' ? [response.value.pid] : []));
  expect(new Set(pids).size).toBe(1);
  // A connection is not reused after an error.
  expect((await request(`${pid}4 as n`)).pid).not.toBe(pids[0]);
});

test('all queries of a batch fail when there is no connection or it breaks', async () => {
  const { name, database } = await opened({ poolSize: 2, acquireMs: 2_000 });
  const other = new Client(connectionTo(name));
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('select pg_advisory_lock(1)');
  const three = () =>
    Promise.allSettled([1, 2, 3].map((n) => database.pool.query(`select pg_advisory_xact_lock_shared(1), ${n}`)));
  const first = three();
  await waitForBlocked(other, 1);
  const second = three();
  await waitForBlocked(other, 2);
  const without = await three();
  expect(without.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await other.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  for (const batch of [first, second])
    expect((await batch).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect((await database.pool.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
});

test('an invalid query rejects its caller and releases the connection', async () => {
  const { database } = await opened({ poolSize: 2, acquireMs: 10_000 });
  for (let n = 0; n < 4; n += 1) {
    const responses = await Promise.allSettled([
      database.pool.query(null as unknown as string),
      database.pool.query('select 1'),
    ]);
    expect(responses.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  }
});

test("requests do not wait for the key's last-use update", async () => {
  const { name, database } = await opened();
  const testApp = await openTestApp(database);
  const me = await testApp.createProvider();
  const lock = new Client(connectionTo(name));
  await lock.connect();
  onTestFinished(() => lock.end());
  await lock.query('begin');
  await lock.query('select from api_keys where provider_id = $1 for update', [me.id]);
  expect((await me.get('/v2/courses')).status).toBe(200);
  // The update is not over yet.
  await waitForBlocked(lock, 1);
  await lock.query('rollback');
  await expect.poll(async () => (await lock.query('select from api_key_uses')).rowCount).toBe(1);
});
