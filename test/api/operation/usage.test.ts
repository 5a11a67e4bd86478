import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../../src/database/client.ts';
import { createUsageRecorder } from '../../../src/plugins/operations/usage/recorder.ts';
import { listUsage } from '../../../src/plugins/operations/usage/commands.ts';
import { bookOrFail, createBookableDate } from '../../support/booking.ts';
import { openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const start = Date.parse('2027-05-03T10:59:30Z');
const since = '2027-05-03T00:00:00Z';

async function openCounted() {
  const clock = { now: start };
  const usage = createUsageRecorder(() => clock.now);
  const database = openTestDatabase(await ownDatabase());
  const testApp = await openTestApp(database, { parts: [{ observe: usage.observe }] });
  onTestFinished(testApp.close);
  const list = async () => new Map((await listUsage(database, since, null)).map((row) => [row.provider_id, row]));
  return { clock, usage, database, list, createProvider: testApp.createProvider, app: testApp.app };
}

test('requests are counted by provider and hour, with the busiest minute, and stored once', async () => {
  const { clock, usage, database, list, createProvider, app } = await openCounted();
  const [one, other] = [await createProvider(), await createProvider()];
  await one.get('/v2/courses');
  await one.get('/v2/courses?limit=x');
  await other.get('/schools');
  await app.inject({ url: '/v2/courses' });
  clock.now += 60_000;
  for (let n = 0; n < 3; n += 1) await one.get('/v2/durations');
  await usage.store(database);
  await usage.store(database);
  const usages = await list();
  expect(usages.get(one.id)).toMatchObject({ requests: 5, peak_per_minute: 3, failed: 0, refused: 0 });
  expect(usages.get(other.id)).toMatchObject({ requests: 1, peak_per_minute: 1 });
  const { rows } = await database.pool.query(
    `select requests, extract(hour from hour at time zone 'UTC')::int as hour from provider_usage
      where provider_id = $1 order by 2`,
    [one.id],
  );
  expect(rows).toEqual([
    { requests: 2, hour: 10 },
    { requests: 3, hour: 11 },
  ]);
  const shares = [...usages.values()].map(({ time_percent }) => time_percent);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, 0);

  // A second process adds to the same hour.
  await one.get('/v2/durations');
  await usage.store(database);
  expect((await list()).get(one.id)).toMatchObject({ requests: 6, peak_per_minute: 3 });
});

test('what could not be stored is stored the next time', async () => {
  const { usage, database, list, createProvider } = await openCounted();
  const me = await createProvider();
  await me.get('/v2/courses');
  const broken = { pool: { query: () => Promise.reject(new Error('no connection')) } };
  await expect(usage.store(broken as never)).rejects.toThrow('no connection');
  await me.get('/v2/courses');
  await usage.store(database);
  expect((await list()).get(me.id)).toMatchObject({ requests: 2 });
});

test('the rows of a provider are its own, and a failed or refused request is told apart', async () => {
  const { usage, database, list, createProvider } = await openCounted();
  const [one, other] = [await createProvider(), await createProvider()];
  const before = await list();
  for (const title of ['A', 'B', 'C']) await one.post('/v2/courses', { title });
  usage.count(one.id, 503, 1);
  usage.count(one.id, 429, 1);
  await usage.store(database);
  const after = await list();
  expect(after.get(one.id)).toMatchObject({ requests: 5, failed: 1, refused: 1, bookings: 0 });
  expect(after.get(one.id)!.rows).toBeGreaterThanOrEqual(before.get(one.id)!.rows + 3);
  expect(after.get(other.id)!.rows).toBe(before.get(other.id)!.rows);
});

test('bookings and storage are those of each provider, and earlier hours do not count', async () => {
  const { clock, usage, database, createProvider } = await openCounted();
  const [one, other] = [await createProvider(), await createProvider()];
  const [{ dateId }, ofOther] = [await createBookableDate(one), await createBookableDate(other)];
  await bookOrFail(other, ofOther.dateId);
  for (let n = 0; n < 6; n += 1) await bookOrFail(one, dateId);
  clock.now += 2 * 3_600_000;
  await one.get('/v2/courses');
  await usage.store(database);
  const find = async (since: string) => (await listUsage(database, since, one.id))[0]!;
  const all = await find('2026-01-01T00:00:00Z');
  expect(all).toMatchObject({ bookings: 6 });
  expect(await find('2027-05-03T12:00:00Z')).toMatchObject({ requests: 1 });
  expect((await find('2099-01-01T00:00:00Z')).bookings).toBe(0);
  expect(all.requests).toBeGreaterThan(7);
  expect(all.storage_mb).toBeGreaterThan(0);
  const [less] = await listUsage(database, '2026-01-01T00:00:00Z', other.id);
  expect(less).toMatchObject({ bookings: 1 });
  // Both have rows in the same tables, and each its share of them.
  expect(less!.storage_mb).toBeLessThan(all.storage_mb);
});

/** In an empty database they have the ids from 1 on. */
const addProviders = (database: Database, count: number) =>
  database.pool.query(
    `with added as (
       insert into providers (title, slug, created_at, updated_at)
       select 'One', 'one', now(), now() from generate_series(1, $1) returning id)
     insert into provider_state (provider_id, changed_at) select id, now() from added`,
    [count],
  );

test('beyond 10,000 providers in an hour, the others share one row', async () => {
  const { usage, database } = await openCounted();
  await addProviders(database, 10_005);
  for (let id = 1; id <= 10_005; id += 1) usage.count(id, 200, 1);
  await usage.store(database);
  const { rows } = await database.pool.query(
    'select count(*)::int as count, sum(requests)::int as requests, sum(requests) filter (where provider_id = 0)::int as others from provider_usage',
  );
  expect(rows).toEqual([{ count: 10_001, requests: 10_005, others: 5 }]);
});

test('without its database a process keeps the counts of the last 24 hours', async () => {
  const { clock, usage, database } = await openCounted();
  await addProviders(database, 1);
  const failing = { pool: { query: () => Promise.reject(new Error('down')) } } as unknown as typeof database;
  for (let hour = 0; hour < 30; hour += 1) {
    usage.count(1, 200, 1);
    clock.now += 3_600_000;
    await expect(usage.store(failing)).rejects.toThrow('down');
  }
  await usage.store(database);
  const { rows } = await database.pool.query(
    'select count(*)::int as hours, sum(requests)::int as requests from provider_usage',
  );
  expect(rows).toEqual([{ hours: 24, requests: 24 }]);
});
