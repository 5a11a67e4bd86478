import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { courses } from '../../../src/database/tables/courses.ts';
import { newestEvent } from '../../support/changes.ts';
import { sendQueued } from '../../support/locks.ts';
import { createCampaign, createCustomer, createOrder, createUser, write } from '../../support/orders.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();

type Change = { type: string; resource_id: number | null; into?: number };
const merge = (me: Provider, id: number, body: object) => me.post(`/v2/customers/${id}/merge`, body);
const rowsOf = async (me: Provider, table: string, columns: string) =>
  (await database.pool.query(`select ${columns} from ${table} where provider_id = $1 order by 1`, [me.id])).rows;
const read = async (me: Provider, id: number) => (await me.get(`/v2/customers/${id}`)).json<Record<string, unknown>>();

/** A customer with an employee, a child, a corporate course, an agreement of its own and a shared one, and an order. */
async function createTwo() {
  const me = await createProvider();
  const [from, into] = [await createCustomer(me, { note: 'gone' }), await createCustomer(me, { note: 'kept' })];
  const employee = await createUser(me, { customerId: from });
  const child = await createCustomer(me, { parentCustomerId: from });
  const course = await me.course({ type: 'corporate', customer_id: from });
  const own = await createCampaign(me, { type: 'Agreement' }, { customers: [from] });
  const shared = await createCampaign(me, { type: 'Agreement' }, { customers: [from, into] });
  const { orderId: order } = await createOrder(me, { courseId: course, users: [], order: { customerId: from } });
  await write(me, (tx) =>
    tx.execute(`insert into import_refs (provider_id, kind, ref, item_id) values (${me.id}, 'customer', 'a', ${from})`),
  );
  return { me, from, into, employee, child, course, own, shared, order };
}
const counts = { employees: 1, customers: 1, courses: 1, campaigns: 2, orders: 1 };

test('everything of the merged customer follows', async () => {
  const { me, from, into, employee, child, course, own, shared, order } = await createTwo();
  const [kept, cursor] = [await read(me, into), await newestEvent(me)];
  const response = await merge(me, from, { into });
  expect([response.status, response.json()]).toEqual([200, { id: from, into, dry_run: false, ...counts }]);

  expect(await read(me, into)).toEqual(kept);
  expect((await me.get(`/v2/customers/${from}`)).status).toBe(404);
  expect((await me.get(`/v2/course-users/${employee}`)).json()).toMatchObject({ customer: { id: into } });
  expect(await read(me, child)).toMatchObject({ idParentCustomer: into });
  expect((await me.get(`/v2/orders/${order}`)).json()).toMatchObject({ customer: { id: into } });
  const [row] = await write(me, (tx) => tx.select().from(courses).where(eq(courses.id, course)));
  expect(row).toMatchObject({ customerId: into, type: 'corporate' });
  expect(await rowsOf(me, 'campaign_customers', 'campaign_id, customer_id')).toEqual([
    { campaign_id: own, customer_id: into },
    { campaign_id: shared, customer_id: into },
  ]);
  expect(await rowsOf(me, 'import_refs', 'item_id')).toEqual([{ item_id: into }]);
  const { items } = (await me.get(`/v2/changes?since=${cursor}`)).json<{ items: Change[] }>();
  const found = items.map(({ type, resource_id, ...one }) => [type, resource_id, one.into]);
  expect(found).toEqual([
    ['courseuser.updated', employee, undefined],
    ['course.updated', course, undefined],
    ['order.updated', order, undefined],
    ['customer.updated', child, undefined],
    ['campaign.updated', own, undefined],
    ['campaign.updated', shared, undefined],
    ['customer.merged', from, into],
  ]);
  const audited = await rowsOf(me, 'audit_entries', 'id, action, to_json(item_ids) as item_ids');
  expect(audited.at(-1)).toMatchObject({ action: 'POST /v2/customers/:id/merge', item_ids: [from, into] });
  expect((await merge(me, from, { into })).status).toBe(404);
});

