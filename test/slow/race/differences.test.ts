import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, persons } from '../../support/booking.ts';
import { startServers } from '../../support/servers.ts';

const rounds = 5;
const count = 3;

/** Rounds of moves of all participants of a line to a free course, and credits of parts of the line; returns what is left of it. */
async function moveAtOnce({ unlocked = false } = {}) {
  const { database, createProvider, createCaller } = await startServers({ unlocked });
  const me = await createProvider();
  const call = createCaller(me.apiKey);
  const { dateId } = await createBookableDate(me, { capacityMax: 10_000, course: { price_value: 100 } });
  const free = await createBookableDate(me, { capacityMax: 10_000, course: { price_value: 0 } });
  const left: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const { order_id, participants } = await bookOrFail(me, dateId, { participants: persons(count) });
    const [line] = (await me.get(`/v2/orders/${order_id}`)).json<{ lines: { id: number }[] }>().lines;
    const part = { lines: [{ line_id: line!.id, amount: 200 }] };
    const responses = await Promise.all(
      participants.flatMap(({ id }) => [
        call('POST', `/v2/participants/${id}/move`, { coursedate_id: free.dateId, price: 'difference' }),
        call('POST', `/v2/orders/${order_id}/credit`, part),
      ]),
    );
    expect(responses.filter(({ status }) => ![200, 201, 400].includes(status))).toEqual([]);
    const { rows } = await database.pool.query<{ left: number }>(
      `select sum(total_before_discounts)::float as left from orders
       where provider_id = $1 and (id = $2 or first_order_id = $2)`,
      [me.id, order_id],
    );
    left.push(rows[0]!.left);
  }
  return left;
}

test('moves and credits at once credit a line wholly, and no more than it', async () => {
  expect(await moveAtOnce()).toEqual(Array(rounds).fill(0));
});

test('negative control: without the lock more is credited than the line has', async () => {
  expect((await moveAtOnce({ unlocked: true })).some((left) => left < 0)).toBe(true);
});
