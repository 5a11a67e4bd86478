import { expect, test } from 'vitest';
import { bookingBody, createBookableDate, person, persons, seatCounters } from '../../support/booking.ts';
import { startServers } from '../../support/servers.ts';

const callers = 20;
type Servers = Awaited<ReturnType<typeof startServers>>;

/** Moves of many participants to the last seat of another date; returns how many got it, and the rest of the answers. */
async function raceMoves({ createProvider, createCaller }: Servers) {
  const me = await createProvider();
  const call = createCaller(me.apiKey);
  const { dateId } = await createBookableDate(me, { capacityMax: callers });
  const target = (await createBookableDate(me, { capacityMax: 1 })).dateId;
  const { body } = await call('POST', '/v2/booking', bookingBody(dateId, { participants: persons(callers) }));
  const responses = await Promise.all(
    body.summary.participants.map(({ id }: { id: number }) =>
      call('POST', `/v2/participants/${id}/move`, { coursedate_id: target }),
    ),
  );
  const refused = responses.filter(
    ({ status, body }) => status === 400 && body.error === 'Participant 1: no seat is available',
  );
  const moved = responses.filter(({ status }) => status === 200).length;
  return { moved, refused: refused.length, seats: [await seatCounters(me, dateId), await seatCounters(me, target)] };
}

/** All places of a group get the same new person at once. */
async function raceNames({ createProvider, createCaller, database }: Servers) {
  const me = await createProvider();
  const call = createCaller(me.apiKey);
  const { dateId } = await createBookableDate(me, { capacityMax: callers });
  const group = { coursedate_id: dateId, payment_method: 'invoice', places: callers };
  const { body } = await call('POST', '/v2/booking', group);
  const user = person();
  const responses = await Promise.all(
    body.summary.participants.map(({ id }: { id: number }) => call('PUT', `/v2/participants/${id}`, { user })),
  );
  const { rows } = await database.pool.query('select is_placeholder from course_users where provider_id = $1', [me.id]);
  const named = responses.filter(({ status }) => status === 200).length;
  return { named, users: rows, seats: await seatCounters(me, dateId) };
}

test(`${callers} moves to the last seat at once, on two servers: one gets it`, async () => {
  const servers = await startServers();
  for (let round = 1; round <= 5; round += 1) {
    const seats = [
      [callers - 1, 0, 0, 0],
      [1, 0, 0, 0],
    ];
    expect(await raceMoves(servers)).toEqual({ moved: 1, refused: callers - 1, seats });
  }
});

test(`${callers} places of a group named at once, on two servers: the person is one course user`, async () => {
  const servers = await startServers();
  for (let round = 1; round <= 5; round += 1)
    expect(await raceNames(servers)).toEqual({
      named: callers,
      users: [{ is_placeholder: false }],
      seats: [callers, 0, 0, 0],
    });
});

test('negative control: without lock and queue the last seat is given twice, and a name fails', async () => {
  const servers = await startServers({ unlocked: true });
  let [moved, named] = [1, callers];
  for (let round = 1; round <= 15 && moved <= 1; round += 1) ({ moved } = await raceMoves(servers));
  for (let round = 1; round <= 15 && named === callers; round += 1) ({ named } = await raceNames(servers));
  expect([moved > 1, named < callers]).toEqual([true, true]);
});
