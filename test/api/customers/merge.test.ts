import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { courses } from '../../../src/database/tables/courses.ts';
import { newestEvent } from '../../support/changes.ts';
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
