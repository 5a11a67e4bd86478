import { expect, inject, onTestFinished, test } from 'vitest';
import { openTestDatabase, openWorld } from './support/world.ts';

async function oneConnection() {
  const told: string[] = [];
  const database = openTestDatabase(inject('shared'), { poolSize: 1, onUnprepared: () => void told.push('unnamed') });
  const world = await openWorld(database);
  onTestFinished(world.close);
  const me = await world.newProvider();
  const requests = async (n: number) => {
    const made = await me.post('/v2/locations', { title: `Tag ${n} ${Math.random()}` });
    return [made.status, (await me.get('/v2/course-tags')).status, (await me.get('/v2/courses')).status];
  };
  for (let n = 0; n < 3; n += 1) await requests(n);
  const names = async () =>
    (await database.pool.query<{ name: string }>('select name from pg_prepared_statements')).rows.map(
      ({ name }) => name,
    );
  return { database, told, requests, names };
}

test('requests succeed after the session lost its prepared statements', async () => {
  const { database, told, requests, names } = await oneConnection();
  const before = await requests(0);
  expect(before.every((status) => status < 300)).toBe(true);
  expect((await names()).length).toBeGreaterThan(2);
  await database.pool.query('deallocate all');
  expect(await requests(1)).toEqual(before);
  expect(told).toEqual([]);
});

test('requests succeed on sessions with prepared statements of another connection, after three of them unnamed', async () => {
  const { database, told, requests, names } = await oneConnection();
  const before = await requests(0);
  const known = await names();
  for (let n = 1; n <= 4; n += 1) {
    await database.pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    for (const name of known) await database.pool.query(`prepare "${name}" as select 1`);
    expect(await requests(n)).toEqual(before);
  }
  expect(told).toEqual(['unnamed']);
  await database.pool.query('deallocate all');
  expect(await requests(5)).toEqual(before);
  expect(await names()).toEqual([]);
});
