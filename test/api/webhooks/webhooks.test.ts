import { Resolver } from 'node:dns/promises';
import { expect, test, vi } from 'vitest';
import { closeProvider, createContext, createTitledProvider } from '../../../src/domains/school/schools/service.ts';
import { createKey } from '../../../src/domains/school/auth/key-service.ts';
import { testWebhook } from '../../../src/plugins/delivery/webhooks/service.ts';
import { createGate } from '../../support/gate.ts';
import { settings, sharedTestApp } from '../../support/test-app.ts';
import { attemptsOf, createWebhook, openWebhookTestApp, startReceiver } from '../../support/webhooks.ts';

const { createProvider, database } = await sharedTestApp();
const url = 'http://127.0.0.1:4000/hooks';

test('a new webhook sends all changes, is active, and shows its secret once', async () => {
  const me = await createProvider();
  const response = await me.post('/v2/webhooks', { url });
  const { secret, ...created } = response.json<{ secret: string; id: number }>();
  expect(response.status).toBe(201);
  expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(created).toMatchObject({ url, types: null, description: '', payload: 'full', is_active: true });
  expect(created).toMatchObject({ disabled_at: null, disabled_reason: null, failing_since: null });

  const shown = (await me.get(`/v2/webhooks/${created.id}`)).json();
  expect(shown).toEqual(created);
  expect((await me.get('/v2/webhooks')).json()).toEqual([created]);
});

test('the fields of a webhook can be set, changed and emptied', async () => {
  const me = await createProvider();
  const fields = {
    url,
    types: ['tag.created', 'order.updated'],
    description: 'CRM',
    payload: 'thin',
    is_active: false,
  };
  const { id, secret } = await createWebhook(me, fields);
  expect((await me.get(`/v2/webhooks/${id}`)).json()).toMatchObject(fields);

  const changes = { url: `${url}/2`, types: ['tag.created'], payload: 'full', is_active: true };
  expect((await me.put(`/v2/webhooks/${id}`, changes)).json()).toMatchObject({ ...changes, description: 'CRM' });
  const emptied = (await me.put(`/v2/webhooks/${id}`, { types: '', description: '' })).json();
  expect(emptied).toMatchObject({ types: null, description: '', payload: 'full', url: `${url}/2` });
  expect(emptied).not.toHaveProperty('secret');
  expect(secret).toBeDefined();
});

test('a deleted webhook is gone with its log', async () => {
  const me = await createProvider();
  const receiver = await startReceiver();
  const { id } = await createWebhook(me, { url: receiver.url });
  expect((await me.post(`/v2/webhooks/${id}/test`)).status).toBe(200);
  expect((await me.request('DELETE')(`/v2/webhooks/${id}`)).json()).toMatchObject({ id });
  for (const path of ['', '/deliveries'])
    expect((await me.get(`/v2/webhooks/${id}${path}`)).json()).toEqual({ error: 'Webhook not found' });
  expect((await me.request('DELETE')(`/v2/webhooks/${id}`)).status).toBe(404);
});

test.each([
  ['no url', {}, 'Missing field(s): url'],
  ['another scheme', { url: 'ftp://127.0.0.1/x' }, 'Field(s) not valid: url'],
  ['a user', { url: 'http://me@127.0.0.1/x' }, 'Field(s) not valid: url'],
  ['a password', { url: 'http://me:secret@127.0.0.1/x' }, 'Field(s) not valid: url'],
  ['a port below 1024', { url: 'http://127.0.0.1:22/' }, 'Field(s) not valid: url'],
  ['port 0', { url: 'http://127.0.0.1:0/' }, 'Field(s) not valid: url'],
  [
    'a private address',
    { url: 'http://10.0.0.1/' },
    'Field(s) not valid: url. Its host has no public address, and WEBHOOK_ALLOW does not have 10.0.0.1',
  ],
  ['an unknown name', { url: 'http://unknown.test/' }, 'Field(s) not valid: url. Its host has no public address'],
  ['an unknown type', { url, types: ['tag.created', 'tag.burnt'] }, 'Field(s) not valid: types'],
  ['an unknown payload', { url, payload: 'thick' }, 'Field(s) not valid: payload'],
  ['a long description', { url, description: 'x'.repeat(256) }, 'Field(s) not valid: description'],
])('%s is refused at creation and in an update', async (_, fields, error) => {
  const me = await createProvider();
  expect((await me.post('/v2/webhooks', fields)).json()).toEqual({ error });
  if (!('url' in fields)) return;
  const { id } = await createWebhook(me, { url });
  const response = await me.put(`/v2/webhooks/${id}`, fields);
  expect([response.status, response.json()]).toEqual([400, { error }]);
});

