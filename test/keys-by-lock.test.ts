import Fastify from 'fastify';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { hashApiKey } from '../src/core/api-key.ts';
import { allGuards } from '../src/core/context.ts';
import { authenticate, keyCheckedByLock, type Services } from '../src/http/auth.ts';
import { answerProblems, mainWording } from '../src/http/problems.ts';
import { createKey, revokeKey } from '../src/resources/keys/service.ts';
import { statementsOf } from './support/statements.ts';
import {
  limits,
  openTestDatabase,
  openWorld,
  ownDatabase,
  send,
  settings,
  sharedWorld,
  type Answer,
  type Provider,
} from './support/world.ts';

const { app, database, newProvider } = await sharedWorld();

const wrongKey = {
  '/v2/courses': { error: 'Wrong API Key' },
  '/courses': { status: 'failure', message: 'Wrong API Key' },
};
const paths = Object.keys(wrongKey) as (keyof typeof wrongKey)[];
const said = ({ status, json }: Answer) => [status, json()];
const create = (url: string, apiKey: string, payload: object, to = app) =>
  send(to, { method: 'POST', url, headers: { 'x-api-key': apiKey }, payload });

/** A further key of the provider that was let in just now. */
async function keyLetIn(me: Provider, url: string, to = app) {
  const { keyId, apiKey } = await createKey(await me.ctx(), {});
  const answer = await create(url, apiKey, { title: 'Let in' }, to);
  expect(answer.status).toBeLessThan(202);
  return { keyId, apiKey };
}

const titlesOf = async (me: Provider) =>
  (await me.get('/v2/courses')).json<{ title: string }[]>().map(({ title }) => title);
const written = async (me: Provider) => {
  const text = `select (select count(*) from courses where provider_id = $1) as courses,
    (select count(*) from tags where provider_id = $1) as tags,
    (select count(*) from audit_entries where provider_id = $1) as entries, changed_at::text
    from provider_state where provider_id = $1`;
  return (await database.pool.query(text, [me.id])).rows;
};

test.each(paths)('who was let in just now makes the next course by one wait: %s', async (url) => {
  const me = await newProvider();
  const { apiKey } = await keyLetIn(me, url);
  let answer: Answer | undefined;
  const sent = await statementsOf(async () => void (answer = await create(url, apiKey, { title: 'Second' })));
  expect(answer!.status).toBeLessThan(202);
  const names = sent.map(({ name, text }) => name ?? text.split(' ')[0]);
  expect(names.slice(0, 2)).toEqual(['begin', 'lock_provider_by_key']);
  expect(names).not.toContain('authenticate');
  expect(await titlesOf(me)).toEqual(['Let in', 'Second']);
});

const bodies = {
  'a course': { title: 'Late' },
  'a course with tags': { title: 'Late', tags: [{ title: 'Late' }] },
  'a course that is refused': { title: 'Let in' },
  'a body that is not valid': { title: 'Late', level: 'high' },
};
const ends: Record<string, (keyId: number) => Promise<unknown>> = {
  revoked: (keyId) => revokeKey(database, keyId),
  expired: (keyId) => database.pool.query('update api_keys set expires_at = now() where id = $1', [keyId]),
};
const endings = paths.flatMap((url) =>
  Object.keys(ends).flatMap((how) => Object.entries(bodies).map(([what, body]) => ({ url, how, what, body }))),
);
test.each(endings)('a key that has been $how since makes nothing, and is told so: $what, $url', async (ending) => {
  const me = await newProvider();
  const { keyId, apiKey } = await keyLetIn(me, ending.url);
  await ends[ending.how]!(keyId);
  const before = await written(me);
  expect(said(await create(ending.url, apiKey, ending.body))).toEqual([401, wrongKey[ending.url]]);
  let again: Answer | undefined;
  const sent = await statementsOf(async () => void (again = await create(ending.url, apiKey, ending.body)));
  expect(said(again!)).toEqual([401, wrongKey[ending.url]]);
  expect(sent.map(({ name }) => name)).toEqual(['authenticate']);
  expect(await written(me)).toEqual(before);
});

