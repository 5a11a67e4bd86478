import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate } from '../../support/booking.ts';
import { startServers } from '../../support/servers.ts';

const rounds = 5;
const callers = 6;

/** Rounds of concurrent credits and payments of one order, at two servers; returns what was credited and paid. */
async function creditAtOnce({ unlocked = false } = {}) {
  const { database, createProvider, createCaller } = await startServers({ unlocked });
  const me = await createProvider();
  const call = createCaller(me.apiKey);
  const { dateId } = await createBookableDate(me, { capacityMax: 10_000 });
  const found = [];
  for (let n = 0; n < rounds; n += 1) {
    const { order_id } = await bookOrFail(me, dateId);
    const { lines } = (await me.get(`/v2/orders/${order_id}`)).json<{ lines: { id: number }[] }>();
    const part = { lines: [{ line_id: lines[0]!.id, amount: 600 }] };
    await Promise.all(
      Array.from({ length: callers }, (_, n) =>
        n % 2 === 0
          ? call('POST', `/v2/orders/${order_id}/credit`, part)
          : call('POST', `/v2/orders/${order_id}/payments`, { amount: 600 }),
      ),
    );
    const { rows } = await database.pool.query<{ credited: number; paid: number }>(
      `select
        (select coalesce(sum(total_before_discounts), 0)::int from orders where provider_id = $1 and first_order_id = $2) as credited,
        (select coalesce(sum(amount), 0)::int from payments where provider_id = $1 and order_id = $2) as paid`,
      [me.id, order_id],
    );
    found.push(rows[0]!);
  }
  return found;
}

test('of credits of a line at once no more succeed than the line has, and no more is paid than is due', async () => {
  for (const { credited, paid } of await creditAtOnce()) expect([credited, paid <= 600]).toEqual([-600, true]);
});

test('negative control: without the lock more is credited or paid than there is', async () => {
  const found = await creditAtOnce({ unlocked: true });
  expect(found.some(({ credited, paid }) => credited < -600 || paid > 600)).toBe(true);
});
