import pg from 'pg';
import { expect, test, vi } from 'vitest';
import * as sql from '../../../src/domains/records/erasures/sql.ts';
import { countReadRows } from '../../support/count-read-rows.ts';
import { createCustomer, createOrder, createUser, write } from '../../support/orders.ts';
import { openTestAppForFile } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();
const count = 100_000;

/** A school with many kept orders and customers of others, and a person whose own are kept no longer. */
async function createLargeSchool() {
  const me = await createProvider();
  const other = await createUser(me, { email: 'other@people.example' });
  const { dateId } = await createOrder(me, { courseId: await me.course(), users: [other] });
  await write(me, async (tx, now) => {
    await tx.execute(`set local statement_timeout = 0`);
    const own = `${me.id}, '${now}', '${now}', now() + interval '1 year'`;
    await tx.execute(`insert into customers (provider_id, created_at, updated_at, kept_until, title, type, email)
      select ${own}, 'Customer ' || n, 2, n || '@customers.example' from generate_series(1, ${count}) n`);
    await tx.execute(`with made as (
        insert into orders (provider_id, created_at, updated_at, kept_until, title, invoice_email)
        select ${own}, 'Order', n || '@orders.example' from generate_series(1, ${count}) n returning id)
      insert into bookings (provider_id, created_at, updated_at, order_id, course_date_id, booker_email)
      select ${me.id}, '${now}', '${now}', id, ${dateId}, id || '@bookers.example' from made`);
  });
  const email = 'kari@people.example';
  const id = await createUser(me, { firstname: 'Kari', lastname: 'Nordmann', email });
  const customerId = await createCustomer(me, { type: 2, title: 'Kari Nordmann', email });
  const place = { courseId: await me.course(), users: [id], booking: { bookerEmail: email } };
  const due = '2026-01-01T00:00:00Z';
  const { orderId } = await createOrder(me, { ...place, order: { customerId, booker: 'Kari', keptUntil: due } });
  await write(me, (tx) => tx.execute(`update customers set kept_until = '${due}' where id = ${customerId}`));
  await database.pool.query('analyze');
  return { me, id, orderId, customerId };
}

type Sent = { text: string; values: unknown[] };
/** The statements that some work sends, apart from those of each write. */
async function recordStatements(work: () => Promise<unknown>) {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  await work();
  const calls = spy.mock.calls as unknown as [statement: Partial<Sent>, values?: unknown[]][];
  const sent = calls.map(([{ text, values }, more = []]) => ({ text, values: values ?? more }));
  spy.mockRestore();
  const isOfWork = (one: { text: string | undefined; values: unknown[] }): one is Sent =>
    /^\s*(select|with|insert|update|delete)\b/i.test(one.text ?? '') && !/audit_entries|provider_state/.test(one.text!);
  return sent.filter(isOfWork);
}

test(`no statement of an erasure reads a school with ${count} orders as a whole`, { timeout: 300_000 }, async () => {
  const { me, id, customerId } = await createLargeSchool();
  const countRead = (statement: { text: string }, parameters: unknown[]) =>
    write(me, async (tx) => tx.rollBack(await countReadRows({ pool: tx.$client }, statement, parameters)));
  const now = new Date().toISOString();
  const list = JSON.stringify([{ place: 1, provider: me.id, user: id, created_at: now, erased_at: now }]);
  const texts = ['kari@people.example', 'Kari Nordmann', false, false, 'Europe/Oslo', 5];
  const searched = [me.id, JSON.stringify({ id, orders: [], whole: [], first: [], last: [] }), '[]'];
  const isLarge = ([, rows]: [string, number]) => !(rows >= 0 && rows < 1_000);
  const alone: [string, number][] = [
    ['findDue', await countRead(sql.findDue, [])],
    ['findKept', await countRead(sql.findKept, [me.id])],
    ['findListed', await countRead(sql.findListed, [list])],
    ['rememberListed', await countRead(sql.rememberListed, [list])],
    ['findAnswers', await countRead(sql.findAnswers, searched)],
    ['findCustomers', await countRead(sql.findCustomers, [me.id, ...texts, customerId, '[]'])],
  ];
  expect(alone.filter(isLarge)).toEqual([]);

  const sent = await recordStatements(async () =>
    expect((await me.post(`/v2/course-users/${id}/erase`, {})).status).toBe(200),
  );
  expect(sent.length).toBeGreaterThan(25);
  const read: [string, number][] = [];
  for (const statement of sent) read.push([statement.text, await countRead(statement, statement.values)]);
  expect(read.filter(isLarge)).toEqual([]);

  // Negative control.
  await database.pool.query('drop index bookings_booker_email, orders_kept');
  expect(await countRead(sql.findOrders, [me.id, ...texts, id])).toBeGreaterThan(10_000);
  expect(await countRead(sql.findKept, [me.id])).toBeGreaterThan(10_000);
});
