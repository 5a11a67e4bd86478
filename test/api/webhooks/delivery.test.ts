import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, onTestFinished, test } from 'vitest';
import { webhookMessages } from '../../../src/plugins/delivery/webhooks/openapi.ts';
import { createContext } from '../../../src/domains/school/schools/service.ts';
import { resyncWebhook } from '../../../src/plugins/delivery/webhooks/service.ts';
import { coreTasks, deleteOld } from '../../../src/database/housekeeping.ts';
import { settings, type Provider, type TestApp } from '../../support/test-app.ts';
import { createGate } from '../../support/gate.ts';
import { createOwner } from '../../support/isolation.ts';
import { execute } from '../../support/booking.ts';
import {
  countStatements,
  createTag,
  createWebhook,
  openWebhookTestApp,
  startReceiver,
  startWebhookWorker,
  waitForClaim,
} from '../../support/webhooks.ts';

test('each change from the creation on arrives once, in order, with its item', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  await createTag(me, 'Before');
  const receiver = await startReceiver();
  await createWebhook(me, { url: receiver.url });
  startWebhookWorker(testApp);
  const { cursor } = (await me.get('/v2/changes')).json<{ cursor: string }>();
  const tagId = await createTag(me, 'Tag');
  for (const course of [1, 2]) {
    const tags = Array.from({ length: 60 }, (_, n) => ({ title: `Tag ${course} ${n}` }));
    await me.course({ tags });
  }
  await createTag(me, 'Last');
  const { items } = (await me.get(`/v2/changes?since=${cursor}&limit=1000`)).json<{ items: { id: number }[] }>();
  expect(items.length).toBeGreaterThan(120);
  await expect.poll(() => receiver.received.length).toBe(items.length);
  expect(receiver.received.map(({ body }) => body.data['id'] as number)).toEqual(items.map(({ id }) => id));
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(items.length);

  const { id, headers, body } = receiver.received[0]!;
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': id });
  expect(id).toMatch(/^evt_\d+_\d+$/);
  expect(body).toEqual({
    type: 'tag.created',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d$/) as string,
    data: {
      id: expect.any(Number) as number,
      resource: 'tag',
      resource_id: tagId,
      item: { id: tagId, title: 'Tag', updated_at: expect.any(String) as string },
    },
  });
});

test('a message has the item as the interface shows it', async () => {
  const testApp = await openWebhookTestApp();
  const receiver = await startReceiver();
  const { me, ids } = await createOwner(testApp);
  await createWebhook(me, { url: receiver.url });
  startWebhookWorker(testApp);
  const tables = ['courses', 'course_dates', 'participants', 'orders', 'customers', 'course_users', 'instructors'];
  const statements = [...tables, 'locations', 'campaigns', 'tags', 'bookings'].map(
    (table) => `update ${table} set updated_at = clock_timestamp() where provider_id = ${me.id};`,
  );
  await execute(
    testApp.name,
    `begin; update provider_state set changed_at = clock_timestamp(), catalog_changed_at = clock_timestamp(),
      dates_changed_at = clock_timestamp(), people_changed_at = clock_timestamp(), money_changed_at = clock_timestamp(),
      school_changed_at = clock_timestamp() where provider_id = ${me.id};
      update provider_state set catalog_changed_at = changed_at, dates_changed_at = changed_at,
        people_changed_at = changed_at, money_changed_at = changed_at, school_changed_at = changed_at
        where provider_id = ${me.id};
      ${statements.join(' ')} update providers set updated_at = clock_timestamp() where id = ${me.id}; commit`,
  );
  await expect.poll(() => receiver.types()).toContain('school.updated');

  const itemOf = (resource: string, id: number) =>
    receiver.received.find(({ body: { data } }) => data['resource'] === resource && data['resource_id'] === id)!.body
      .data['item'] as unknown;
  const shown = async (url: string) => (await me.get(url)).json();
  const listed = async (url: string, id: number) => (await shown(url)).find((one: { id: number }) => one.id === id);
  expect(itemOf('course', ids.course)).toEqual(await shown(`/v2/courses/${ids.course}`));
  expect(itemOf('coursedate', ids.date)).toEqual(await shown(`/v2/courses/${ids.course}/coursedates/${ids.date}`));
  expect(itemOf('participant', ids.participant)).toEqual(await shown(`/v2/participants/${ids.participant}`));
  expect(itemOf('order', ids.order)).toEqual(await shown(`/v2/orders/${ids.order}`));
  expect(itemOf('customer', ids.customer)).toEqual(await shown(`/v2/customers/${ids.customer}`));
  expect(itemOf('courseuser', ids.user)).toEqual(await shown(`/v2/course-users/${ids.user}`));
  expect(itemOf('instructor', ids.instructor)).toEqual(await shown(`/v2/instructors/${ids.instructor}`));
  expect(itemOf('location', ids.location)).toEqual(await listed('/v2/locations', ids.location));
  expect(itemOf('tag', ids.tag)).toEqual(await listed('/v2/course-tags', ids.tag));
  const [campaign] = await shown('/v2/campaigns');
  expect(itemOf('campaign', campaign.id)).toEqual(campaign);
  expect(itemOf('school', me.id)).toEqual((await shown('/v2/schools')).school);
  // The interface does not show a booking by itself.
  expect(itemOf('booking', ids.booking)).toBeUndefined();

  const { schema, examples } = webhookMessages.change.post.requestBody.content['application/json'];
  const validate = formats.default(new Ajv2020({ strict: false })).compile(schema);
  const bodies = [...receiver.received.map(({ body }) => body), ...Object.values(examples).map(({ value }) => value)];
  for (const body of bodies) expect(validate(body), JSON.stringify(validate.errors)).toBe(true);
});