test('a dry run counts and changes nothing', async () => {
  const { me, from, into } = await createTwo();
  const [before, cursor] = [await read(me, from), await newestEvent(me)];
  const response = await merge(me, from, { into, dry_run: true });
  expect([response.status, response.json()]).toEqual([200, { id: from, into, dry_run: true, ...counts }]);
  const inQuery = await me.post(`/v2/customers/${from}/merge?dry_run=1`, { into });
  expect(inQuery.json()).toEqual(response.json());
  expect(await read(me, from)).toEqual(before);
  expect((await me.get(`/v2/changes?since=${cursor}`)).json()).toMatchObject({ items: [] });
});

test('a customer that is merged into one below it leaves no circle of parents', async () => {
  const me = await createProvider();
  const top = await createCustomer(me);
  const from = await createCustomer(me, { parentCustomerId: top });
  const middle = await createCustomer(me, { parentCustomerId: from });
  const into = await createCustomer(me, { parentCustomerId: middle });
  expect((await merge(me, from, { into })).status).toBe(200);
  const parents = await Promise.all([into, middle, top].map(async (id) => (await read(me, id))['idParentCustomer']));
  expect(parents).toEqual([top, into, null]);
});

test('the repeated request that created the merged customer, or an employee, shows the one that stays', async () => {
  const me = await createProvider();
  const last = await createCustomer(me);
  const key = { 'idempotency-key': 'k' };
  const create = () => me.post('/v2/customers', { title: 'Fjord AS' }, key);
  const from = (await create()).json<{ customer_id: number }>().customer_id;
  const kari = { firstname: 'Kari', lastname: 'Li', email: 'kari@merge.example', customer_id: from };
  const employ = () => me.post('/v2/course-users', kari, key);
  const employee = (await employ()).json<object>();
  expect(employee).toMatchObject({ customer: { id: from } });
  const middle = await createCustomer(me);
  for (const [id, into] of [[from, middle] as const, [middle, last] as const]) {
    expect((await merge(me, id, { into })).status).toBe(200);
    const [again, hired] = [await create(), await employ()];
    expect([again.status, again.json(), again.headers['idempotent-replayed']]).toEqual([
      ...[201, { customer_id: into }, 'true'],
    ]);
    expect(again.headers['location']).toMatch(new RegExp(`/v2/customers/${into}$`));
    expect(hired.json()).toEqual({ ...employee, customer: await read(me, into) });
  }
});

test('a stored response of the version before, the id alone, is repeated', async () => {
  const me = await createProvider();
  const create = () => me.post('/v2/customers', { title: 'Fjord AS' }, { 'idempotency-key': 'k' });
  const first = await create();
  await write(me, (tx) =>
    tx.execute(`update idempotency_records set answer = answer -> 'customer_id' where provider_id = ${me.id}`),
  );
  const again = await create();
  expect([again.status, again.text, again.headers['location']]).toEqual([201, first.text, first.headers['location']]);
});

