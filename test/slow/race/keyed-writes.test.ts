import { expect, test } from 'vitest';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { countWritten, keyedWrites, type KeyedWrite } from '../../support/keyed-writes.ts';
import { freePort } from '../../support/ports.ts';
import { databaseUrl, startServer } from '../../support/processes.ts';
import { startServers, type Caller, type HttpResponse } from '../../support/servers.ts';
import type { Provider } from '../../support/test-app.ts';

const key = { 'idempotency-key': 'one' };
type Servers = Awaited<ReturnType<typeof startServers>>;
type School = Awaited<ReturnType<typeof createSchool>>;

async function createSchool({ createProvider, createCaller }: Servers) {
  const me = await createProvider();
  return { me, call: createCaller(me.apiKey) };
}

/** Sends copies to two servers at once; returns the responses and how many wrote. */
async function sendCopies({ database }: Servers, me: Provider, call: Caller, one: KeyedWrite) {
  const { path, body } = await one.prepare(me);
  const before = await countWritten(database.pool, one, me.id);
  const responses = await Promise.all(Array.from({ length: 10 }, () => call('POST', path, body, key)));
  return { responses, written: (await countWritten(database.pool, one, me.id)) - before };
}

const isReplayed = ({ headers }: HttpResponse) => headers['idempotent-replayed'] === 'true';

test('ten equal requests with one key on two servers write once, on each route', async () => {
  const servers = await startServers();
  const { me, call } = await createSchool(servers);
  for (const one of keyedWrites) {
    const { responses, written } = await sendCopies(servers, me, call, one);
    const different = new Set(responses.map(({ status, body }) => `${status} ${JSON.stringify(body)}`));
    expect([one.route, written, different.size]).toEqual([one.route, 1, 1]);
    expect(responses[0]!.status, one.route).toBeLessThan(300);
    expect(responses.filter(isReplayed), one.route).toHaveLength(9);
  }
});

test('negative control: without lock and queue a request is written several times', async () => {
  const servers = await startServers({ unlocked: true });
  const { me, call } = await createSchool(servers);
  let most = 0;
  for (let round = 1; round <= 20 && most < 2; round += 1) {
    for (const one of keyedWrites.filter(({ isUnique }) => !isUnique))
      most = Math.max(most, (await sendCopies(servers, me, call, one)).written);
  }
  expect(most).toBeGreaterThan(1);
});

/** Kills the server behind the commit of its first write, before it answers. */
const killed = replaceIn(
  'killed-after-commit',
  /database\/unit-of-work\.ts$/,
  'auditLog?.onCommit(change);\n    if (change.changed)',
  "if (change.changed) process.kill(process.pid, 'SIGKILL');\n    if (change.changed)",
);
/** Stores responses behind the commit, not in the transaction. */
const storedLater = replaceIn(
  'stored-later',
  /http\/idempotency\.ts$/,
  /\{ providerId \}(: Pick<Ctx, 'providerId'>,[^]*?)await storeRecord\(tx, (.*?)\);/,
  '{ providerId, unlockedStore }$1setTimeout(() => void storeRecord(unlockedStore, $2), 100);',
);

/** Sends two equal requests at once to a server that is killed, then one to another server. */
async function crash({ name, database }: Servers, { me, call }: School, program: string, one: KeyedWrite) {
  const { path, body } = await one.prepare(me);
  const before = await countWritten(database.pool, one, me.id);
  const port = await freePort();
  const server = await startServer({}, [process.execPath, program, databaseUrl(name), String(port)]);
  const post = createPost(`http://127.0.0.1:${port}`, me);
  const cuts = await Promise.all([1, 2].map(() => post(path, body)));
  expect([one.route, ...cuts, await server.ended]).toEqual([one.route, 'cut', 'cut', 'SIGKILL']);
  const response = await call('POST', path, body, key);
  return { response, written: (await countWritten(database.pool, one, me.id)) - before };
}

const createPost =
  (base: string, { apiKey }: Provider) =>
  (path: string, body: object) =>
    fetch(`${base}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey, ...key },
    }).then(
      ({ status }) => status,
      () => 'cut',
    );

test('a server is killed after the commit, before the response: the repeated request gets it, on each route', async () => {
  const servers = await startServers();
  const school = await createSchool(servers);
  const program = await bundle('test/support/unlocked-server.ts', [killed]);
  for (const one of keyedWrites) {
    const { response, written } = await crash(servers, school, program, one);
    expect([one.route, response.status < 300, isReplayed(response), written]).toEqual([one.route, true, true, 1]);
  }
});

test('negative control: with responses that are stored later a request is written twice, or refused', async () => {
  const servers = await startServers();
  const school = await createSchool(servers);
  const program = await bundle('test/support/unlocked-server.ts', [killed, storedLater]);
  for (const one of keyedWrites) {
    const { response, written } = await crash(servers, school, program, one);
    expect([one.route, isReplayed(response), written]).toEqual([one.route, false, one.isUnique ? 1 : 2]);
    expect(response.status === 201, one.route).toBe(!one.isUnique);
  }
});
