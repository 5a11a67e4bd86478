import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createKeyedQueue } from '../../../src/database/keyed-queue.ts';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { closeProvider, openProvider } from '../../../src/domains/school/schools/service.ts';
import { createBookableDate, bookOrFail, person } from '../../support/booking.ts';
import { addAdminUser } from '../../support/dates.ts';
import { importObjects } from '../../support/all-responses.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import { eventually, invite, openMailTestApp, readOutbox, startWorker } from '../../support/mail.ts';
import { createAdminToken, signedInVisitor, visitor } from '../../support/pages.ts';
import { limits, openTestDatabase, openTestApp, send, sharedTestApp, type TestApp } from '../../support/test-app.ts';

async function worldWith(options: Parameters<typeof openTestApp>[1]) {
  const testApp = await openTestApp(openTestDatabase(inject('shared')), options);
  onTestFinished(testApp.close);
  return testApp;
}

/** Adds a sub-school through the older interface. */
async function subSchool({ app }: Pick<TestApp, 'app'>, parent: { post: PostSchool }) {
  const { status, json } = await parent.post('/schools', { ...minimalSchool, title: 'Branch' });
  const { api_key, school_id } = json<{ api_key: string; school_id: string }>();
  const headers = { 'x-api-key': api_key };
  return {
    status,
    id: Number(school_id),
    get: (url: string) => send(app, { url, headers }),
    post: (url: string, payload: object) => send(app, { method: 'POST', url, headers, payload }),
  };
}
type PostSchool = (url: string, payload: object) => ReturnType<typeof send>;

test('a full queue accepts a key that has less than its share', async () => {
  const queued = createKeyedQueue({ slots: 1, waiting: 10, waitMs: 60_000 });
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const order: string[] = [];
  const work = (name: string, tenantQueueKey: number) =>
    queued([], () => gate.then(() => void order.push(name)), { tenantQueueKey });
  const greedy = Array.from({ length: 11 }, (_, n) => work(`a${n}`, 1));
  await expect(work('a11', 1)).rejects.toThrow('full');
  const modest = Array.from({ length: 5 }, (_, n) => work(`b${n}`, 2));
  await expect(work('b5', 2)).rejects.toThrow('full');
  open();
  await Promise.all([...greedy, ...modest]);
  expect(order.slice(0, 6)).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
});

test("many writes of a school and its sub-schools do not delay another school's write", async () => {
  const testApp = await worldWith({});
  const [greedy, modest] = [await testApp.createProvider(), await testApp.createProvider()];
  const branches = [
    await subSchool(testApp, greedy),
    await subSchool(testApp, greedy),
    await subSchool(testApp, greedy),
  ];
  const finished: string[] = [];
  const write = async (name: string, post: PostSchool, title: string) => {
    const { status } = await post('/v2/course-tags', { title });
    finished.push(name);
    expect(status).toBe(200 + 1);
  };
  const many = [greedy, ...branches].flatMap(({ post }) =>
    Array.from({ length: 40 }, (_, n) => write('greedy', post, `tag ${n}`)),
  );
  // Waits until those are queued.
  await sleep(0);
  const one = write('modest', modest.post, 'tag');
  await Promise.all([...many, one]);
  expect(finished).toHaveLength(161);
  expect(finished.indexOf('modest')).toBeLessThan(40);
});

test("many sign-ons of one school do not delay another school's", async () => {
  const testApp = await worldWith({});
  const [greedy, modest] = [await testApp.createProvider(), await testApp.createProvider()];
  const users = (count: number) =>
    Array.from({ length: count }, (_, n) => {
      const name = { username: `kari-${n}`, firstname: 'Kari', lastname: 'Nordmann' };
      return { kind: 'user', ref: `u${n}`, ...name, password: 'right one' };
    });
  await importObjects(greedy, users(60));
  await importObjects(modest, users(1));
  const finished: string[] = [];
  // With the correct password, since failures are delayed to a common time.
  const signOn = async (name: string, { post }: { post: PostSchool }, username: string) => {
    const response = await post('/v2/check-user-credentials', { username, password: 'right one' });
    expect(response.json()).toMatchObject({ valid: true });
    finished.push(name);
  };
  const many = Array.from({ length: 60 }, (_, n) => signOn('greedy', greedy, `kari-${n}`));
  await sleep(0);
  await Promise.all([...many, signOn('modest', modest, 'kari-0')]);
  expect(finished.indexOf('modest')).toBeLessThan(30);
});

