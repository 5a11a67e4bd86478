import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { execute } from '../../support/booking.ts';
import {
  createTag,
  createWebhook,
  isSignedBy,
  openWebhookTestApp,
  startReceiver,
  startWebhookWorker,
} from '../../support/webhooks.ts';

test('each message is signed by the secret, and during a rotation by the former one too', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver();
  const { id, secret: first } = await createWebhook(me, { url: receiver.url });
  startWebhookWorker(testApp);
  const nextMessage = async () => {
    const { length } = receiver.received;
    await createTag(me, `Tag ${length}`);
    await expect.poll(() => receiver.received.length).toBe(length + 1);
    return receiver.received.at(-1)!;
  };
  const rotate = async () => {
    const response = await me.post(`/v2/webhooks/${id}/rotate`);
    expect(response.status).toBe(200);
    return response.json<{ secret: string; previous_secret_expires_at: string }>();
  };
  const signers = async (...secrets: string[]) => {
    const message = await nextMessage();
    return secrets.map((secret) => isSignedBy(secret, message));
  };

  const message = await nextMessage();
  expect(isSignedBy(first, message)).toBe(true);
  // The library agrees.
  expect(new Webhook(first).verify(message.text, message.headers as Record<string, string>)).toEqual(message.body);
  // Controls: another body, id or time is not signed.
  expect(isSignedBy(first, { ...message, text: message.text.replace('tag', 'Tag') })).toBe(false);
  for (const name of ['webhook-id', 'webhook-timestamp'])
    expect(isSignedBy(first, { ...message, headers: { ...message.headers, [name]: '1' } })).toBe(false);

  const { secret: second, previous_secret_expires_at: expires } = await rotate();
  expect(second).not.toBe(first);
  expect((Date.parse(expires) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
  expect(await signers(first, second)).toEqual([true, true]);
  const { secret: third } = await rotate();
  expect(await signers(first, second, third)).toEqual([false, true, true]);

  const expired = `update webhooks set previous_secret_expires_at = now() where id = ${id}`;
  await execute(testApp.name, expired);
  expect(await signers(first, second, third)).toEqual([false, false, true]);
  expect(String(receiver.received.at(-1)!.headers['webhook-signature'])).toMatch(/^v1,[\w+/]{43}=$/);
});

test('a webhook that is shown has no secret', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const { id, secret } = await createWebhook(me, { url: 'http://127.0.0.1:4000/' });
  const { secret: rotated } = (await me.post(`/v2/webhooks/${id}/rotate`)).json<{ secret: string }>();
  const urls = ['/v2/webhooks', `/v2/webhooks/${id}`, `/v2/webhooks/${id}/deliveries`];
  const texts = await Promise.all(urls.map(async (url) => (await me.get(url)).text));
  texts.push((await me.put(`/v2/webhooks/${id}`, { description: 'x' })).text);
  texts.push((await me.request('DELETE')(`/v2/webhooks/${id}`)).text);
  for (const text of texts) {
    expect(text).not.toContain('whsec_');
    for (const one of [secret, rotated]) expect(text).not.toContain(one.slice(6));
  }
});