test.each([80, 443, 1024, 65_535])('port %s may be called', async (port) => {
  const me = await createProvider();
  expect((await me.post('/v2/webhooks', { url: `https://127.0.0.1:${port}/` })).status).toBe(201);
});

test('a school has at most 20 webhooks', async () => {
  const me = await createProvider();
  for (let n = 1; n <= 20; n += 1) await createWebhook(me, { url });
  const response = await me.post('/v2/webhooks', { url });
  expect([response.status, response.json()]).toEqual([400, { error: 'A school has at most 20 webhooks' }]);
});

test('a test message is sent at once, also by an inactive webhook, and is logged', async () => {
  const me = await createProvider();
  const receiver = await startReceiver((_message, n) => (n === 1 ? 204 : 500));
  const { id } = await createWebhook(me, { url: receiver.url, is_active: false });
  const sent = (await me.post(`/v2/webhooks/${id}/test`)).json<{ message_id: string }>();
  expect(sent).toMatchObject({ type: 'webhook.test', status_code: 204, error: null });
  expect(receiver.received).toMatchObject([{ id: sent.message_id, body: { data: { webhook_id: id } } }]);
  const failed = (await me.post(`/v2/webhooks/${id}/test`)).json();
  expect(failed).toMatchObject({ status_code: 500, error: 'the endpoint answered 500' });
  expect(await attemptsOf(me, id)).toEqual([failed, sent]);
  expect((await me.get(`/v2/webhooks/${id}`)).json()).toMatchObject({ failing_since: null, is_active: false });
});

test('a test message has the traceparent of its request if that is valid', async () => {
  const me = await createProvider();
  const receiver = await startReceiver();
  const { id } = await createWebhook(me, { url: receiver.url });
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  for (const headers of [{ traceparent }, { traceparent: 'secret' }, undefined])
    await me.post(`/v2/webhooks/${id}/test`, undefined, headers);
  expect(receiver.received.map(({ headers }) => headers['traceparent'])).toEqual([traceparent, undefined, undefined]);
});

test('a test of a webhook that sends another message is sent at once, whatever its host gets', async () => {
  const me = await createProvider();
  const receiver = await startReceiver();
  const ids: number[] = [];
  for (let n = 1; n <= 3; n += 1) ids.push((await createWebhook(me, { url: receiver.url })).id);
  await database.pool.query({
    text: `update webhooks set leased_until = now() + interval '30 seconds', leased_by = 'another' where id = any($1)`,
    values: [ids],
  });
  expect((await me.post(`/v2/webhooks/${ids[0]!}/test`)).json()).toMatchObject({ status_code: 204 });
  const { rows } = await database.pool.query(`select from webhooks where id = $1 and leased_by = 'another'`, [ids[0]]);
  expect(rows).toHaveLength(1);
});

test('a school and its sub-schools run one test at a time, and other schools theirs', async () => {
  const me = await createProvider();
  const { apiKey } = await createTitledProvider(database, `Sub-school of ${me.id}`, me.id);
  const ofKey = { 'x-api-key': apiKey };
  const other = await createProvider();
  let [open, most] = [0, 0];
  const secondIsRefused = createGate();
  const hanging = await startReceiver(async (_message, n) => {
    most = Math.max(most, (open += 1));
    if (n === 1) await secondIsRefused.opened;
    open -= 1;
    return 204;
  });
  const receiver = await startReceiver();
  const { id } = await createWebhook(me, { url: hanging.url });
  const ofSub = (await me.post('/v2/webhooks', { url: hanging.url }, ofKey)).json<{ id: number }>();
  const ofOther = await createWebhook(other, { url: receiver.url });
  const first = me.post(`/v2/webhooks/${id}/test`);
  await expect.poll(() => hanging.received.length).toBe(1);
  expect((await other.post(`/v2/webhooks/${ofOther.id}/test`)).json()).toMatchObject({ status_code: 204 });
  const testOfSub = () => me.post(`/v2/webhooks/${ofSub.id}/test`, undefined, ofKey);
  const second = await testOfSub();
  expect([second.status, second.headers['retry-after']]).toEqual([503, '5']);
  secondIsRefused.open();
  expect((await first).json()).toMatchObject({ status_code: 204 });
  expect((await testOfSub()).json()).toMatchObject({ status_code: 204 });
  expect(most).toBe(1);
});

