import { expect, test } from 'vitest';
import * as copyStatements from '../../../src/domains/records/erasures/list-sql.ts';
import * as listStatements from '../../../src/domains/records/erasures/list-sql.ts';
import * as mailStatements from '../../../src/domains/records/erasures/mail-sql.ts';
import * as payerStatements from '../../../src/domains/records/erasures/payer-sql.ts';
import * as ownStatements from '../../../src/domains/records/erasures/sql.ts';
import { countReadRows } from '../../support/count-read-rows.ts';
import { createCustomer, createOrder, createUser, write } from '../../support/orders.ts';
import { openTestAppForFile } from '../../support/test-app.ts';

const modules = { ...copyStatements, ...listStatements, ...mailStatements, ...payerStatements, ...ownStatements };
/** Beside conditions. */
const statements = Object.fromEntries(
  Object.entries(modules).flatMap(([name, one]) => (typeof one === 'string' ? [] : [[name, one]])),
);
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

test(`no statement of an erasure reads a school with ${count} orders as a whole`, { timeout: 300_000 }, async () => {
  const { me, id, orderId, customerId } = await createLargeSchool();
  const countRead = (name: string, parameters: unknown[]) =>
    write(me, async (tx) =>
      tx.rollbackNoChange(await countReadRows({ pool: tx.$client }, statements[name]!, parameters)),
    );
  const [now, zone, day] = [new Date().toISOString(), 'Europe/Oslo', '2031-01-01'];
  const [person, orders, customers] = [[me.id, id], [orderId], [customerId]];
  const bought = [...person, orders];
  const first = [...person, zone, 5];
  const listed = JSON.stringify([{ provider: me.id, user: id, created_at: now, erased_at: now }]);
  const parameters: Record<string, unknown[]> = {
    ...{ findOrders: first, findCustomers: [...first, orders], lockPerson: person },
    ...{ count: [...bought, customers], findReferences: [...bought, orders], findAnswers: bought },
    ...{ deleteSignOnFailures: person, deleteLinks: bought, findMails: bought, deleteMails: bought },
    ...{ deleteRefusedAddress: person, deleteInterests: person, deletePosts: bought, deleteStagedLines: [me.id] },
    ...{ deleteAttempts: [...bought, customers], hashRefs: [...bought, customers] },
    ...{ emptyAnswers: [...bought, null, now, []], clearParticipants: [...person, now, null], clearNonces: person },
    ...{
      clearBookings: [me.id, orders, now],
      clearReferences: [me.id, orders, now],
      clearOrders: [me.id, orders, now],
    },
    ...{ clearBooker: [...bought, now], keepPayer: [...bought, now], clearShared: [...bought, now] },
    ...{ keepOrders: [me.id, orders, [day], zone, id], keepCustomers: [me.id, customers, [day], zone, now] },
    ...{ clearCustomers: [me.id, customers, now], clearUser: [...person, now], recordErased: [...person, now] },
    ...{ rememberErasure: [...person, now, []], findDue: [], findKept: [me.id], findListed: [listed] },
    ...{ clearKeptOrders: [me.id, now, orders], clearKeptCustomers: [me.id, now, customers], rememberListed: [listed] },
  };
  expect(Object.keys(parameters).sort()).toEqual(Object.keys(statements).sort());
  const read: [string, number][] = [];
  for (const [name, values] of Object.entries(parameters)) read.push([name, await countRead(name, values)]);
  expect(read.filter(([, rows]) => !(rows >= 0 && rows < 1_000))).toEqual([]);

  // Negative control.
  await database.pool.query('drop index bookings_booker_email, orders_kept');
  expect(await countRead('findOrders', first)).toBeGreaterThan(10_000);
  expect(await countRead('findKept', [me.id])).toBeGreaterThan(10_000);
});