test('a thin message has ids alone, and a deleted item is null', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const [thin, full] = [await startReceiver(), await startReceiver()];
  await createWebhook(me, { url: thin.url, payload: 'thin' });
  await createWebhook(me, { url: full.url });
  const fields = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' };
  await me.post('/v2/instructors', fields);
  const course = await me.course();
  await me.request('DELETE')(`/v2/courses/${course}`);
  startWebhookWorker(testApp);
  await expect.poll(() => full.types()).toEqual(['instructor.created', 'course.created', 'course.deleted']);
  await expect.poll(() => thin.types()).toEqual(full.types());
  const members = thin.received.flatMap(({ body }) => Object.keys(body.data));
  expect(new Set(members)).toEqual(new Set(['id', 'resource', 'resource_id']));
  for (const { text } of thin.received) expect(text).not.toMatch(/Kari|Nordmann|kari@/);
  // At delivery the course exists no more.
  const items = full.received.map(({ body }) => body.data['item'] as unknown);
  expect(items).toEqual([expect.objectContaining({ firstname: 'Kari' }), null, null]);
});

test('only changes of the types arrive, and a webhook of others does not stop', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver();
  const { id } = await createWebhook(me, { url: receiver.url, types: ['course.created'] });
  startWebhookWorker(testApp);
  await createTag(me, 'One');
  await me.course();
  await createTag(me, 'Two');
  await expect.poll(() => receiver.types()).toEqual(['course.created']);
  const isAtEnd = `select position = (select max(id) from events where provider_id = $1) as "isAtEnd" from webhooks`;
  await expect.poll(() => testApp.database.pool.query(isAtEnd, [me.id])).toMatchObject({ rows: [{ isAtEnd: true }] });
  await me.put(`/v2/webhooks/${id}`, { types: ['tag.created'] });
  await createTag(me, 'Three');
  await expect.poll(() => receiver.types()).toEqual(['course.created', 'tag.created']);
  expect(receiver.received[1]!.body.data['item']).toMatchObject({ title: 'Three' });
});