test('a test whose process has ended holds back others until it expires', async () => {
  const me = await createProvider();
  const receiver = await startReceiver();
  const { id } = await createWebhook(me, { url: receiver.url });
  await database.pool.query(
    `insert into webhook_tests values ($1, 'ended', now() - interval '16 seconds', now() - interval '1 second')`,
    [me.id],
  );
  expect((await me.post(`/v2/webhooks/${id}/test`)).json()).toMatchObject({ status_code: 204 });
  expect((await database.pool.query('select from webhook_tests where provider_id = $1', [me.id])).rows).toEqual([]);
});

test('the log has the last 100 attempts, newest first', async () => {
  const me = await createProvider();
  const receiver = await startReceiver();
  const { id } = await createWebhook(me, { url: receiver.url });
  for (let n = 1; n <= 105; n += 1) await me.post(`/v2/webhooks/${id}/test`);
  const attempts = await attemptsOf(me, id);
  const ids = receiver.received.map((message) => message.id);
  expect(attempts.map(({ message_id }) => message_id as string)).toEqual(ids.slice(5).reverse());
});

test('a test of a closed school says so', async () => {
  const me = await createProvider();
  const { id } = await createWebhook(me, { url });
  await closeProvider(database, me.id);
  const ctx = await createContext(database, settings, me.id);
  await expect(testWebhook(ctx, id, { allow: [] })).rejects.toThrow('The school is closed');
});

test('a look-up that fails just now is no refusal of the name', async () => {
  const noAnswer = Object.assign(new Error('no answer'), { code: 'ETIMEOUT' });
  vi.spyOn(Resolver.prototype, 'resolve4').mockRejectedValue(noAnswer);
  const testApp = await openWebhookTestApp([]);
  const me = await testApp.createProvider();
  const response = await me.post('/v2/webhooks', { url: 'https://hooks.example/' });
  expect([response.status, response.json()]).toEqual([
    503,
    { error: expect.stringMatching(/^The name of the host cannot be looked up just now \(request /) as string },
  ]);
});

test('a refused name of this machine is answered with the address to allow', async () => {
  const testApp = await openWebhookTestApp(['127.0.0.1']);
  const me = await testApp.createProvider();
  const response = await me.post('/v2/webhooks', { url: 'http://localhost:4250/x' });
  expect([response.status, response.json()]).toEqual([
    400,
    { error: 'Field(s) not valid: url. Its host has no public address, and WEBHOOK_ALLOW does not have ::1' },
  ]);
});

test('a key that only reads gets addresses without their query', async () => {
  const me = await createProvider();
  const { id } = await createWebhook(me, { url: `${url}?token=hidden` });
  const { apiKey } = await createKey(await me.ctx(), { profile: 'read' });
  for (const path of ['', `/${id}`]) {
    const shown = await me.get(`/v2/webhooks${path}`, { 'x-api-key': apiKey });
    expect([shown.status, shown.text.includes(`"url":"${url}"`), shown.text.includes('hidden')]).toEqual([
      200,
      true,
      false,
    ]);
    expect((await me.get(`/v2/webhooks${path}`)).text).toContain(`"url":"${url}?token=hidden"`);
  }
});

test.each([
  ['all types over http', { url }, true],
  ['a type with personal data', { url, types: ['order.created', 'tag.created'] }, true],
  ['types without personal data', { url, types: ['tag.created'] }, false],
  ['ids alone', { url, payload: 'thin' }, false],
  ['https', { url: 'https://127.0.0.1:4000/' }, false],
])('a webhook for %s is created with or without a warning', async (_name, fields, isWarned) => {
  const me = await createProvider();
  const created = await me.post('/v2/webhooks', fields);
  const text = 'Messages with personal data are sent unencrypted: use https, or the payload thin';
  const expected = isWarned ? text : undefined;
  expect([created.status, created.headers['x-warning']]).toEqual([201, expected]);
  const path = `/v2/webhooks/${created.json<{ id: number }>().id}`;
  expect((await me.put(path, { description: 'CRM' })).headers['x-warning']).toBe(expected);
});