test('a body that cannot be read is not told of to who has a key no more', async () => {
  const me = await newProvider();
  const { keyId, apiKey } = await keyLetIn(me, '/v2/courses');
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const broken = () => send(app, { method: 'POST', url: '/v2/courses', headers, payload: '{"title":' });
  expect((await broken()).status).toBe(400);
  await revokeKey(database, keyId);
  expect(said(await broken())).toEqual([401, wrongKey['/v2/courses']]);
});

test('what is wrong with the request of a right key is told as ever', async () => {
  const me = await newProvider();
  const { apiKey } = await keyLetIn(me, '/v2/courses');
  const answers = [
    await create('/v2/courses', apiKey, { title: 'Let in' }),
    await create('/v2/courses', apiKey, { title: 'Second', level: 'high' }),
    await create('/v2/courses', apiKey, { title: 'Third' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 201]);
  expect(answers[1]!.json()).toEqual({ error: 'Field(s) not valid: level' });
});

test('rate limits are told to nobody whose key ended, and wrong keys are counted', async () => {
  const rate = { perSecond: 10, burst: 100 };
  const own = { limits: { ...limits, rate, wrongKeysPerMinute: 2 } };
  const world = await openWorld(openTestDatabase(inject('shared')), own);
  onTestFinished(world.close);
  const me = await world.newProvider();
  const { keyId, apiKey } = await keyLetIn(me, '/v2/courses', world.app);
  const made = await create('/v2/courses', apiKey, { title: 'Second' }, world.app);
  expect([made.status, made.headers['ratelimit-limit']]).toEqual([201, '100']);
  await revokeKey(database, keyId);
  const late = await create('/v2/courses', apiKey, { title: 'Late' }, world.app);
  expect([late.status, late.headers['ratelimit-limit']]).toEqual([401, undefined]);
  await create('/v2/courses', apiKey, { title: 'Late' }, world.app);
  const third = await create('/v2/courses', apiKey, { title: 'Late' }, world.app);
  expect([third.status, third.headers['retry-after'] !== undefined]).toEqual([429, true]);
});

test('a key that became another one, as where a database is put back, is asked to try again', async () => {
  const me = await newProvider();
  const { keyId, apiKey } = await keyLetIn(me, '/v2/courses');
  await database.pool.query('update api_keys set id = default where id = $1', [keyId]);
  const refused = await create('/v2/courses', apiKey, { title: 'Second' });
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  expect(await titlesOf(me)).toEqual(['Let in']);
  expect((await create('/v2/courses', apiKey, { title: 'Second' })).status).toBe(201);
});

test('of a key that became the one of another school nothing is told but to try again', async () => {
  const [me, other] = [await newProvider(), await newProvider()];
  const { keyId, apiKey } = await keyLetIn(me, '/v2/courses');
  await database.pool.query('update api_keys set provider_id = $2 where id = $1', [keyId, other.id]);
  expect((await create('/v2/courses', apiKey, { title: 'Second', level: 'high' })).status).toBe(503);
  expect((await create('/v2/courses', apiKey, { title: 'Second' })).status).toBe(201);
  expect([await titlesOf(me), await titlesOf(other)]).toEqual([['Let in'], ['Second']]);
});

test('what is remembered of a key is forgotten within seconds', async () => {
  const me = await newProvider();
  const { apiKey } = await keyLetIn(me, '/v2/courses');
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 11_000);
  onTestFinished(() => clock.mockRestore());
  const sent = await statementsOf(() => create('/v2/courses', apiKey, { title: 'Second' }));
  expect(sent[0]).toMatchObject({ name: 'authenticate', values: [hashApiKey(apiKey)] });
});

