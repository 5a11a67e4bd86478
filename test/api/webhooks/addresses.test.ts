import { Resolver } from 'node:dns/promises';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { post } from '../../../src/plugins/delivery/webhooks/attempt.ts';
import {
  attemptsOf,
  createTag,
  createWebhook,
  openWebhookTestApp,
  startWebhookWorker,
} from '../../support/webhooks.ts';

/** Counts connections to a port of this machine, on every address of it. */
async function startListener() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  await new Promise<void>((ready) => server.listen(0, '::', ready));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** Each name has these addresses; returns the number of look-ups. */
function resolveTo(find: (lookup: number) => string[]) {
  let lookups = 0;
  const resolver = Resolver.prototype as { resolve4(host: string): Promise<string[]> };
  vi.spyOn(resolver, 'resolve4').mockImplementation(async () => find((lookups += 1)));
  return () => lookups;
}

/** Hosts by the kind of address; the port of the listener is added. */
const refused = {
  loopback: ['127.0.0.1', '127.0.0.2', '127.255.255.254', '[::1]', '[0:0:0:0:0:0:0:1]'],
  'other spellings of IPv4': [
    '0x7f.0.0.1',
    '0x7f000001',
    '017700000001',
    '2130706433',
    '127.1',
    '0177.0.0.01',
    '127.0.1',
  ],
  unspecified: ['0.0.0.0', '0', '0.1.2.3', '[::]'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '0xc0a80001', '3232235777'],
  'link-local': ['169.254.0.1', '[fe80::1]', '[febf::1]'],
  metadata: [
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
    '168.63.129.16',
  ],
  carrier: ['100.64.0.1', '100.127.255.255'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '[2001:db8::1]', '[3fff::1]'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '[2001:2::1]'],
  multicast: ['224.0.0.1', '239.255.255.255', '[ff02::1]'],
  reserved: ['240.0.0.1', '255.255.255.255', '192.0.0.1', '192.88.99.1', '[100::1]', '[5f00::1]', '[4000::1]'],
  'mapped and embedded IPv4': [
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:8.8.8.8]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::8.8.8.8]',
    '[64:ff9b:1::127.0.0.1]',
    '[2002:7f00:1::]',
    '[2002:808:808::1]',
    '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  ],
  'unique local': ['[fc00::1]', '[fd12:3456:789a::1]', '[fec0::1]'],
  'names of this machine': ['localhost', 'LOCALHOST', 'localhost.', 'db.localhost'],
};
const invalid = ['[fe80::1%25eth0]', '[::1%25lo]', '[fe80::1%eth0]', '127.0.0.1.', '256.0.0.1', '1.2.3.4.5'];

const hosts = [...Object.values(refused).flat(), ...invalid];

test('at least 60 addresses are refused at registration and never connected to', async () => {
  const testApp = await openWebhookTestApp([]);
  const me = await testApp.createProvider();
  const listener = await startListener();
  expect(hosts.length).toBeGreaterThanOrEqual(60);
  const accepted: string[] = [];
  for (const host of hosts) {
    const url = `http://${host}:${listener.port}/`;
    const { status, text } = await me.post('/v2/webhooks', { url });
    if (status !== 400 || !text.startsWith('{"error":"Field(s) not valid: url')) accepted.push(`${host} ${text}`);
  }
  expect(accepted).toEqual([]);
  expect(listener.connections()).toBe(0);
});

test('the same addresses are refused at delivery, and as the address of a name', async () => {
  const listener = await startListener();
  const options = { headers: {}, body: '{}', timeoutMs: 2_000 };
  const reached: string[] = [];
  for (const host of hosts) {
    const direct = await post(`http://${host}:${listener.port}/`, { ...options, policy: { allow: [] } });
    if ('status' in direct) reached.push(host);
    const address = host.replace(/^\[|\]$/g, '');
    resolveTo(() => ['8.8.8.8', address]);
    const named = await post(`http://name.test:${listener.port}/`, { ...options, policy: { allow: [] } });
    expect(named, host).toEqual({ error: 'the host has no public address' });
  }
  expect(reached).toEqual([]);
  expect(listener.connections()).toBe(0);
});

test.each(['8.8.8.8', '[2606:4700::1111]', '1.1.1.1', '172.15.0.1', '100.128.0.1'])('%s is public', async (host) => {
  const testApp = await openWebhookTestApp([]);
  const me = await testApp.createProvider();
  expect((await me.post('/v2/webhooks', { url: `https://${host}/` })).status).toBe(201);
});

test('WEBHOOK_ALLOW opens ranges', async () => {
  const testApp = await openWebhookTestApp(['10.1.0.0/16', '::1', '127.0.0.1']);
  const me = await testApp.createProvider();
  const statusOf = async (host: string) => (await me.post('/v2/webhooks', { url: `http://${host}:4000` })).status;
  const statuses = await Promise.all(['10.1.2.3', '10.2.0.1', '[::1]', '127.0.0.1', '127.0.0.2'].map(statusOf));
  expect(statuses).toEqual([201, 400, 201, 201, 400]);
});

/** A name that first leads to a public address, and from then on to this machine. */
const rebind = () => resolveTo((lookup) => [lookup === 1 ? '8.8.8.8' : '127.0.0.1']);

test('a name that leads to loopback after its registration is not connected to', async () => {
  const listener = await startListener();
  const lookups = rebind();
  const testApp = await openWebhookTestApp([]);
  const me = await testApp.createProvider();
  const { id } = await createWebhook(me, { url: `http://rebind.test:${listener.port}/` });
  await createTag(me, 'One');
  startWebhookWorker(testApp);
  await expect.poll(async () => (await attemptsOf(me, id)).length).toBeGreaterThanOrEqual(2);
  expect((await attemptsOf(me, id))[0]).toMatchObject({ error: 'the host has no public address', status_code: null });
  expect(lookups()).toBeGreaterThanOrEqual(3);
  expect(listener.connections()).toBe(0);
});

test('negative control: with all addresses allowed the connection arrives', async () => {
  const listener = await startListener();
  rebind();
  const testApp = await openWebhookTestApp(['0.0.0.0/0']);
  const me = await testApp.createProvider();
  await createWebhook(me, { url: `http://rebind.test:${listener.port}/` });
  await createTag(me, 'One');
  startWebhookWorker(testApp);
  await expect.poll(() => listener.connections()).toBeGreaterThanOrEqual(1);
});

test('a connection is made to the address that was checked, without a second look-up', async () => {
  const listener = await startListener();
  const lookups = resolveTo(() => ['127.0.0.1']);
  const options = { headers: {}, body: '{}', timeoutMs: 20_000, policy: { allow: ['127.0.0.1'] } };
  expect(await post(`http://no-such-name.invalid:${listener.port}/`, options)).toMatchObject({ status: 200 });
  expect([lookups(), listener.connections()]).toEqual([1, 1]);
});
