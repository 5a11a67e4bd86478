import { expect, inject, test } from 'vitest';
import { databaseUrl, runCli } from '../../support/processes.ts';
import { sharedTestApp } from '../../support/test-app.ts';
import { createWebhook } from '../../support/webhooks.ts';

const testApp = await sharedTestApp();
const env = { DATABASE_URL: databaseUrl(inject('shared')) };

test('webhook resync is for one webhook or for all of the provider', async () => {
  const me = await testApp.createProvider();
  const run = (...args: string[]) => runCli(['webhook', 'resync', ...args, '--provider', String(me.id)], env);
  const url = 'http://127.0.0.1:65535/hooks';
  const { id } = await createWebhook(me, { url });
  await createWebhook(me, { url });
  expect((await run(String(id))).stdout).toBe('1 webhook(s) get a resync of each resource\n');
  expect((await run('--json')).json()).toMatchObject([{ id, url }, { url }]);
  expect(await run('999999')).toMatchObject({ code: 1, stderr: 'error: Webhook not found\n' });
});
