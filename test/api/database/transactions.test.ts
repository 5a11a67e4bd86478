import { sql } from 'drizzle-orm';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { Client, type Connection, type QueryResult } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { DatabaseOptions } from '../../../src/database/client.ts';
import { classifyError } from '../../../src/core/database-errors.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { addCategory, categorizeCourse } from '../../../src/domains/courses/courses/category-service.ts';
import { approvePartner, requestPartner, revokePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { waitForBlocked } from '../../support/locks.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import {
  asAdmin,
  connectionTo,
  openTestDatabase,
  openTestApp,
  ownDatabase,
  sharedTestApp,
  type Provider,
} from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

/** A separate test app, closed before its database. */
async function openAppOn(name: string, options: Partial<DatabaseOptions>) {
  const testApp = await openTestApp(openTestDatabase(name, options));
  onTestFinished(testApp.close);
  return testApp;
}

test('concurrent migrations of an empty database all succeed and one of them applies', async () => {
  const name = `booking_empty_${process.pid}`;
  await asAdmin(`create database ${name}`);
  onTestFinished(() => asAdmin(`drop database if exists ${name} with (force)`));
  const results = await Promise.all(Array.from({ length: 6 }, () => migrateDatabase(connectionTo(name))));
  const applied = results.map((result) => result.applied).sort();
  expect(applied.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  expect(applied[5]).toBeGreaterThan(0);
});

test('a connection whose results belong to other statements is closed', async () => {
  const { id } = await createProvider();
  const found: unknown[] = [];
  const select = (isAhead: boolean) =>
    database.write([id], ['school'], async ({ tx }) => {
      // The server answers it, so that the next statement ends before its own result.
      if (isAhead) (tx.$client as unknown as { connection: Connection }).connection.sync();
      const one = async (n: number) => void found.push([n, (await tx.execute(sql`select ${n}::int as n`)).rows]);
      await Promise.all([one(1), one(2)]);
      return tx.rollBack(true);
    });
  const error: unknown = await select(true).catch((thrown: unknown) => thrown);
  expect([classifyError(error), found]).toEqual([{ kind: 'unavailable' }, []]);
  expect(await select(false)).toBe(true);
  expect(found).toEqual([1, 2].map((n) => [n, [{ n }]]));
});

const versions = (...providers: Provider[]) => Promise.all(providers.map(async ({ ctx }) => (await ctx()).version));

test.each([
  ['request', requestPartner],
  ['approve', approvePartner],
  ['revoke', revokePartner],
])('a partner request to %s sets the clocks of both providers to the same timestamp', async (_name, change) => {
  const [me, partner] = [await createProvider(), await createProvider()];
  if (change === revokePartner) await approvePartner(database, me.id, partner.id);
  const [before, partnersBefore] = await versions(me, partner);
  await change(database, me.id, partner.id);
  const [after, partnersAfter] = await versions(me, partner);
  expect(after! > before! && partnersAfter! > partnersBefore!).toBe(true);
  expect(after).toBe(partnersAfter);
});

test("a new sub-school advances its parent's clock and starts its own at the same timestamp", async () => {
  const parent = await createProvider();
  const [before] = await versions(parent);
  const { school_id } = (await parent.post('/schools', minimalSchool)).json<{ school_id: string }>();
  const [after] = await versions(parent);
  expect(after! > before!).toBe(true);
  const { rows } = await database.pool.query<{ at: string }>(
    `select changed_at::text as at from provider_state where provider_id = ${Number(school_id)}`,
  );
  expect(rows).toEqual([{ at: after }]);
});

test('writers use at most half of the connections, so reads are still served', async () => {
  const testApp = await openAppOn(inject('shared'), { poolSize: 4, acquireMs: 10_000 });
  const providers = await Promise.all(Array.from({ length: 5 }, () => testApp.createProvider()));
  let release: () => void = () => undefined;
  const existing = new Promise<void>((done) => (release = done));
  onTestFinished(() => release());
  let writing = 0;
  const writers = providers.map(({ id }) =>
    testApp.database.write([id], allAreas, async () => {
      writing += 1;
      await existing;
    }),
  );
  await expect.poll(() => writing).toBe(2);
  const responses = await Promise.all(providers.map(({ get }) => get('/v2/courses')));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(writing).toBe(2);
  release();
  await Promise.all(writers);
  expect(writing).toBe(5);
});

/** A test app whose database fails course inserts, as in a deadlock, while the condition holds. */
async function crossing(condition: string, options: Partial<DatabaseOptions>) {
  const testApp = await openAppOn(await ownDatabase(), options);
  await testApp.database.pool.query(`create sequence attempts;
    create function cross_once() returns trigger language plpgsql as $$ begin
      if ${condition} then raise exception 'crossed' using errcode = '40001'; end if;
      return new;
    end $$;
    create trigger crossing before insert on courses for each row execute function cross_once()`);
  return { ...testApp, me: await testApp.createProvider() };
}

test('a transaction with a serialization conflict is retried and writes one row', async () => {
  const { me } = await crossing("nextval('attempts') = 1", {});
  expect((await me.post('/v2/courses', { title: 'Again', tags: [{ title: 'new' }] })).status).toBe(201);
  expect((await me.get('/v2/courses')).json()).toMatchObject([{ title: 'Again', tags: [{ title: 'new' }] }]);
});

test('a transaction that keeps conflicting ends with 503 after the timeout', async () => {
  const { me, database: own } = await crossing("nextval('attempts') > 0", { writeMs: 1_500 });
  const response = await me.post('/v2/courses', { title: 'Never' });
  expect(response.status).toBe(503);
  expect(response.headers['retry-after']).toBeDefined();
  const { rows } = await own.pool.query<{ attempts: number }>('select last_value as attempts from attempts');
  expect(rows[0]!.attempts).toBeGreaterThan(1);
  expect((await me.get('/v2/courses')).json()).toEqual([]);
});

test("session settings override the database's defaults", async () => {
  const name = await ownDatabase();
  await asAdmin(`alter database ${name} set timezone = 'Asia/Tokyo'`);
  await asAdmin(`alter database ${name} set datestyle = 'German'`);
  const { database: own } = await openAppOn(name, { timezone: 'America/Lima', statementMs: 54_321 });
  const session = `select current_setting('timezone') as zone, current_setting('datestyle') as dates,
    current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle,
    pg_backend_pid() as pid, pg_advisory_xact_lock_shared(1)::text as locked`;
  const holder = new Client(connectionTo(name));
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('select pg_advisory_lock(1)');
  const requests: Promise<QueryResult<Record<string, unknown>>>[] = [];
  // In different turns: queries of one turn share a connection.
  for (let n = 1; n <= 4; n += 1) {
    requests.push(own.pool.query(session));
    await waitForBlocked(holder, n);
  }
  await holder.query('select pg_advisory_unlock(1)');
  const found = await Promise.all(requests);
  const sessions = found.map(({ rows }) => rows[0]!);
  expect(new Set(sessions.map(({ pid }) => pid)).size).toBe(4);
  for (const one of sessions) {
    expect(one).toMatchObject({ zone: 'America/Lima', statement: '54321ms', idle: '10s' });
    expect(one['dates']).toMatch(/^ISO/);
  }
});

/** A proxy to the test server that can drop everything, like a broken network. */
async function openProxy() {
  const { host, port = 5432 } = inject('server');
  const sockets = new Set<Socket>();
  const silent = { asking: false, answering: false };
  const pass = (from: Socket, to: Socket, endpoint: keyof typeof silent) => {
    from.on('data', (bytes) => silent[endpoint] || to.write(bytes));
    from.on('close', () => to.destroy()).on('error', () => to.destroy());
    sockets.add(from);
  };
  const proxy = createServer((client) => {
    const server = host?.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    pass(client, server, 'asking');
    pass(server, client, 'answering');
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const connection = {
    ...connectionTo(inject('shared')),
    host: '127.0.0.1',
    port: (proxy.address() as AddressInfo).port,
  };
  const isSilent = (asking: boolean, answering: boolean) => void Object.assign(silent, { asking, answering });
  return {
    connection,
    fallSilent: () => isSilent(true, true),
    swallowAnswers: () => isSilent(false, true),
    speak: () => isSilent(false, false),
  };
}

test('an unresponsive database gives 503, and requests succeed once it recovers', async () => {
  const proxy = await openProxy();
  const testApp = await openAppOn('', { connection: proxy.connection, statementMs: 2_000, acquireMs: 4_000 });
  const me = await testApp.createProvider();
  expect((await me.get('/v2/schools')).status).toBe(200);

  proxy.fallSilent();
  const responses = await Promise.all(Array.from({ length: 6 }, () => me.get('/v2/schools')));
  expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 503]);

  proxy.speak();
  await expect.poll(async () => (await me.get('/v2/schools')).status).toBe(200);
  expect((await me.post('/v2/courses', { title: 'After' })).status).toBe(201);
});

test('a write to an unresponsive database fails after the statement timeout', async () => {
  const proxy = await openProxy();
  const testApp = await openAppOn('', { connection: proxy.connection, statementMs: 2_000, acquireMs: 4_000 });
  const me = await testApp.createProvider();
  const writing = testApp.database.write([me.id], allAreas, async ({ tx }) => {
    proxy.fallSilent();
    await tx.execute(sql`select 1`);
  });
  await expect(writing).rejects.toSatisfy((error) => classifyError(error)?.kind === 'unavailable');
  proxy.speak();
  expect((await me.post('/v2/courses', { title: 'After' })).status).toBe(201);
});

test('a category change updates the timestamps of its course', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const readTimestamps = async () => {
    const { rows } = await database.pool.query<{ updated: string; related: string }>(
      `select updated_at::text as updated, related_items_updated_at::text as related from courses where id = ${courseId}`,
    );
    return rows[0]!;
  };
  const before = await readTimestamps();
  const category = { title: 'Baking', slug: `baking-${process.pid}`, parentId: null };
  await categorizeCourse(await me.ctx(), courseId, await addCategory(database, category));
  const after = await readTimestamps();
  expect(after.related > before.related).toBe(true);
  expect(after).toEqual({ updated: (await me.ctx()).version, related: (await me.ctx()).version });
});

test('a provider named twice is locked once', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const at = await database.write([me.id, other.id, me.id], allAreas, async ({ now }) => now);
  expect(await versions(me, other)).toEqual([at, at]);
  expect(await database.write([me.id, me.id], allAreas, async ({ now }) => now > '2')).toBe(true);
  expect(await database.atomically(({ write }) => write([me.id, me.id], allAreas, async ({ now }) => now > '2'))).toBe(
    true,
  );
});
