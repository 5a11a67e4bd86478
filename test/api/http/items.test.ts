import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, createVoucher, deregister } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { addDate, addLocation } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { newEmail } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';
import { createMailToken, findTokenOwner } from '../../../src/domains/school/auth/token-service.ts';

const { createProvider, database } = await sharedTestApp();

type Item = { id: number; title: string };

const addTag = async (me: Provider, title: string) => (await me.post('/v2/course-tags', { title })).json<Item>();

test('GET /v2/locations/:id returns the item of the list, archived or not', async () => {
  const me = await createProvider();
  const id = await addLocation(me, { title: 'Hall', isArchived: true });
  const [listed] = (await me.get('/v2/locations')).json<Item[]>();
  const response = await me.get(`/v2/locations/${id}`);
  expect([response.status, response.json()]).toEqual([200, listed]);
});

test('GET, PUT and DELETE of /v2/course-tags/:id', async () => {
  const me = await createProvider();
  const [tag, second] = [await addTag(me, 'Weekend'), await addTag(me, 'Evening')];
  expect((await me.get(`/v2/course-tags/${tag.id}`)).json()).toEqual(tag);
  const courseId = await me.course({ tags: [tag.id, second.id] });

  const renamed = await me.put(`/v2/course-tags/${tag.id}`, { title: 'Saturdays' });
  expect([renamed.status, renamed.json()]).toMatchObject([200, { id: tag.id, title: 'Saturdays' }]);
  const taken = await me.put(`/v2/course-tags/${tag.id}`, { title: 'EVENING' });
  expect([taken.status, taken.json()]).toEqual([400, { error: `Tag ${second.id} has this title` }]);
  const recased = await me.put(`/v2/course-tags/${tag.id}`, { title: 'SATURDAYS' });
  expect([recased.status, recased.json()]).toMatchObject([200, { id: tag.id, title: 'SATURDAYS' }]);

  await write(me, (tx) =>
    tx.execute(`insert into import_refs (provider_id, kind, ref, item_id)
      values (${me.id}, 'tag', 'a', ${tag.id}), (${me.id}, 'tag', 'b', ${second.id})`),
  );
  const cursor = await newestEvent(me);
  const deleted = await me.request('DELETE')(`/v2/course-tags/${tag.id}`);
  expect([deleted.status, deleted.json()]).toMatchObject([200, { id: tag.id, title: 'SATURDAYS' }]);
  expect((await me.get(`/v2/courses/${courseId}`)).json().tags).toEqual([{ id: second.id, title: 'Evening' }]);
  expect(await eventsSince(me, cursor)).toEqual(['course.updated', 'tag.deleted']);
  expect((await me.request('DELETE')(`/v2/course-tags/${tag.id}`)).status).toBe(404);
  const left = await database.pool.query('select ref from import_refs where provider_id = $1', [me.id]);
  expect(left.rows).toEqual([{ ref: 'b' }]);
});

test('a tag that limits a campaign is not deleted', async () => {
  const me = await createProvider();
  const tag = await addTag(me, 'Weekend');
  await write(me, async (tx, now) => {
    const { rows } = await tx.execute<{ id: number }>(
      `insert into campaigns (provider_id, type, discount_type, discount_value, created_at, updated_at)
       values (${me.id}, 'Campaign', 'Percent', 10, '${now}', '${now}') returning id`,
    );
    await tx.execute(`insert into campaign_tags values (${me.id}, ${rows[0]!.id}, ${tag.id})`);
  });
  const response = await me.request('DELETE')(`/v2/course-tags/${tag.id}`);
  expect([response.status, response.json()]).toEqual([
    400,
    { error: expect.stringMatching(/^Campaigns are for courses of the tag: \d+$/) },
  ]);
  expect((await me.get(`/v2/course-tags/${tag.id}`)).json()).toEqual(tag);
});

test('GET /v2/booking/:id returns the summary with the payment by voucher and the current statuses', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const voucher = await createVoucher(me, { amount: '300' });
  const summary = await bookOrFail(me, dateId, { voucher_code: voucher.code });
  const plain = await bookOrFail(me, dateId);
  const path = `/v2/booking/${summary.booking_id}`;
  const toPay = summary.total_incl_vat - 300;
  expect((await me.get(path)).json()).toEqual({
    successful: true,
    summary: { ...summary, paid_by_voucher: 300, to_pay: toPay },
  });
  expect((await me.get(`/v2/booking/${plain.booking_id}`)).json().summary).toMatchObject({
    paid_by_voucher: 0,
    to_pay: plain.total_incl_vat,
  });
  await deregister(me, summary.booking_id);
  expect((await me.get(path)).json().summary).toMatchObject({
    total_incl_vat: summary.total_incl_vat,
    participants: [{ id: summary.participants[0]!.id, status_id: 4 }],
  });
  expect((await me.post(`/v2/orders/${summary.order_id}/payments`, {})).status).toBe(201);
  expect((await me.get(path)).json().summary.to_pay).toBe(0);
});

const names = { firstname: 'Kari', lastname: 'Nordmann' };
const attach = async (me: Provider, email: string, role_ids = [1]) =>
  (await me.post('/v2/admin-users', { email, role_ids, ...names, send_invite: false })).json<{ id: number }>().id;

