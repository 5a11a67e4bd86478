import { expect, test } from 'vitest';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { countWritten, keyedWrites, type KeyedWrite } from '../../support/keyed-writes.ts';
import { freePort } from '../../support/ports.ts';
import { databaseUrl, startServer } from '../../support/processes.ts';
import { startServers, type Caller, type HttpResponse } from '../../support/servers.ts';
import type { Provider } from '../../support/test-app.ts';

const key = { 'idempotency-key': 'one' };
type Servers = Awaited<ReturnType<typeof startServers>>;

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

/** A server that is killed behind the commit of its first write, before it answers. */
const program = bundle('test/support/unlocked-server.ts', [
  replaceIn(
    'killed-after-commit',
    /database\/unit-of-work\.ts$/,
    'auditLog?.onCommit(change);\n    if (change.changed)',
    "if (change.changed) process.kill(process.pid, 'SIGKILL');\n    if (change.changed)",
  ),
]);

/** Sends two equal requests at once to a server that is killed, then one to another server. */
async function crash(
  { name, database }: Servers,
  { me, call }: { me: Provider; call: Caller },
  one: KeyedWrite,
  headers = {},
) {
  const { path, body } = await one.prepare(me);
  const before = await countWritten(database.pool, one, me.id);
  const port = await freePort();
  const killed = await startServer({}, [process.execPath, await program, databaseUrl(name), String(port)]);
  const sent = [1, 2].map(() =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-api-key': me.apiKey, ...headers },
    }).then(
      ({ status }) => status,
      () => 'cut',
    ),
  );
  const outcomes = await Promise.all(sent);
  expect([one.route, ...outcomes, await killed.ended]).toEqual([one.route, 'cut', 'cut', 'SIGKILL']);
  // The other server may still wait for the lock of the killed one.
  const response = await call('POST', path, body, headers);
  return { response, written: (await countWritten(database.pool, one, me.id)) - before };
}

test('a server is killed after the commit, before the response: the repeated request gets it, on each route', async () => {
  const servers = await startServers();
  const school = await createSchool(servers);
  for (const one of keyedWrites) {
    const { response, written } = await crash(servers, school, one, key);
    expect([one.route, response.status < 300, isReplayed(response), written]).toEqual([one.route, true, true, 1]);
  }
});

test('negative control: without a key the repeated request writes once more, or is refused', async () => {
  const servers = await startServers();
  const school = await createSchool(servers);
  for (const one of keyedWrites) {
    const { response, written } = await crash(servers, school, one);
    expect([one.route, isReplayed(response), written]).toEqual([one.route, false, one.isUnique ? 1 : 2]);
    expect(response.status === 201, one.route).toBe(!one.isUnique);
  }
});