test('if events after the position are deleted, each resource gets a resync, then changes continue', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  let isFailing = true;
  const receiver = await startReceiver((_message, n) => (isFailing && n === 3 ? 500 : 204));
  const { id } = await createWebhook(me, { url: receiver.url, is_active: false, payload: 'thin' });
  const some = await startReceiver();
  const typed = await createWebhook(me, { url: some.url, is_active: false, types: ['tag.created', 'order.updated'] });
  for (const title of ['One', 'Two']) await createTag(me, title);
  await execute(
    testApp.name,
    `delete from events where provider_id = ${me.id} and id < (select max(id) from events where provider_id = ${me.id})`,
  );
  for (const webhook of [id, typed.id]) await me.put(`/v2/webhooks/${webhook}`, { is_active: true });
  startWebhookWorker(testApp);
  await expect.poll(() => receiver.received.length).toBe(15);
  isFailing = false;
  await createTag(me, 'Three');
  await expect.poll(() => receiver.types().at(-1)).toBe('tag.created');
  const resyncs = receiver.received.filter(({ body }) => body.type === 'resync');
  const resources = new Set(resyncs.map(({ body }) => body.data['resource'] as string));
  expect([resyncs.length, resources.size, new Set(resyncs.map((one) => one.id)).size]).toEqual([15, 14, 14]);
  expect(resyncs.every(({ body }) => body.data['resource_id'] === null)).toBe(true);
  await expect.poll(() => some.types()).toEqual(['resync', 'resync', 'tag.created']);
});

const housekeeping = coreTasks.find(({ table }) => table === 'events')!;
const deleteOldEvents = ({ database }: Pick<TestApp, 'database'>) => deleteOld(database, housekeeping, 30);

/** Lets the tag's event, and the positions, be so many hours old, then deletes old events. */
async function deleteAfter(testApp: Awaited<ReturnType<typeof openWebhookTestApp>>, me: Provider, hours: number) {
  await createTag(me, 'One');
  await execute(testApp.name, `update events set at = at - interval '${hours} hours' where provider_id = ${me.id}`);
  await execute(
    testApp.name,
    `update webhooks set position_clock = position_clock - ${hours} * 3600 * 1000000::bigint where provider_id = ${me.id}`,
  );
  await createTag(me, 'Two');
  await deleteOldEvents(testApp);
}

test('old events are kept for the active webhooks that have not got them', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver();
  await createWebhook(me, { url: receiver.url });
  await createWebhook(me, { url: 'http://127.0.0.1:65535/', is_active: false });
  await deleteAfter(testApp, me, 34 * 24);
  startWebhookWorker(testApp);
  await expect.poll(() => receiver.types()).toEqual(['tag.created', 'tag.created']);
  // Control: all but the last old one and the new one are deleted when it has got them.
  await expect
    .poll(async () => {
      await deleteOldEvents(testApp);
      return (await testApp.database.pool.query('select from events where provider_id = $1', [me.id])).rowCount;
    })
    .toBe(2);
});

test('a webhook that is 5 days behind the deletion of events gets a resync', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver();
  await createWebhook(me, { url: receiver.url, types: ['tag.created'] });
  await deleteAfter(testApp, me, 36 * 24);
  startWebhookWorker(testApp);
  await expect.poll(() => receiver.types()).toEqual(['resync']);
});

test('a resync on request is sent before what follows, each time under another id', async () => {
  const before = Date.now();
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver((_message, n) => (n === 1 ? 500 : 204));
  const { id } = await createWebhook(me, { url: receiver.url, types: ['tag.created', 'order.updated'] });
  const ctx = await createContext(testApp.database, settings, me.id);
  await createTag(me, 'One');
  await resyncWebhook(ctx, id);
  startWebhookWorker(testApp);
  await expect.poll(() => receiver.types()).toEqual(['resync', 'resync', 'resync', 'tag.created']);
  await resyncWebhook(ctx, id);
  await expect.poll(() => receiver.received.length).toBe(6);
  const [failed, again, second, , third, fourth] = receiver.received;
  expect([again!.id, again!.text]).toEqual([failed!.id, failed!.text]);
  expect(new Set([again, second, third, fourth].map((one) => one!.id)).size).toBe(4);
  const resources = [again, second, third, fourth].map((one) => one!.body.data['resource'] as string);
  expect(resources).toEqual(['order', 'tag', 'order', 'tag']);
  expect(Date.parse(again!.body.timestamp)).toBeGreaterThanOrEqual(before);
});

