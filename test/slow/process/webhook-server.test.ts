import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createAuthority, createCertificate } from '../../support/certificates.ts';
import { databaseUrl, startServer, temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';
import { openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';
import { createTag, createWebhook, startReceiver } from '../../support/webhooks.ts';

async function open() {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  const env = { DATABASE_URL: databaseUrl(name), WEBHOOK_ALLOW: '127.0.0.1' };
  return { me: await testApp.createProvider(), env };
}

test('SIGTERM with a message in flight repeats none, and WEBHOOKS=off sends none', async () => {
  const { me, env } = await open();
  const receiver = await startReceiver((_message, n) => {
    if (n !== 2) return 204;
    return new Promise((resolve) => setTimeout(() => resolve(204), 1_000));
  });
  await createWebhook(me, { url: receiver.url });
  const ids: number[] = [];
  for (let n = 1; n <= 4; n += 1) ids.push(await createTag(me, `Tag ${n}`));
  const start = async (more = {}) => {
    const server = await startServer({ ...env, ...more });
    onTestFinished(() => void server.child.kill('SIGKILL'));
    return server;
  };
  const off = await start({ WEBHOOKS: 'off' });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(receiver.received).toEqual([]);
  off.child.kill('SIGTERM');
  const first = await start();
  await expect.poll(() => receiver.received.length).toBe(2);
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  await start();
  await expect.poll(() => receiver.received.length).toBe(4);
  expect(receiver.received.map(({ body }) => body.data['resource_id'] as number)).toEqual(ids);
});

const script = `
  import { Resolver } from 'node:dns/promises';
  import { post } from './src/plugins/delivery/webhooks/attempt.ts';
  Object.assign(Resolver.prototype, { resolve4: async () => ['127.0.0.1'], resolve6: async () => [] });
  const options = { headers: {}, body: '{}', timeoutMs: 5000, policy: { allow: ['127.0.0.1'] } };
  const results = [];
  for (const name of ['hooks.invalid', 'other.invalid', '127.0.0.1'])
    results.push(await post('https://' + name + ':' + process.env.RECEIVER, options));
  console.log(JSON.stringify(results));
`;

test.skipIf(!succeeds('openssl version'))('https goes to the checked address, and its name is verified', async () => {
  const folder = temporaryFolder();
  const authority = createAuthority(folder, 'authority');
  const { certificate, key } = createCertificate(folder, 'receiver', authority, 'DNS:hooks.invalid');
  let received = 0;
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (_request, response) => {
    received += 1;
    response.writeHead(204).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const RECEIVER = String((server.address() as AddressInfo).port);
  const run = async (more: NodeJS.ProcessEnv) => {
    const env = { PATH: process.env['PATH'], RECEIVER, ...more };
    const args = ['--import', 'tsx', '--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return JSON.parse(stdout) as Record<string, unknown>[];
  };
  const wrongName = { error: expect.stringMatching(/does not match certificate's altnames/) as string };
  // No DNS knows the name.
  expect(await run({ NODE_EXTRA_CA_CERTS: authority.certificate })).toEqual([{ status: 204 }, wrongName, wrongName]);
  expect(received).toBe(1);
  const unknown = await run({});
  expect(unknown[0]).toEqual({ error: expect.stringMatching(/certificate/) as string });
  expect(received).toBe(1);
});
