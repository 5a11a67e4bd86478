import { expect, test } from 'vitest';
import { createTitledProvider } from '../../../src/domains/school/schools/service.ts';
import { createUser, write } from '../../support/orders.ts';
import { createWebhook, openWebhookTestApp, startReceiver, startWebhookWorker } from '../../support/webhooks.ts';

async function start() {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver();
  await createWebhook(me, { url: receiver.url });
  startWebhookWorker(testApp);
  return { testApp, me, receiver };
}

test('an item of more than 1,000,000 characters is left out', async () => {
  const { me, receiver } = await start();
  const { id } = (await me.post('/v2/instructors', { firstname: 'A', lastname: 'B' })).json<{ id: number }>();
  await expect.poll(() => receiver.received.length).toBe(1);
  const around = (await me.get(`/v2/instructors/${id}`)).text.length;
  for (const [n, length] of [1_000_000, 1_000_001].entries()) {
    const set = `description = repeat('ø', ${length - around})`;
    await write(me, (tx, now) => tx.execute(`update instructors set ${set}, updated_at = '${now}' where id = ${id}`));
    await expect.poll(() => receiver.received.length).toBe(n + 2);
  }
  const [largest, larger] = receiver.received.slice(1).map(({ body }) => body);
  expect(JSON.stringify(largest!.data['item'])).toHaveLength(1_000_000);
  expect(larger).toMatchObject({ type: 'instructor.updated' });
  expect(larger!.data).toEqual({ id: expect.any(Number) as number, resource: 'instructor', resource_id: id });
});

test('a new sub-school is left out, and the school itself is not', async () => {
  const { testApp, me, receiver } = await start();
  const { providerId } = await createTitledProvider(testApp.database, 'Sub-school', me.id);
  const set = `title = 'Renamed'`;
  await write(me, (tx, now) => tx.execute(`update providers set ${set}, updated_at = '${now}' where id = ${me.id}`));
  await expect.poll(() => receiver.types()).toEqual(['school.created', 'school.updated']);
  const [created, updated] = receiver.received.map(({ body }) => body.data);
  expect(created).toEqual({ id: expect.any(Number) as number, resource: 'school', resource_id: providerId });
  expect(updated).toMatchObject({ resource_id: me.id, item: { title: 'Renamed' } });
});

test('a merge has the id of the one that stays, and no item', async () => {
  const { me, receiver } = await start();
  const [from, into] = [await createUser(me), await createUser(me)];
  expect((await me.post(`/v2/course-users/${from}/merge`, { into })).status).toBe(200);
  await expect.poll(() => receiver.types()).toEqual(['courseuser.created', 'courseuser.created', 'courseuser.merged']);
  const [created, , merged] = receiver.received.map(({ body }) => body.data);
  expect(created).not.toHaveProperty('into');
  const id = expect.any(Number) as number;
  expect(merged).toEqual({ id, resource: 'courseuser', resource_id: from, into, item: null });
});

test('an erasure has no item', async () => {
  const { me, receiver } = await start();
  const id = await createUser(me, { firstname: 'Kari' });
  expect((await me.post(`/v2/course-users/${id}/erase`, {})).status).toBe(200);
  await expect.poll(() => receiver.types()).toEqual(['courseuser.created', 'courseuser.erased']);
  expect(receiver.received[1]!.body.data).toMatchObject({ resource: 'courseuser', resource_id: id, item: null });
});
