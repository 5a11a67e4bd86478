import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { closeProvider, openProvider } from '../../../src/resources/schools/provider-service.ts';
import { execute } from '../../support/booking.ts';
import {
  attemptsOf,
  createTag,
  createWebhook,
  openWebhookTestApp,
  startReceiver,
  startWebhookWorker,
} from '../../support/webhooks.ts';

const stateOf = async (me: { get(url: string): Promise<{ json<T>(): T }> }, id: number) =>
  (await me.get(`/v2/webhooks/${id}`)).json<Record<string, unknown>>();

test('a failed message is repeated with the same id before the next one is sent', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver((_message, n) => (n <= 2 ? 500 : 204));
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await createTag(me, 'Two');
  startWebhookWorker(testApp, { retries: [0.1, 0.3] });
  await expect.poll(() => receiver.received.length).toBe(4);
  const [first, second, third, fourth] = receiver.received;
  expect([second!.id, third!.id]).toEqual([first!.id, first!.id]);
  expect(fourth!.id).not.toBe(first!.id);
  expect(second!.at - first!.at).toBeGreaterThanOrEqual(95);
  expect(third!.at - second!.at).toBeGreaterThanOrEqual(295);
  await expect.poll(async () => (await attemptsOf(me, id)).length).toBe(4);
  const attempts = await attemptsOf(me, id);
  expect(attempts.map(({ status_code }) => status_code as number)).toEqual([204, 204, 500, 500]);
  expect(attempts[3]).toMatchObject({ type: 'tag.created', error: 'the endpoint answered 500' });
  expect(await stateOf(me, id)).toMatchObject({ failing_since: null, next_attempt_at: null });
});

test.each([301, 302, 307, 308])('a redirect (%s) is a failure and is not followed', async (status) => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const target = await startReceiver();
  const receiver = await startReceiver((_message, _n, response) => {
    response.writeHead(status, { location: target.url }).end();
  });
  const { id } = await createWebhook(me, { url: receiver.url });
  expect((await me.post(`/v2/webhooks/${id}/test`)).json()).toMatchObject({
    status_code: status,
    error: `the endpoint answered ${status}`,
  });
  expect(target.received).toEqual([]);
});

test('at most 64 kB of an answer are read, and its status counts', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  let written = 0;
  const receiver = await startReceiver(async (_message, _n, response) => {
    response.writeHead(200);
    // Slowly, so that little is in buffers of the kernel.
    while (!response.destroyed && written < 10_000_000) {
      response.write(Buffer.alloc(8_192));
      written += 8_192;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  const { id } = await createWebhook(me, { url: receiver.url });
  const attempt = (await me.post(`/v2/webhooks/${id}/test`)).json();
  expect(attempt).toMatchObject({ status_code: 200, error: null });
  await expect.poll(() => written).toBeGreaterThan(60_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(written).toBeLessThan(65_536 + 10 * 8_192);
});

test.each([
  ['does not end', () => undefined],
  ['is cut off', (response: ServerResponse) => response.destroy()],
])('an answer that %s counts by its status', async (_, end) => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  let closed = 0;
  const receiver = await startReceiver((_message, n, response) => {
    response.on('close', () => (closed += 1));
    if (n > 1) return 204;
    response.writeHead(200, { 'content-length': '50' }).write('abc');
    setTimeout(() => end(response), 50);
    return undefined;
  });
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await createTag(me, 'Two');
  startWebhookWorker(testApp, { attemptTimeoutMs: 2_000 });
  await expect.poll(() => receiver.types()).toEqual(['tag.created', 'tag.created']);
  await expect.poll(async () => (await attemptsOf(me, id)).map(({ error }) => error as unknown)).toEqual([null, null]);
  expect(receiver.received[1]!.body.data['item']).toMatchObject({ title: 'Two' });
  // Its connection is closed.
  await expect.poll(() => closed).toBe(2);
});

test('an endpoint that does not answer fails after the time limit', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver((_message, n) => (n > 1 ? 204 : undefined));
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  startWebhookWorker(testApp, { attemptTimeoutMs: 300 });
  await expect.poll(async () => (await attemptsOf(me, id)).length).toBe(2);
  const [second, first] = await attemptsOf(me, id);
  expect(first).toMatchObject({ status_code: null, error: 'no response within 0.3 s' });
  expect(second).toMatchObject({ status_code: 204, message_id: first!['message_id'] as string });
});

test('a message that cannot be built is a failed attempt, and sent when it can', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver();
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await execute(testApp.name, 'alter table tags rename column title to name');
  const { log } = startWebhookWorker(testApp);
  await expect.poll(async () => (await attemptsOf(me, id)).length).toBeGreaterThanOrEqual(2);
  expect((await attemptsOf(me, id))[0]).toMatchObject({
    ...{ type: 'tag.created', status_code: null, error: 'the message could not be built' },
  });
  expect((await stateOf(me, id))['failing_since']).not.toBeNull();
  expect(log.join('\n')).toMatch(/error: Message evt_\d+_\d+ of webhook \d+ could not be built: /);
  await execute(testApp.name, 'alter table tags rename column name to title');
  await expect.poll(() => receiver.types()).toEqual(['tag.created']);
});