test('a customer with many items of each kind is merged in slices, between which others write', async () => {
  const me = await createProvider();
  const [from, into] = [await createCustomer(me), await createCustomer(me)];
  const courseId = await me.course();
  await write(me, (tx) =>
    tx.execute(`
      insert into customers (provider_id, title, type, country, parent_customer_id, created_at, updated_at)
        select provider_id, 'Child ' || n, type, country, id, created_at, updated_at
        from customers, generate_series(1, 1200) n where provider_id = ${me.id} and id = ${from};
      insert into campaigns (provider_id, type, title, discount_type, discount_value, created_at, updated_at)
        select ${me.id}, 'Agreement', 'Agreement ' || n, 'Percent', 10, now(), now() from generate_series(1, 1200) n;
      insert into campaign_customers (provider_id, campaign_id, customer_id)
        select provider_id, id, ${from} from campaigns where provider_id = ${me.id}`),
  );
  const state = { isMerged: false };
  const merging = merge(me, from, { into }).finally(() => (state.isMerged = true));
  const slices = new Set<number>();
  while (!state.isMerged) {
    const left = await write(me, (tx) =>
      tx.execute<{ left: number }>(`select (select count(*)::int from customers where parent_customer_id = ${from})
        + (select count(*)::int from campaign_customers where customer_id = ${from}) as left`),
    );
    slices.add(left.rows[0]!.left);
    if (slices.size === 2) await createOrder(me, { courseId, users: [], order: { customerId: from } });
  }
  const response = await merging;
  expect([response.status, response.json()]).toMatchObject([200, { customers: 1_200, campaigns: 1_200 }]);
  expect([...slices].some((left) => left > 0 && left < 2_400)).toBe(true);
  expect((await me.get(`/v2/customers/${from}`)).status).toBe(404);
  expect(await rowsOf(me, 'campaign_customers', 'distinct customer_id')).toEqual([{ customer_id: into }]);
  expect(new Set((await rowsOf(me, 'orders', 'customer_id')).map((row: object) => Object.values(row)[0]))).toEqual(
    new Set([into]),
  );
});

test('a customer that many stored responses show is merged in slices, between which others write', async () => {
  const me = await createProvider();
  const [from, into] = [await createCustomer(me), await createCustomer(me)];
  const kari = { firstname: 'Kari', lastname: 'Li', email: 'kari@many.example', customer_id: from };
  const employ = () => me.post('/v2/course-users', kari, { 'idempotency-key': 'k' });
  const employee = (await employ()).json<object>();
  await write(me, (tx) =>
    tx.execute(`insert into idempotency_records (provider_id, key_hash, fingerprint, answer, created_at, expires_at)
      select provider_id, n::text, fingerprint, answer, created_at, expires_at
      from idempotency_records, generate_series(1, 1200) n where provider_id = ${me.id}`),
  );
  const countLeft = async () => {
    const left = `select count(*)::int as left from idempotency_records
      where provider_id = ${me.id} and jsonb_path_exists(answer, '$.**.customer.id ? (@ == ${from})')`;
    return (await write(me, (tx) => tx.execute<{ left: number }>(left))).rows[0]!.left;
  };
  expect(await countLeft()).toBe(1_201);
  const state = { isMerged: false };
  const merging = merge(me, from, { into }).finally(() => (state.isMerged = true));
  const slices = new Set<number>();
  while (!state.isMerged) slices.add(await countLeft());
  expect((await merging).status).toBe(200);
  expect([...slices].some((left) => left > 0 && left < 1_201)).toBe(true);
  expect(await countLeft()).toBe(0);
  expect((await employ()).json()).toEqual({ ...employee, customer: await read(me, into) });
});

test('a response that is stored while a merge waits for the lock shows the one that stays', async () => {
  const { me, from, into } = await createTwo();
  const ola = { firstname: 'Ola', lastname: 'Li', email: 'ola@queued.example', customer_id: from };
  const employ = () => me.post('/v2/course-users', ola, { 'idempotency-key': 'k' });
  const sent = await sendQueued(database, me, [employ, () => merge(me, from, { into })]);
  expect(sent.map(({ status }) => status)).toEqual([201, 200]);
  expect((await employ()).json<object>()).toMatchObject({ customer: { id: into } });
});

test('refuses what it cannot merge', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [mine, theirs] = [await createCustomer(me), await createCustomer(other)];
  for (const [id, into, status, error] of [
    [mine, mine, 400, 'Field(s) not valid: into'],
    [mine, theirs, 400, 'Field(s) not valid: into'],
    [theirs, mine, 404, 'Customer not found'],
    [theirs, theirs, 404, 'Customer not found'],
  ] as const) {
    const response = await merge(me, id, { into });
    expect([id, into, response.status, response.json()]).toEqual([id, into, status, { error }]);
  }
});
