import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { workQueue } from '../src/database/queue.ts';
import { approvePartner } from '../src/resources/partners/service.ts';
import { closeProvider, openProvider } from '../src/resources/providers/service.ts';
import { minimalSchool } from './support/generate.ts';
import { eventually, invite, mailWorld, sending } from './support/mail.ts';
import { limits, openTestDatabase, openWorld, send, settings, sharedWorld, type World } from './support/world.ts';

async function worldWith(options: Parameters<typeof openWorld>[1]) {
  const world = await openWorld(openTestDatabase(inject('shared')), options);
  onTestFinished(world.close);
  return world;
}

/** Adds a sub-school through the older interface. */
async function subSchool({ app }: Pick<World, 'app'>, parent: { post: PostSchool }) {
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

test('a full queue takes the work of a key with less than an equal share', async () => {
  const queued = workQueue({ slots: 1, waiting: 10, waitMs: 60_000 });
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const order: string[] = [];
  const work = (name: string, fairnessKey: number) =>
    queued([], () => gate.then(() => void order.push(name)), { fairnessKey });
  const greedy = Array.from({ length: 11 }, (_, n) => work(`a${n}`, 1));
  await expect(work('a11', 1)).rejects.toThrow('full');
  const modest = Array.from({ length: 5 }, (_, n) => work(`b${n}`, 2));
  await expect(work('b5', 2)).rejects.toThrow('full');
  open();
  await Promise.all([...greedy, ...modest]);
  expect(order.slice(0, 6)).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
});

test("a school's many writes, through sub-schools too, do not hold back another school's one", async () => {
  const world = await worldWith({});
  const [greedy, modest] = [await world.newProvider(), await world.newProvider()];
  const branches = [await subSchool(world, greedy), await subSchool(world, greedy), await subSchool(world, greedy)];
  const finished: string[] = [];
  const write = async (name: string, post: PostSchool, title: string) => {
    const { status } = await post('/v2/course-tags', { title });
    finished.push(name);
    expect(status).toBe(200 + 1);
  };
  const many = [greedy, ...branches].flatMap(({ post }) =>
    Array.from({ length: 40 }, (_, n) => write('greedy', post, `tag ${n}`)),
  );
  // Once those wait.
  await sleep(0);
  const one = write('modest', modest.post, 'tag');
  await Promise.all([...many, one]);
  expect(finished).toHaveLength(161);
  expect(finished.indexOf('modest')).toBeLessThan(40);
});

test("a school's many sign-ons do not hold back another school's one", async () => {
  const world = await worldWith({});
  const [greedy, modest] = [await world.newProvider(), await world.newProvider()];
  const finished: string[] = [];
  const signOn = async (name: string, { post }: { post: PostSchool }, username: string) => {
    expect((await post('/v2/check-user-credentials', { username, password: 'guess' })).status).toBe(200);
    finished.push(name);
  };
  const many = Array.from({ length: 60 }, (_, n) => signOn('greedy', greedy, `nobody-${n}`));
  await sleep(0);
  await Promise.all([...many, signOn('modest', modest, 'nobody')]);
  expect(finished.indexOf('modest')).toBeLessThan(30);
});

test("a school's many mails do not hold back another school's one", async () => {
  const world = await mailWorld();
  const [greedy, modest] = [await world.newProvider(), await world.newProvider()];
  for (let n = 0; n < 40; n += 1) await invite(greedy, `staff-${n}@people.example`);
  await invite(modest, 'only@people.example');
  const sent: string[] = [];
  sending(world, {
    to: {
      destination: 'a list',
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

test('a mail whose due time lies far ahead, as after the clock went back, leaves at once', async () => {
  const world = await mailWorld();
  await invite(await world.newProvider(), 'late@people.example');
  await world.database.pool.query("update outbox set due_at = now() + interval '1 year'");
  const sent: unknown[] = [];
  sending(world, {
    to: { destination: 'a list', secrets: [], send: async (mail: unknown) => String(sent.push(mail)) },
  });
  await eventually(() => expect(sent).toHaveLength(1));
});

test('sub-schools share the rate limit of their root', async () => {
  const world = await worldWith({ limits: { ...limits, rate: { perSecond: 1, burst: 6 } } });
  const parent = await world.newProvider();
  const [one, two] = [await subSchool(world, parent), await subSchool(world, parent)];
  const statuses: number[] = [];
  for (const { get } of [one, two, parent, one, two, parent, one]) statuses.push((await get('/v2/schools')).status);
  expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
  expect(statuses.at(-1)).toBe(429);
  expect((await (await world.newProvider()).get('/v2/schools')).status).toBe(200);
});

test('a school has at most SUB_SCHOOLS_MAX sub-schools, and none below a sub-school', async () => {
  const world = await worldWith({ settings: { ...settings, subSchoolsMax: 2 } });
  const parent = await world.newProvider();
  const [one] = [await subSchool(world, parent), await subSchool(world, parent)];
  const third = await parent.post('/schools', minimalSchool);
  expect([third.status, third.json()]).toEqual([
    400,
    { status: 'failure', error: 'A school has at most 2 sub-schools' },
  ]);
  const below = await one.post('/schools', minimalSchool);
  expect([below.status, below.json()]).toEqual([
    400,
    { status: 'failure', error: 'A sub-school cannot have sub-schools' },
  ]);
  await closeProvider(world.database, one.id);
  expect((await parent.post('/schools', minimalSchool)).status).toBe(200);
});

test('racing requests never make more sub-schools than allowed', async () => {
  const world = await worldWith({ settings: { ...settings, subSchoolsMax: 3 } });
  const parent = await world.newProvider();
  const answers = await Promise.all(Array.from({ length: 10 }, () => parent.post('/schools', minimalSchool)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
});

test('a closed provider has no working key and no visible course; open undoes that, and nothing is lost', async () => {
  const world = await sharedWorld();
  const [me, reader] = [await world.newProvider(), await world.newProvider()];
  await me.course({ title: 'Kept' });
  await approvePartner(world.database, reader.id, me.id);
  const seen = async () => (await reader.get('/v2/courses?include_partners=true')).json<unknown[]>().length;
  expect(await seen()).toBe(1);

  await closeProvider(world.database, me.id);
  expect((await me.get('/v2/courses')).status).toBe(401);
  expect((await me.post('/v2/courses', { title: 'No' })).status).toBe(401);
  expect((await me.get('/schools')).json()).toEqual({ status: 'failure', message: 'Wrong API Key' });
  expect(await seen()).toBe(0);

  await openProvider(world.database, me.id);
  expect((await me.get('/v2/courses')).json()).toMatchObject([{ title: 'Kept' }]);
  expect(await seen()).toBe(1);
  await expect(closeProvider(world.database, 2 ** 40)).rejects.toThrow('not found');
});