test('a stop lets the message in flight end, and no message is repeated', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const { opened: answered, open: answer } = createGate();
  const receiver = await startReceiver((_message, n) => {
    if (n !== 2) return 204;
    return answered.then(() => 204);
  });
  await createWebhook(me, { url: receiver.url });
  const ids: number[] = [];
  for (let n = 1; n <= 4; n += 1) ids.push(await createTag(me, `Tag ${n}`));
  const { stop } = startWebhookWorker(testApp);
  await expect.poll(() => receiver.received.length).toBe(2);
  const stopped = stop();
  answer();
  await stopped;
  expect(receiver.received.length).toBe(2);
  startWebhookWorker(testApp);
  await expect.poll(() => receiver.received.length).toBe(4);
  expect(receiver.received.map(({ body }) => body.data['resource_id'] as number)).toEqual(ids);
});

test('an endpoint that hangs delays no other, and gets at most two messages at once', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  let [open, most] = [0, 0];
  const { opened: answered, open: answer } = createGate();
  const hanging = await startReceiver(async () => {
    most = Math.max(most, (open += 1));
    await answered;
    open -= 1;
    return 204;
  }, '127.0.0.2');
  const quick = await startReceiver();
  for (let n = 1; n <= 5; n += 1) await createWebhook(me, { url: hanging.url });
  await createWebhook(me, { url: quick.url });
  const other = await testApp.createProvider();
  await createWebhook(other, { url: quick.url });
  // Two processes.
  startWebhookWorker(testApp);
  startWebhookWorker(testApp);
  for (let n = 1; n <= 5; n += 1) await createTag(me, `Tag ${n}`);
  await createTag(other, 'Other');
  await expect.poll(() => quick.received.length).toBe(6);
  answer();
  await expect.poll(() => hanging.received.length).toBeGreaterThanOrEqual(6);
  expect(most).toBe(2);
});

test('a closed school gets no messages until it is opened', async () => {
  const testApp = await openWebhookTestApp();
  const me = await testApp.createProvider();
  const receiver = await startReceiver();
  await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await testApp.database.write([me.id], ['school'], ({ tx }) =>
    tx.execute(`update providers set closed_at = now() where id = ${me.id}`),
  );
  const counted = countStatements(testApp);
  const { stop } = startWebhookWorker(counted);
  await waitForClaim(counted);
  await stop();
  expect(receiver.received).toEqual([]);
  startWebhookWorker(testApp);
  await testApp.database.write([me.id], ['school'], ({ tx }) =>
    tx.execute(`update providers set closed_at = null where id = ${me.id}`),
  );
  await expect.poll(() => receiver.types()).toEqual(['tag.created']);
});

/** Messages that arrive from two processes, which lease the webhook one after the other. */
async function deliverByTwo(testApp: Awaited<ReturnType<typeof openWebhookTestApp>>) {
  const me = await testApp.createProvider();
  const workers = [countStatements(testApp), countStatements(testApp)];
  const ids: number[] = [];
  let [waiting, isLast] = [0, false];
  const receiver = await startReceiver(async ({ body }) => {
    isLast ||= body.data['resource_id'] === ids.at(-1);
    if (isLast) return 204;
    waiting += 1;
    // Each process tries to lease the webhook meanwhile.
    await Promise.all(workers.map(waitForClaim));
    waiting -= 1;
    return 204;
  });
  await createWebhook(me, { url: receiver.url });
  for (let n = 1; n <= 20; n += 1) ids.push(await createTag(me, `Tag ${n}`));
  for (const worker of workers) startWebhookWorker(worker, { turnMs: 100 });
  await expect.poll(() => isLast).toBe(true);
  await expect.poll(() => waiting).toBe(0);
  return { ids, arrived: receiver.received.map(({ body }) => body.data['resource_id'] as number) };
}

test('two processes send each message once, in order', async () => {
  const { ids, arrived } = await deliverByTwo(await openWebhookTestApp());
  expect(arrived).toEqual(ids);
});

test('negative control: without leases they repeat messages', async () => {
  const testApp = await openWebhookTestApp();
  await execute(
    testApp.name,
    `create function end_lease() returns trigger language plpgsql as $$ begin
        new.leased_until := null; new.leased_by := 'any'; return new; end $$;
      create trigger end_lease before update on webhooks for each row execute function end_lease()`,
  );
  onTestFinished(() => execute(testApp.name, 'drop function end_lease cascade'));
  const { ids, arrived } = await deliverByTwo(testApp);
  expect(arrived.length).toBeGreaterThan(ids.length);
});
