import { expect, test } from 'vitest';
import * as listStatements from '../../../src/resources/erasures/list-sql.ts';
import * as ownStatements from '../../../src/resources/erasures/sql.ts';
import { countReadRows } from '../../support/count-read-rows.ts';
import { createOrder, createUser, write } from '../../support/orders.ts';
import { openTestAppForFile } from '../../support/test-app.ts';

const statements = { ...ownStatements, ...listStatements };
const { database, createProvider } = await openTestAppForFile();
const count = 100_000;

/** A school with many orders and customers of others, and a person. */
async function createLargeSchool() {
  const me = await createProvider();
  const other = await createUser(me, { email: 'other@people.example' });
  const { dateId } = await createOrder(me, { courseId: await me.course(), users: [other] });
  await write(me, async (tx, now) => {
    await tx.execute(`set local statement_timeout = 0`);
    const own = `${me.id}, '${now}', '${now}'`;
    await tx.execute(`insert into customers (provider_id, created_at, updated_at, title, type, email)
      select ${own}, 'Customer ' || n, 2, n || '@customers.example' from generate_series(1, ${count}) n`);
    await tx.execute(`with made as (
        insert into orders (provider_id, created_at, updated_at, title, invoice_email)
        select ${own}, 'Order', n || '@orders.example' from generate_series(1, ${count}) n returning id)
      insert into bookings (provider_id, created_at, updated_at, order_id, course_date_id, booker_email)
      select ${own}, id, ${dateId}, id || '@bookers.example' from made`);
  });
  await database.pool.query('analyze');
  const id = await createUser(me, { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' });
  return { me, id };
}

test(`no statement of an erasure reads a school with ${count} orders as a whole`, { timeout: 300_000 }, async () => {
  const { me, id } = await createLargeSchool();
  const countRead = (name: keyof typeof statements, parameters: unknown[]) =>
    countReadRows(database, statements[name], parameters);
  const first = [me.id, id, 'Europe/Oslo', 5];
  const read = {
    findOrders: await countRead('findOrders', first),
    findCustomers: await countRead('findCustomers', [...first, []]),
    count: await countRead('count', [me.id, id, [], []]),
    findDue: await countRead('findDue', []),
  };
  expect(Object.entries(read).filter(([, rows]) => !(rows >= 0 && rows < 1_000))).toEqual([]);

  // Negative control.
  await database.pool.query('drop index bookings_booker_email');
  expect(await countRead('findOrders', first)).toBeGreaterThan(10_000);
});
