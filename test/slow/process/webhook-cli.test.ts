import { expect, inject, test } from 'vitest';
import { databaseUrl, runCli } from '../../support/processes.ts';
import { sharedTestApp } from '../../support/test-app.ts';
import { startReceiver } from '../../support/webhooks.ts';

const testApp = await sharedTestApp();
const env = { DATABASE_URL: databaseUrl(inject('shared')), WEBHOOK_ALLOW: '127.0.0.1' };

test('webhooks are created, changed, tested, rotated, listed and deleted', async () => {
  const me = await testApp.createProvider();
  const receiver = await startReceiver((_message, n) => (n === 1 ? 204 : 500));
  const run = (...args: string[]) => runCli(['webhook', ...args, '--provider', String(me.id)], env);
  const created = (await run('create', '--url', receiver.url, '--types', 'tag.created', '--json')).json();
  expect(created).toMatchObject({ url: receiver.url, types: ['tag.created'], is_active: true });
  expect(created.secret).toMatch(/^whsec_/);
  const id = String(created.id);

  expect((await run('test', id)).stdout).toMatch(/^The endpoint answered 204 in \d+ ms\n$/);
  expect(receiver.types()).toEqual(['webhook.test']);
  const failed = await run('test', id);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('the endpoint answered 500')]);
  expect((await run('deliveries', id, '--json')).json()).toHaveLength(2);
  expect((await run('deliveries', id)).stdout).toContain('webhook.test');

  expect((await run('rotate', id)).stdout).toMatch(new RegExp(`^Webhook ${id}: whsec_`));
  const changes = ['--types', 'all', '--payload', 'thin', '--description', 'CRM', '--deactivate'];
  expect((await run('update', id, ...changes)).stdout).toMatch(/^is_active +false$/m);
  const fields = { types: null, payload: 'thin', description: 'CRM', is_active: false };
  expect((await run('list', '--json')).json()).toEqual([expect.objectContaining(fields)]);
  const list = await run('list');
  expect([list.stdout.includes('inactive'), list.stdout.includes('whsec_')]).toEqual([true, false]);
  expect((await run('update', id, '--activate')).stdout).toMatch(/^is_active +true$/m);
  expect((await run('get', id, '--json')).json()).toMatchObject({ id: created.id, is_active: true });
  const off = (await run('create', '--url', receiver.url, '--deactivate', '--json')).json();
  expect(off['is_active']).toBe(false);
  expect((await run('resync', id)).stdout).toBe('1 webhook(s) get a resync of each resource\n');
  expect((await run('resync')).stdout).toBe('2 webhook(s) get a resync of each resource\n');
  for (const one of [id, String(off.id)]) expect((await run('delete', one)).code).toBe(0);
  expect((await run('list')).stdout).toBe('No webhooks\n');
});

test.each([
  [['create', '--url', 'http://127.0.0.2/'], 1, 'Its host has no public address'],
  [['create', '--url', 'ftp://x.example'], 2, 'It must be an http or https address.'],
  [['create', '--url', 'http://127.0.0.1', '--types', 'tag.burnt'], 2, "There is no type 'tag.burnt'; the types are "],
  [['create', '--url', 'http://127.0.0.1', '--payload', 'thick'], 2, 'It must be full or thin.'],
  [['rotate', '999999'], 1, 'Webhook not found'],
] as const)('webhook %j ends with %s', async (args, code, text) => {
  const me = await testApp.createProvider();
  const result = await runCli(['webhook', ...args, '--provider', String(me.id)], env);
  expect([result.code, result.stderr]).toEqual([code, expect.stringContaining(text)]);
});