test.each([
  ['seconds', () => '1'],
  ['a date', () => new Date(Date.now() + 2_000).toUTCString()],
])('Retry-After in %s postpones the next attempt', async (_, retryAfter) => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver((_message, n, response) => {
    if (n > 2) return 204;
    response.writeHead(n === 1 ? 429 : 503, { 'retry-after': retryAfter() }).end();
    return undefined;
  });
  await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  startWebhookWorker(testApp);
  await expect.poll(() => receiver.received.length).toBe(3);
  const times = receiver.received.map(({ at }) => at);
  // A date has whole seconds.
  for (const n of [1, 2]) expect(times[n]! - times[n - 1]!).toBeGreaterThanOrEqual(900);
});

test('after the last try an endpoint is disabled, and continues where it stopped when it is switched on', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  let isDown = true;
  const receiver = await startReceiver(() => (isDown ? 500 : 204));
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await createTag(me, 'Two');
  startWebhookWorker(testApp, { giveUpAfter: 1 });
  await expect.poll(async () => (await stateOf(me, id))['is_active']).toBe(false);
  const state = await stateOf(me, id);
  expect(state).toMatchObject({ disabled_reason: 'failing', next_attempt_at: null });
  expect(Date.parse(String(state['disabled_at']))).toBeGreaterThanOrEqual(Date.parse(String(state['failing_since'])));
  const before = receiver.received.length;
  isDown = false;
  await createTag(me, 'Three');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(receiver.received.length).toBe(before);

  const started = (await me.put(`/v2/webhooks/${id}`, { is_active: true })).json();
  expect(started).toMatchObject({ is_active: true, disabled_at: null, disabled_reason: null, failing_since: null });
  await expect.poll(() => receiver.received.length).toBe(before + 3);
  const items = receiver.received.slice(before).map(({ body }) => body.data['item'] as { title: string });
  expect(items.map(({ title }) => title)).toEqual(['One', 'Two', 'Three']);
});

test('410 disables an endpoint at once', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver(() => 410);
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  startWebhookWorker(testApp);
  await expect.poll(async () => (await stateOf(me, id))['disabled_reason']).toBe('gone');
  await expect.poll(async () => (await attemptsOf(me, id)).length).toBe(1);
  expect(receiver.received).toHaveLength(1);
});

test('another address is called at once, whatever an attempt in flight to the former one returns', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const next = await startReceiver();
  const former = await startReceiver(async () => {
    await me.put(`/v2/webhooks/${id}`, { url: next.url });
    return 410;
  });
  const { id } = await createWebhook(me, { url: former.url });
  await createTag(me, 'One');
  startWebhookWorker(testApp, { retries: [60] });
  await expect.poll(() => next.types()).toEqual(['tag.created']);
  expect(next.received[0]!.id).toBe(former.received[0]!.id);
  expect(await stateOf(me, id)).toMatchObject({ is_active: true, disabled_reason: null });
});

test('a failing webhook that is switched on is tried at once', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver((_message, n) => (n === 1 ? 500 : 204));
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  startWebhookWorker(testApp, { retries: [60] });
  await expect.poll(async () => (await stateOf(me, id))['failing_since']).not.toBeNull();
  const { failing_since } = (await me.put(`/v2/webhooks/${id}`, { is_active: true })).json();
  expect(failing_since).toBeNull();
  await expect.poll(() => receiver.received.length).toBe(2);
});

test('the time while a school was closed is no failure of its webhooks', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver(() => 500);
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await closeProvider(testApp.database, me.id);
  await execute(testApp.name, `update webhooks set attempts = 3, failing_since = now() - interval '6 days'`);
  await openProvider(testApp.database, me.id);
  startWebhookWorker(testApp, { giveUpAfter: 86_400, retries: [60] });
  await expect.poll(() => receiver.received.length).toBe(1);
  await expect.poll(async () => (await attemptsOf(me, id)).length).toBe(1);
  expect((await stateOf(me, id))['is_active']).toBe(true);
});