test('what answers without a lock looks the key up before', async () => {
  const own = Fastify();
  own.decorateRequest('checkKey', null);
  answerProblems(own, mainWording);
  const countWrongKey: Services['countWrongKey'] = async () => ({ isAllowed: true, key: '' });
  authenticate(own, { database, settings, guards: allGuards, countWrongKey });
  own.get('/', keyCheckedByLock, async ({ ctx }) => ({ of: ctx.providerId }));
  onTestFinished(() => own.close());
  const me = await newProvider();
  const { keyId, apiKey } = await createKey(await me.ctx(), {});
  const ask = async () => {
    const { statusCode, body } = await own.inject({ url: '/', headers: { 'x-api-key': apiKey } });
    return [statusCode, JSON.parse(body)] as unknown;
  };
  expect([await ask(), await ask()]).toEqual([
    [200, { of: me.id }],
    [200, { of: me.id }],
  ]);
  await revokeKey(database, keyId);
  expect(await ask()).toEqual([401, { error: 'Wrong API Key' }]);
});

test('who has a key no more takes nothing of what the school may ask', async () => {
  const rate = { perSecond: 0.001, burst: 20 };
  const world = await openWorld(openTestDatabase(inject('shared')), { limits: { ...limits, rate } });
  onTestFinished(world.close);
  const me = await world.newProvider();
  const { keyId, apiKey } = await keyLetIn(me, '/v2/courses', world.app);
  await revokeKey(database, keyId);
  const late = Array.from({ length: 15 }, () => create('/v2/courses', apiKey, { title: 'Late' }, world.app));
  expect(new Set((await Promise.all(late)).map(({ status }) => status))).toEqual(new Set([401]));
  const asked = await create('/v2/courses', me.apiKey, { title: 'Second' }, world.app);
  expect([asked.status, asked.headers['ratelimit-remaining']]).toEqual([201, '18']);
});

test('a key that is only used for what is refused has its use noted', async () => {
  const me = await newProvider();
  const { keyId, apiKey } = await keyLetIn(me, '/v2/courses');
  const secondsSinceUse = async () => {
    const { rows } = await database.pool.query<{ seconds: number | null }>(
      'select extract(epoch from now() - last_used_at)::float8 as seconds from api_keys where id = $1',
      [keyId],
    );
    return rows[0]!.seconds;
  };
  await expect.poll(secondsSinceUse).not.toBeNull();
  await database.pool.query("update api_keys set last_used_at = now() - interval '2 hours' where id = $1", [keyId]);
  expect((await create('/v2/courses', apiKey, { title: 'Let in' })).status).toBe(400);
  await expect.poll(secondsSinceUse).toBeLessThan(3_600);
});

test('a key that was looked up just now is not checked by the lock, too', async () => {
  const me = await newProvider();
  const sent = await statementsOf(() => create('/v2/courses', me.apiKey, { title: 'First' }));
  const names = sent.flatMap(({ name = '' }) => (/^(authenticate|lock_)/.test(name) ? [name] : []));
  expect(names).toEqual(['authenticate', 'lock_provider']);
});

test('where the database is out of reach, who was let in just now is told so, and nothing of the school', async () => {
  const own = openTestDatabase(await ownDatabase());
  const world = await openWorld(own, { limits: { ...limits, rate: { perSecond: 10, burst: 20 } } });
  onTestFinished(() => world.app.close());
  const me = await world.newProvider();
  expect((await me.post('/v2/courses', { title: 'First' })).status).toBe(201);
  await own.close();
  for (const body of [{ title: 'Second' }, { title: 'Second', level: 'high' }]) {
    const answer = await me.post('/v2/courses', body);
    expect([answer.status, answer.headers['ratelimit-limit']]).toEqual([503, undefined]);
  }
});

test('a key is checked by no lock of a larger change, of which the first would do for all', async () => {
  const me = await newProvider();
  const doing = { actor: 'operator', actorId: null, action: 'test' } as const;
  const key = { id: 1, hash: hashApiKey(me.apiKey) };
  const work = async () => undefined;
  await expect(database.by(doing, key).atomically(work)).rejects.toThrow('the one lock');
  await expect(database.atomically(async (within) => void within.by(doing, key))).rejects.toThrow('the one lock');
  expect(() => database.by(doing, key).writeShared(work)).toThrow('opens one provider');
});
