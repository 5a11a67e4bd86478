import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { classifyError } from '../../../src/core/database-errors.ts';
import { createKeyedQueue } from '../../../src/database/keyed-queue.ts';
import { providers } from '../../../src/database/tables/providers.ts';
import { tags } from '../../../src/database/tables/catalog.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { write } from '../../support/orders.ts';
import { connectionTo, openTestDatabase, sharedTestApp } from '../../support/test-app.ts';
import { loadUnguarded } from '../../support/unguarded.ts';

const { database, createProvider } = await sharedTestApp();

test('the test database rejects a write without the lock of that provider', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const ctx = await me.ctx();
  await expect(
    ctx.write(allAreas, ({ tx, now }) =>
      tx.insert(tags).values({ providerId: other.id, title: 'theirs', createdAt: now, updatedAt: now }),
    ),
  ).rejects.toMatchObject({ cause: { code: 'XX001' } });
  await expect(
    ctx.write(allAreas, ({ tx }) => tx.update(providers).set({ title: 'theirs' }).where(eq(providers.id, other.id))),
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
  const timestamps = await Promise.all(Array.from({ length: 20 }, () => ctx.write(allAreas, async ({ now }) => now)));
  expect(new Set(timestamps).size).toBe(20);
  const last = [...timestamps].sort().at(-1)!;
  expect((await me.ctx()).version).toBe(last);

  await database.pool.query("update provider_state set changed_at = '2999-01-01' where provider_id = $1", [me.id]);
  expect(await ctx.write(allAreas, async ({ now }) => now)).toMatch(/^2999-01-01 00:00:00\.000001/);
});

/** Locks with a function while another transaction has the lock; the clock of that one, and the one of the waiting. */
async function waitForLock(own: typeof database, statement: string, ids: number[]) {
  const [holder, waiter] = [new Client(connectionTo(inject('shared'))), new Client(connectionTo(inject('shared')))];
  await Promise.all([holder.connect(), waiter.connect()]);
  onTestFinished(async () => {
    await Promise.all([holder.end(), waiter.end()]);
  });
  const lock = async (client: Client) => {
    const { rows } = await client.query<{ at: string }>(`select extract(epoch from (${statement}))::text as at`);
    return rows[0]!.at;
  };
  await holder.query('begin');
  const first = await lock(holder);
  await waiter.query('begin');
  const waiting = lock(waiter);
  await sleep(100);
  const { rows } = await holder.query<{ before: string }>(
    'select extract(epoch from clock_timestamp())::text as before',
  );
  await holder.query('commit');
  const second = await waiting;
  await waiter.query('commit');
  const state = 'select extract(epoch from changed_at)::text as at from provider_state where provider_id = any($1)';
  const clocks = (await own.pool.query<{ at: string }>(state, [ids])).rows.map(({ at }) => at);
  return { first, before: rows[0]!.before, second, clocks };
}

test.each([
  { name: 'lock_provider', isShared: false },
  { name: 'lock_providers', isShared: false },
  { name: 'lock_shared', isShared: true },
])('$name reads the clock after it has waited for the lock', async ({ name, isShared }) => {
  const ids = [(await createProvider()).id, (await createProvider()).id];
  const locked = name === 'lock_provider' ? ids.slice(0, 1) : ids;
  const values = name === 'lock_provider' ? `${ids[0]}` : `array[${ids.join(', ')}]`;
  const statement = isShared ? `select ${name}()` : `select ${name}(${values}, '{catalog,dates}')`;
  const { first, before, second, clocks } = await waitForLock(database, statement, locked);
  expect(first < before && before < second).toBe(true);
  if (!isShared) expect(new Set(clocks)).toEqual(new Set([second]));
});

test('lock_providers locks in ascending order, whatever the order of its argument', async () => {
  const ids = [(await createProvider()).id, (await createProvider()).id, (await createProvider()).id];
  const [holder, waiter] = [new Client(connectionTo(inject('shared'))), new Client(connectionTo(inject('shared')))];
  await Promise.all([holder.connect(), waiter.connect()]);
  onTestFinished(async () => {
    await Promise.all([holder.end(), waiter.end()]);
  });
  const lockable = async (id: number) => {
    const row = 'select from provider_state where provider_id = $1 for no key update skip locked';
    return (await database.pool.query(row, [id])).rowCount === 1;
  };
  await holder.query(`begin; select lock_provider(${ids[1]}, '{catalog}')`);
  const waiting = waiter.query(`select lock_providers(array[${ids[2]}, ${ids[1]}, ${ids[0]}], '{catalog}')`);
  // It waits for the second, has the first, and not yet the third.
  await expect.poll(() => lockable(ids[0]!)).toBe(false);
  expect(await lockable(ids[2]!)).toBe(true);
  await holder.query('commit');
  await waiting;
});

test('a lock moves the clocks of its areas alone, and a provider without a row has no lock', async () => {
  const { id } = await createProvider();
  const clocks = async () => {
    const text = `select to_jsonb(s) - 'provider_id' as clocks from provider_state s where provider_id = $1`;
    const { rows } = await database.pool.query<{ clocks: Record<string, string> }>(text, [id]);
    return rows[0]!.clocks;
  };
  const before = await clocks();
  await database.write([id], ['dates', 'money'], async () => undefined);
  const after = await clocks();
  const moved = Object.keys(before).filter((clock) => before[clock] !== after[clock]);
  expect(moved.sort()).toEqual(['changed_at', 'dates_changed_at', 'money_changed_at']);
  expect(new Set(moved.map((clock) => after[clock])).size).toBe(1);
  for (const ids of [[-1], [id, -1]])
    await expect(database.write(ids, allAreas, async () => undefined)).rejects.toThrow('School not found');
});

test('locking several providers in a fixed order prevents deadlocks', async () => {
  const [a, b] = [await createProvider(), await createProvider()];
  const { openDatabase } = await loadUnguarded(['queue']);
  const own = openTestDatabase(await nameOf(database), { poolSize: 8 }, openDatabase);
  try {
    const work = Array.from({ length: 60 }, (_, n) =>
      own.write(n % 2 === 0 ? [a.id, b.id] : [b.id, a.id], allAreas, async ({ now }) => now),
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
    ...['a1', 'a2', 'a3', 'a4'].map((name) => queued([], work(name), { tenantQueueKey: 1 })),
    ...['b1', 'b2'].map((name) => queued([], work(name), { tenantQueueKey: 2 })),
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
  const adding = hasty.write([me.id], allAreas, async ({ tx, now }) => {
    await tx.insert(tags).values({ providerId: me.id, title: 'late', createdAt: now, updatedAt: now });
    for (let statement = 0; statement < 100; statement += 1) await tx.execute(sql`select pg_sleep(0.1)`);
  });
  const failed = await adding.catch((error: unknown) => error);
  expect(classifyError(failed)).toEqual({ kind: 'unavailable' });
  await write(me, async (tx) => expect(await tx.$count(tags, eq(tags.providerId, me.id))).toBe(0));
});

test('a closing connection counts as unreachable', async () => {
  const client = new Client(connectionTo(inject('shared')));
  await client.connect();
  const ended = client.end();
  const failed = await client.query('select 1').catch((error: unknown) => error);
  expect(classifyError(failed)).toEqual({ kind: 'unavailable' });
  await ended;
});
