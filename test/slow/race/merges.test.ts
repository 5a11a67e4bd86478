import { expect, test } from 'vitest';
import { bookingBody, createBookableDate, person } from '../../support/booking.ts';
import { createUser } from '../../support/orders.ts';
import { startServers } from '../../support/servers.ts';

const bookings = 20;

/** Bookings of a person on two servers, while the person is merged into another one. */
async function race({ createProvider, createCaller, database }: Awaited<ReturnType<typeof startServers>>) {
  const me = await createProvider();
  const call = createCaller(me.apiKey);
  const { dateId } = await createBookableDate(me, { capacityMax: 1_000 });
  const participants = [person()];
  const book = () => call('POST', '/v2/booking', bookingBody(dateId, { participants }));
  await book();
  const [{ id }] = (await call('GET', '/v2/course-users')).body;
  const into = await createUser(me);
  const half = () => Array.from({ length: bookings / 2 }, book);
  const sent = [...half(), call('POST', `/v2/course-users/${id}/merge`, { into }), ...half()];
  const responses = await Promise.all(sent);
  const { rows } = await database.pool.query<{ places: number; users: number; merged: number }>(
    `select count(*)::int as places, count(u.id)::int as users, count(*) filter (where p.user_id = $2)::int as merged
     from participants p left join course_users u on u.provider_id = p.provider_id and u.id = p.user_id
     where p.provider_id = $1`,
    [me.id, id],
  );
  return { failed: responses.filter(({ status }) => status >= 400).length, ...rows[0]! };
}

test(`a merge and ${bookings} bookings of the person at once, on two servers: nothing is lost`, async () => {
  const servers = await startServers();
  for (let round = 1; round <= 5; round += 1)
    expect(await race(servers)).toEqual({ failed: 0, places: bookings + 1, users: bookings + 1, merged: 0 });
});

test('negative control: without lock and queue a booking or the merge fails', async () => {
  const servers = await startServers({ unlocked: true });
  let failed = 0;
  for (let round = 1; round <= 100 && failed === 0; round += 1) ({ failed } = await race(servers));
  expect(failed).toBeGreaterThan(0);
});
