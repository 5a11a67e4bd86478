import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { classifyError } from '../../../src/database/errors.ts';
import { createKeyedQueue } from '../../../src/database/keyed-queue.ts';
import { providers } from '../../../src/database/tables/providers.ts';
import { tags } from '../../../src/database/tables/catalog.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { connectionTo, openTestDatabase, sharedTestApp } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

test('the test database rejects a write without the lock of that provider', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const ctx = await me.ctx();
  await expect(
    ctx.write(allAreas, (tx, now) =>
      tx.insert(tags).values({ providerId: other.id, title: 'theirs', createdAt: now, updatedAt: now }),
    ),
  ).rejects.toMatchObject({ cause: { code: 'XX001' } });
  await expect(
    ctx.write(allAreas, (tx) => tx.update(providers).set({ title: 'theirs' }).where(eq(providers.id, other.id))),
  ).rejects.toMatchObject({ cause: { code: 'XX001' } });
  await expect(
    database.pool.query(
      `insert into tags (provider_id, title, created_at, updated_at) values (${me.id}, 'x', now(), now())`,
    ),
  ).rejects.toMatchObject({ code: 'XX001' });
});

test('the provider clock never goes back and timestamps all writes of a transaction', async () => {
  const me = await createProvider();
  const ctx = await me.ctx();
  const timestamps = await Promise.all(Array.from({ length: 20 }, () => ctx.write(allAreas, async (_tx, now) => now)));
  expect(new Set(timestamps).size).toBe(20);
  const last = [...timestamps].sort().at(-1)!;
  expect((await me.ctx()).version).toBe(last);

  await database.pool.query("update provider_state set changed_at = '2999-01-01' where provider_id = $1", [me.id]);
  expect(await ctx.write(allAreas, async (_tx, now) => now)).toMatch(/^2999-01-01 00:00:00\.000001/);
});

test('locking several providers in a fixed order prevents deadlocks', async () => {
  const [a, b] = [await createProvider(), await createProvider()];
  const own = openTestDatabase(await nameOf(database), { locking: { lock: true, queue: false }, poolSize: 8 });
  try {
    const work = Array.from({ length: 60 }, (_, n) =>
      own.write(n % 2 === 0 ? [a.id, b.id] : [b.id, a.id], allAreas, async (_tx, now) => now),
    );
    expect(new Set(await Promise.all(work)).size).toBe(60);
  } finally {
    await own.close();
  }
});

test('a writer that waits too long is rejected, and waiting holds no connection', async () => {
  const me = await createProvider();
  const own = openTestDatabase(await nameOf(database), { writeMs: 1_000, poolSize: 2 });
  try {
    let release: () => void = () => undefined;
    const holding = own.write([me.id], allAreas, () => new Promise<void>((done) => (release = done)));
    await expect(own.write([me.id], allAreas, async () => undefined)).rejects.toSatisfy(
      (error) => classifyError(error)?.kind === 'unavailable',
    );
    expect((await own.pool.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
    release();
    await holding;
  } finally {
    await own.close();
  }
});

test('the queue runs one writer per provider and a limited number in total, in order', async () => {
  const queued = createKeyedQueue({ slots: 2, waiting: 10, waitMs: 10_000 });
  const running: string[] = [];
  const most = { all: 0, ofOne: 0 };
  const work = (key: number, name: string) => () =>
    new Promise<string>((done) => {
      running.push(`${key}`);
      most.all = Math.max(most.all, running.length);
      most.ofOne = Math.max(most.ofOne, running.filter((one) => one === `${key}`).length);
      setTimeout(() => {
        running.splice(running.indexOf(`${key}`), 1);
        done(name);
      }, 5);
    });
  const names = await Promise.all([1, 1, 1, 2, 2, 3].map((key, n) => queued([key], work(key, `${key}-${n}`))));
  expect(names).toEqual(['1-0', '1-1', '1-2', '2-3', '2-4', '3-5']);
  expect(most).toEqual({ all: 2, ofOne: 1 });
  await expect(queued([1], () => Promise.reject(new Error('own')))).rejects.toThrow('own');
  expect(await queued([1], async () => 'free again')).toBe('free again');
});

test('a writer of two providers is not starved by writers of one', async () => {
  const queued = createKeyedQueue({ slots: 4, waiting: 50, waitMs: 10_000 });
  const order: string[] = [];
  const work = (name: string) => () => sleep(3).then(() => void order.push(name));
  const first = [queued([1], work('1')), queued([2], work('2'))];
  const pair = queued([1, 2], work('1+2'));
  const later = Array.from({ length: 10 }, (_, n) => queued([(n % 2) + 1], work('later')));
  await Promise.all([...first, pair, ...later]);
  expect(order.indexOf('1+2')).toBe(2);
});

test('a full queue rejects immediately', async () => {
  const queued = createKeyedQueue({ slots: 1, waiting: 1, waitMs: 10_000 });
  const first = queued([1], () => new Promise((done) => setTimeout(done, 30)));
  const second = queued([1], async () => 'second');
  await expect(queued([1], async () => 'third')).rejects.toThrow('full');
  await first;
  expect(await second).toBe('second');
});

test('the key with the least active work runs first', async () => {
  const queued = createKeyedQueue({ slots: 2, waiting: 10, waitMs: 10_000 });
  const order: string[] = [];
  const work = (name: string) => () => sleep(order.push(name) === 1 ? 3 : 30);
  await Promise.all([
    ...['a1', 'a2', 'a3', 'a4'].map((name) => queued([], work(name), { fairnessKey: 1 })),
    ...['b1', 'b2'].map((name) => queued([], work(name), { fairnessKey: 2 })),
  ]);
  // When the first one finishes, one request of A is running and none of B.
  expect(order.slice(0, 4)).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('a canceled writer releases its place and its keys', async () => {
  const queued = createKeyedQueue({ slots: 2, waiting: 1, waitMs: 10_000 });
  const first = queued([1], () => sleep(30));
  let cancel: () => void = () => undefined;
  const second = queued([1, 2], async () => 'second', { onWait: (abort) => (cancel = abort) });
  cancel();
  await expect(second).rejects.toThrow('canceled');
  expect(await queued([2], async () => 'beside')).toBe('beside');
  const third = queued([1], async () => 'third');
  cancel();
  await first;
  expect(await third).toBe('third');
});

/** Database name of this file's test app. */
async function nameOf({ pool }: typeof database) {
  return (await pool.query<{ name: string }>('select current_database() as name')).rows[0]!.name;
}

test('a transaction over its total time limit is rolled back and unlocked', async () => {
  const me = await createProvider();
  const hasty = openTestDatabase(inject('shared'), { statementMs: 2_000, writeMs: 1_000 });
  onTestFinished(() => hasty.close());
  const adding = hasty.write([me.id], allAreas, async (tx, now) => {
    await tx.insert(tags).values({ providerId: me.id, title: 'late', createdAt: now, updatedAt: now });
    for (let statement = 0; statement < 100; statement += 1) await tx.execute(sql`select pg_sleep(0.1)`);
  });
  const failed = await adding.catch((error: unknown) => error);
  expect(classifyError(failed)).toEqual({ kind: 'unavailable' });
  await (
    await me.ctx()
  ).write(allAreas, async (tx) => expect(await tx.$count(tags, eq(tags.providerId, me.id))).toBe(0));
});

test('a closing connection counts as unreachable', async () => {
  const client = new Client(connectionTo(inject('shared')));
  await client.connect();
  const ended = client.end();
  const failed = await client.query('select 1').catch((error: unknown) => error);
  expect(classifyError(failed)).toEqual({ kind: 'unavailable' });
  await ended;
});
