import { expect, test } from 'vitest';
import { bookingBody, createBookableDate, persons } from '../../support/booking.ts';
import { startServers } from '../../support/servers.ts';

type Servers = Awaited<ReturnType<typeof startServers>>;
const callers = 16;
const booked = 30;

/** Cancels of a date at once, while others book it; returns what was not done once for each. */
async function raceCancels({ createProvider, createCaller, database }: Servers, credit: boolean) {
  const me = await createProvider();
  const call = createCaller(me.apiKey);
  const { courseId, dateId } = await createBookableDate(me);
  for (let n = 0; n < booked; n += 1) await call('POST', '/v2/booking', bookingBody(dateId));
  const bookings = Array.from({ length: callers }, () =>
    call('POST', '/v2/booking', bookingBody(dateId, { participants: persons(2) })),
  );
  const cancels = bookings.map(() =>
    call('POST', `/v2/courses/${courseId}/coursedates/${dateId}/cancel`, { credit, message: 'Ill' }),
  );
  await Promise.all(bookings);
  const refused = (await Promise.all(cancels)).filter(({ status }) => status !== 200).length;
  const { rows } = await database.pool.query<Record<'staying' | 'orders' | 'people', number>>(
    `select (select count(*)::int from participants where provider_id = $1 and (status_id = 4) <> $2) as staying,
       (select count(*)::int from orders o where o.provider_id = $1 and kind = 'order' and $2::int <> (
         select count(*) from orders c where c.provider_id = $1 and c.first_order_id = o.id)) as orders,
       (select count(*)::int from participants p where p.provider_id = $1 and 1 <> (
         select count(*) from outbox m where m.provider_id = $1 and m.participant_id = p.id)) as people`,
    [me.id, credit],
  );
  return { ...rows[0]!, refused };
}

const correct = { staying: 0, orders: 0, people: 0, refused: 0 };

test(`${callers} cancels of a date beside ${callers} bookings of it, on two servers: each order and person has its part once`, async () => {
  const servers = await startServers();
  for (let round = 1; round <= 6; round += 1) expect(await raceCancels(servers, round % 2 === 0)).toEqual(correct);
});

test('negative control: without lock and queue a person is told twice', async () => {
  const servers = await startServers({ unlocked: true });
  let people = 0;
  for (let round = 1; round <= 15 && people === 0; round += 1) ({ people } = await raceCancels(servers, false));
  expect(people).toBeGreaterThan(0);
});