test("many mails of one school do not delay another school's", async () => {
  const testApp = await openMailTestApp();
  const [greedy, modest] = [await testApp.createProvider(), await testApp.createProvider()];
  for (let n = 0; n < 40; n += 1) await invite(greedy, `staff-${n}@people.example`);
  await invite(modest, 'only@people.example');
  const sent: string[] = [];
  startWorker(testApp, {
    to: {
      destination: 'a list',
      result: 'sent' as const,
      secrets: [],
      send: async ({ to }: { to: unknown }) => {
        await sleep(5);
        sent.push(JSON.stringify(to));
        return 'sent';
      },
    } as never,
  });
  await eventually(() => expect(sent).toHaveLength(41));
  expect(sent.findIndex((to) => to.includes('only@'))).toBeLessThan(10);
});

test('mail sending alternates between schools, counting sub-schools with their root', async () => {
  const testApp = await openMailTestApp();
  const root = await testApp.createProvider();
  const branch = await subSchool(testApp, root);
  const letters = ['a', 'b', 'c', 'd', 'e', 'f'];
  const schools = [root, branch, ...(await Promise.all(letters.map(() => testApp.createProvider())))];
  const names = ['root', 'root', ...letters];
  for (const [n, school] of schools.entries()) {
    for (let count = 0; count < 4; count += 1) {
      const body = {
        email: `${names[n]}-${n}${count}@people.example`,
        firstname: 'Åse',
        lastname: 'Moe',
        role_ids: [1],
      };
      expect((await school.post('/v2/admin-users', body)).status).toBe(201);
    }
  }
  const sent: string[] = [];
  startWorker(testApp, {
    to: {
      destination: 'a list',
      result: 'sent' as const,
      secrets: [],
      send: async ({ to }: { to: unknown }) => {
        sent.push(/(\w+)-\d+@/.exec(JSON.stringify(to))![1]!);
        await sleep(20);
        return 'sent';
      },
    } as never,
  });
  await eventually(() => expect(sent).toHaveLength(8 * 4));
  const indexesOf = (name: string) => sent.flatMap((one, index) => (one === name ? [index] : []));
  // Five are sent at once, so one may arrive up to a round later.
  for (const name of letters) {
    for (const [round, index] of indexesOf(name).entries()) expect(index).toBeLessThan((round + 2) * 7);
  }
  expect(indexesOf('root').filter((index) => index < 14).length).toBeLessThan(4);
});

test('mails, links and sessions of a closed school are suspended until it reopens', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const token = await createAdminToken(me, await addAdminUser(me));
  await invite(me, 'late@people.example');
  await bookOrFail(me, (await createBookableDate(me)).dateId, {
    participants: [person({ email: 'kari@people.example' })],
  });
  const [user] = (await me.get('/v2/search-users?username=kari%40people.example')).json<{ id: number }[]>();
  const page = await signedInVisitor(testApp.app, me, user!.id);
  const seen = async () => [
    (await page.get('/my')).status,
    (await visitor(testApp.app).get(`/my/password/${token}`)).status,
  ];
  expect(await seen()).toEqual([200, 200]);
  await closeProvider(testApp.database, me.id);
  expect(await seen()).toEqual([401, 410]);

  const sent: unknown[] = [];
  startWorker(testApp, {
    to: { destination: 'a list', result: 'sent' as const, secrets: [], send: async (mail) => String(sent.push(mail)) },
  });
  // The other school's mail proves that the worker has polled.
  await invite(await testApp.createProvider(), 'other@people.example');
  await eventually(() => expect(sent).toHaveLength(1));
  expect(JSON.stringify(sent)).toContain('other@');
  await openProvider(testApp.database, me.id);
  await eventually(() => expect(JSON.stringify(sent)).toContain('late@'));
  expect(await seen()).toEqual([200, 200]);
});