test('DELETE /v2/admin-users/:id detaches the person from this school alone', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const email = newEmail();
  await attach(me, newEmail());
  const id = await attach(me, email);
  await attach(other, email);
  const customer = (await me.post('/v2/customers', { title: 'C', seller_id: id })).json<{ customer_id: number }>();
  const before = (await me.get(`/v2/admin-users/${id}`)).json();

  const detached = await me.request('DELETE')(`/v2/admin-users/${id}`);
  expect([detached.status, detached.json()]).toEqual([200, before]);
  const lists = await Promise.all(['/v2/admin-users', '/v2/app-users'].map((path) => me.get(path)));
  for (const list of lists) expect(list.json<{ id: number }[]>().map((one) => one.id)).not.toContain(id);
  expect((await me.get(`/v2/admin-users/${id}`)).status).toBe(404);
  expect((await me.request('DELETE')(`/v2/admin-users/${id}`)).status).toBe(404);
  expect((await me.get(`/v2/customers/${customer.customer_id}`)).json().seller.id).toBe(id);
  const refused = await me.post('/v2/customers', { title: 'D', seller_id: id });
  expect([refused.status, refused.json()]).toEqual([400, { error: 'Field(s) not valid: seller_id' }]);
  const instructor = await me.post('/v2/instructors', { ...names, idUser: id });
  expect([instructor.status, instructor.json()]).toEqual([400, { error: 'Field(s) not valid: idUser' }]);
  expect((await other.get(`/v2/admin-users/${id}`)).status).toBe(200);

  const again = await me.post('/v2/admin-users', { email, role_ids: [1], firstname: 'Other', lastname: 'Name' });
  expect([again.status, again.json()]).toMatchObject([200, { id, ...names, role_ids: [1] }]);
  expect((await me.post('/v2/customers', { title: 'E', seller_id: id })).status).toBe(201);
});

test('PUT takes the detached seller or user that the item names already, and no other one', async () => {
  const me = await createProvider();
  await attach(me, newEmail());
  const [id, other] = [await attach(me, newEmail()), await attach(me, newEmail())];
  const customer = (await me.post('/v2/customers', { title: 'C', seller_id: id })).json<{ customer_id: number }>();
  const instructor = (await me.post('/v2/instructors', { ...names, idUser: id })).json<{ id: number }>();
  for (const one of [id, other]) await me.request('DELETE')(`/v2/admin-users/${one}`);
  for (const [path, field] of [
    [`/v2/customers/${customer.customer_id}`, 'seller_id'],
    [`/v2/instructors/${instructor.id}`, 'idUser'],
  ] as const) {
    expect((await me.put(path, { [field]: id })).status, path).toBe(200);
    const refused = await me.put(path, { [field]: other });
    expect([refused.status, refused.json()]).toEqual([400, { error: `Field(s) not valid: ${field}` }]);
    const both = await me.put(path, { [field]: id, email: 'nobody' });
    expect([both.status, both.json()]).toEqual([400, { error: 'Field(s) not valid: email' }]);
  }
});

test('the last administrator stays, also when all are detached at once', async () => {
  const me = await createProvider();
  const ids = await Promise.all(Array.from({ length: 4 }, () => attach(me, newEmail())));
  const responses = await Promise.all(ids.map((id) => me.request('DELETE')(`/v2/admin-users/${id}`)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 400]);
  expect(responses.find(({ status }) => status === 400)!.json()).toEqual({
    error: 'The last administrator of the school cannot be detached',
  });
});

test('links of a detached admin user end, and stay so when it is attached again', async () => {
  const me = await createProvider();
  await attach(me, newEmail());
  const email = newEmail();
  const id = await attach(me, email);
  const owner = { providerId: me.id, userId: null, adminUserId: id };
  const token = await createMailToken(database.unlocked, 'password', owner, null);
  const findOwner = () => findTokenOwner(database.unlocked, 'password', token!);
  expect(await findOwner()).toEqual(owner);
  await me.request('DELETE')(`/v2/admin-users/${id}`);
  expect(await findOwner()).toBeUndefined();
  await attach(me, email);
  expect(await findOwner()).toBeUndefined();
});

test('created_at and updated_at filter admin users, tags and campaigns', async () => {
  const me = await createProvider();
  await attach(me, newEmail());
  await addTag(me, 'Weekend');
  expect((await me.post('/v2/campaigns', { title: 'Sun', discount_type: 'Percent', discount_value: 5 })).status).toBe(
    201,
  );
  for (const path of ['/v2/admin-users', '/v2/course-tags', '/v2/campaigns']) {
    const counts = await Promise.all(
      [
        'created_at_min=2020-01-01',
        'created_at_max=2020-01-01',
        'updated_at_min=2999-01-01',
        'updated_at_max=2999-01-01',
      ].map(async (query) => (await me.get(`${path}?${query}`)).json<unknown[]>().length),
    );
    expect(counts).toEqual([1, 0, 0, 1]);
    const cursor = (await me.get(`${path}?updated_at_min=2020-01-01`)).headers['x-updated-through'];
    expect(cursor).toMatch(/^\d{4}-/);
  }
});

test('a location is public while a date at it is', async () => {
  const me = await createProvider();
  const id = await addLocation(me, { title: 'Hall' });
  await addDate(me, await me.course(), { locationId: id });
  expect((await me.get(`/v2/locations/${id}`)).json()).toMatchObject({ id, title: 'Hall' });
});
