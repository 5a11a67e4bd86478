import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { closeProvider, openProvider } from '../../../src/domains/school/schools/service.ts';
import { execute } from '../../support/booking.ts';
import type { TestApp } from '../../support/test-app.ts';
import {
  attemptsOf,
  countStatements,
  createTag,
  createWebhook,
  openWebhookTestApp,
  startReceiver,
  startWebhookWorker,
  waitForClaim,
} from '../../support/webhooks.ts';

const stateOf = async (me: { get(url: string): Promise<{ json<T>(): T }> }, id: number) =>
  (await me.get(`/v2/webhooks/${id}`)).json<Record<string, unknown>>();

/** Seconds from the webhook's latest attempt to its next one, which is made due then. */
async function endPause({ database }: Pick<TestApp, 'database'>, id: number) {
  const { rows } = await database.pool.query<{ seconds: number }>(
    `select extract(epoch from w.due_at - d.at)::float8 - d.duration_ms / 1000.0 as seconds
      from webhooks w join webhook_deliveries d
        on d.provider_id = w.provider_id and d.webhook_id = w.id and d.number = w.attempt_count
      where w.id = $1`,
    [id],
  );
  await database.pool.query('update webhooks set due_at = now() where id = $1', [id]);
  return rows[0]!.seconds;
}

test('a failed message is repeated with the same id before the next one is sent', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver((_message, n) => (n <= 2 ? 500 : 204));
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await createTag(me, 'Two');
  startWebhookWorker(testApp, { retries: [60, 300] });
  for (const [failures, pause] of [60, 300].entries()) {
    await expect.poll(async () => (await attemptsOf(me, id)).length).toBe(failures + 1);
    expect(await endPause(testApp, id)).toBeCloseTo(pause);
  }
  await expect.poll(() => receiver.received.length).toBe(4);
  const [first, second, third, fourth] = receiver.received;
  expect([second!.id, third!.id]).toEqual([first!.id, first!.id]);
  expect(fourth!.id).not.toBe(first!.id);
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
  const receiver = await startReceiver((_message, _n, response) => {
    response.writeHead(200).end(Buffer.alloc(10_000_000));
  });
  const toReceiver: Socket[] = [];
  const note = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    socket.once('connect', () => socket.remotePort === receiver.port && toReceiver.push(socket));
  };
  subscribe('net.client.socket', note);
  onTestFinished(() => void unsubscribe('net.client.socket', note));
  const { id } = await createWebhook(me, { url: receiver.url });
  const attempt = (await me.post(`/v2/webhooks/${id}/test`)).json();
  expect(attempt).toMatchObject({ status_code: 200, error: null });
  expect(toReceiver).toHaveLength(1);
  await expect.poll(() => toReceiver[0]!.closed).toBe(true);
  // With a last read, of at most 64 kB.
  expect(toReceiver[0]!.bytesRead).toBeLessThanOrEqual(2 * 65_536);
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
    response.writeHead(200, { 'content-length': '50' }).write('abc', () => end(response));
    return undefined;
  });
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await createTag(me, 'Two');
  startWebhookWorker(testApp);
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
  startWebhookWorker(testApp, { attemptTimeoutMs: 1_000 });
  await expect.poll(async () => (await attemptsOf(me, id))[0]?.['status_code']).toBe(204);
  const attempts = await attemptsOf(me, id);
  const [last, first] = [attempts[0]!, attempts.at(-1)!];
  expect(first).toMatchObject({ status_code: null, error: 'no response within 1 s' });
  expect(last).toMatchObject({ message_id: first['message_id'] as string });
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
  ['seconds', () => '43200'],
  ['a date', () => new Date(Date.now() + 43_200_000).toUTCString()],
])('Retry-After in %s postpones the next attempt', async (_, retryAfter) => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver((_message, n, response) => {
    if (n > 2) return 204;
    response.writeHead(n === 1 ? 429 : 503, { 'retry-after': retryAfter() }).end();
    return undefined;
  });
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  startWebhookWorker(testApp);
  for (const failures of [1, 2]) {
    await expect.poll(async () => (await attemptsOf(me, id)).length).toBe(failures);
    // A date has whole seconds, and is read a moment later.
    expect(await endPause(testApp, id)).toBeCloseTo(43_200, -3);
  }
  await expect.poll(() => receiver.received.length).toBe(3);
});

test('after the last try an endpoint is disabled, and continues where it stopped when it is switched on', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  let isDown = true;
  const receiver = await startReceiver(() => (isDown ? 500 : 204));
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await createTag(me, 'Two');
  const counted = countStatements(testApp);
  const { stop } = startWebhookWorker(counted, { giveUpAfter: 1 });
  await expect.poll(async () => (await stateOf(me, id))['is_active']).toBe(false);
  const state = await stateOf(me, id);
  expect(state).toMatchObject({ disabled_reason: 'failing', next_attempt_at: null });
  expect(Date.parse(String(state['disabled_at']))).toBeGreaterThanOrEqual(Date.parse(String(state['failing_since'])));
  const before = receiver.received.length;
  isDown = false;
  await createTag(me, 'Three');
  await waitForClaim(counted);
  await stop();
  expect(receiver.received.length).toBe(before);
  startWebhookWorker(testApp);

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