test.each(['1 hour', '1 year'])('a mail queued before the clock went back by %s is sent immediately', async (jump) => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  for (const name of ['late', 'failed', 'put-off']) await invite(me, `${name}@people.example`);
  const { pool } = testApp.database;
  const [late = 0] = (await readOutbox(testApp)).map(({ id }) => id);
  await pool.query('update outbox set due_at = now() + $1::interval, created_at = now() + $1::interval where id = $2', [
    jump,
    late,
  ]);
  await pool.query(
    "update outbox set due_at = now() + interval '1 hour', last_error = 'no', failure = 'other', attempts = 2 - id + $1 where id > $1",
    [late],
  );
  const sent: unknown[] = [];
  startWorker(testApp, {
    to: { destination: 'a list', result: 'sent' as const, secrets: [], send: async ({ to }) => String(sent.push(to)) },
  });
  await eventually(() => expect(sent).not.toEqual([]));
  await sleep(1_500);
  expect(sent).toMatchObject([{ address: 'late@people.example' }]);
});

test('sub-schools share the rate limit of their root', async () => {
  const testApp = await worldWith({ limits: { ...limits, rate: { perSecond: 1, burst: 6 } } });
  const parent = await testApp.createProvider();
  const [one, two] = [await subSchool(testApp, parent), await subSchool(testApp, parent)];
  const statuses: number[] = [];
  for (const { get } of [one, two, parent, one, two, parent, one]) statuses.push((await get('/v2/schools')).status);
  expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
  expect(statuses.at(-1)).toBe(429);
  expect((await (await testApp.createProvider()).get('/v2/schools')).status).toBe(200);
});

test('a school has at most 50 sub-schools, and sub-schools cannot be nested', async () => {
  const testApp = await sharedTestApp();
  const parent = await testApp.createProvider();
  const one = await subSchool(testApp, parent);
  for (let count = 1; count < 50; count += 1) await subSchool(testApp, parent);
  const third = await parent.post('/schools', minimalSchool);
  expect([third.status, third.json()]).toEqual([
    400,
    { status: 'failure', error: 'A school has at most 50 sub-schools' },
  ]);
  const below = await one.post('/schools', minimalSchool);
  expect([below.status, below.json()]).toEqual([
    400,
    { status: 'failure', error: 'A sub-school cannot have sub-schools' },
  ]);
  await closeProvider(testApp.database, one.id);
  expect((await parent.post('/schools', minimalSchool)).status).toBe(200);
});

test('concurrent requests never create more sub-schools than allowed', async () => {
  const testApp = await sharedTestApp();
  const parent = await testApp.createProvider();
  for (let count = 0; count < 47; count += 1) await subSchool(testApp, parent);
  const responses = await Promise.all(Array.from({ length: 10 }, () => parent.post('/schools', minimalSchool)));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
});

test('closing a provider disables its keys and hides its courses; reopening restores both', async () => {
  const testApp = await sharedTestApp();
  const [me, reader] = [await testApp.createProvider(), await testApp.createProvider()];
  await me.course({ title: 'Kept' });
  await approvePartner(testApp.database, reader.id, me.id);
  const seen = async () => (await reader.get('/v2/courses?include_partners=true')).json<unknown[]>().length;
  expect(await seen()).toBe(1);

  await closeProvider(testApp.database, me.id);
  expect((await me.get('/v2/courses')).status).toBe(401);
  expect((await me.post('/v2/courses', { title: 'No' })).status).toBe(401);
  expect((await me.get('/schools')).json()).toEqual({ status: 'failure', message: 'Wrong API Key' });
  expect(await seen()).toBe(0);

  await openProvider(testApp.database, me.id);
  expect((await me.get('/v2/courses')).json()).toMatchObject([{ title: 'Kept' }]);
  expect(await seen()).toBe(1);
  await expect(closeProvider(testApp.database, 2 ** 40)).rejects.toThrow('not found');
});
