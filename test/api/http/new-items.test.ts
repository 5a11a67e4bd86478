import { expect, test } from 'vitest';
import { getEndpoints } from '../../support/isolation.ts';
import { keyedWrites, type KeyedWrite } from '../../support/keyed-writes.ts';
import { settings, sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;
const webhook: Pick<KeyedWrite, 'route' | 'prepare' | 'readBelow'> = {
  route: 'POST /v2/webhooks',
  prepare: async () => ({ path: '/v2/webhooks', body: { url: 'https://hooks.example/', is_active: false } }),
};
const creates = [...keyedWrites.filter(({ route }) => !/\/(merge|move)$/.test(route)), webhook];

test('each operation with 201 is among the cases, and documents Location', () => {
  const created = getEndpoints(testApp).filter(({ operation }) => '201' in operation.responses!);
  expect(created.map(({ name }) => name).sort()).toEqual(creates.map(({ route }) => route).sort());
  for (const { operation, name } of created) {
    const { headers } = operation.responses!['201'] as { headers: object };
    expect(Object.keys(headers), name).toContain('Location');
  }
});

test.each(creates)('$route has the address of the new item', async ({ prepare, readBelow }) => {
  const me = await createProvider();
  const { path, body } = await prepare(me);
  // Not of the client's spelling.
  const { status, headers, text } = await me.post(`${path}/?`, body, { host: 'elsewhere.example' });
  expect(status, text).toBe(201);
  const location = String(headers['location']);
  expect(location).toMatch(new RegExp(`^${settings.publicUrl}${readBelow ?? path}/[1-9]\\d*$`));
  const read = await me.get(location.slice(settings.publicUrl.length));
  expect(read.status).toBe(200);
  expect(read.text).toMatch(new RegExp(`id":"?${location.split('/').at(-1)}\\b`));
});

test('an item that was found, and an error, have no address', async () => {
  const me = await createProvider();
  const tag = () => me.post('/v2/course-tags', { title: 'Found' });
  const [created, found] = [await tag(), await tag()];
  expect([created.status, found.status, found.headers['location']]).toEqual([201, 200, undefined]);
  expect((await me.post('/v2/course-tags', {})).headers).not.toHaveProperty('location');
});
