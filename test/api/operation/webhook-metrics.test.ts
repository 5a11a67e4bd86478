import { expect, test } from 'vitest';
import { openTestApp } from '../../support/test-app.ts';
import {
  createTag,
  createWebhook,
  openWebhookTestApp,
  startReceiver,
  startWebhookWorker,
} from '../../support/webhooks.ts';
import { createMeasured } from '../../support/metrics.ts';

test('attempts, webhooks by state and the age of the oldest event are measured', async () => {
  const testApp = await openWebhookTestApp();
  const { metrics, parts } = await createMeasured({ database: testApp.database });
  const measured = await openTestApp(testApp.database, { parts });
  const read = async (name: string, label: string) => {
    const line = (await metrics.render()).split('\n').find((one) => one.startsWith(`booking_${name}{${label}} `));
    return line === undefined ? undefined : Number(line.split(' ')[1]);
  };
  const me = await testApp.createProvider();
  const good = await startReceiver();
  const bad = await startReceiver(() => 500);
  await createWebhook(me, { url: good.url });
  await createWebhook(me, { url: bad.url });
  await createWebhook(me, { url: good.url, is_active: false });
  await createTag(me, 'One');
  expect(await read('webhooks', 'state="working"')).toBe(2);
  expect(await read('webhook_oldest_seconds', 'state="working"')).toBeGreaterThan(0);
  startWebhookWorker(testApp);
  await expect.poll(() => read('webhooks', 'state="failing"')).toBe(1);
  await expect.poll(() => read('webhook_attempts_total', 'result="delivered"')).toBe(1);
  expect(await read('webhook_attempts_total', 'result="failed"')).toBeGreaterThan(0);
  await expect.poll(() => read('webhook_oldest_seconds', 'state="working"')).toBe(0);
  expect(await read('webhook_oldest_seconds', 'state="failing"')).toBeGreaterThan(0);
  await testApp.database.pool.query(
    `update webhooks set is_active = false, disabled_at = now(), disabled_reason = 'gone' where failing_since is not null`,
  );
  expect(await read('webhooks', 'state="disabled"')).toBe(1);
  expect(await read('webhook_oldest_seconds', 'state="failing"')).toBe(0);
  await measured.app.close();
});
