import { expect, test } from 'vitest';
import { addDate } from '../../support/dates.ts';
import { startServers, type Caller } from '../../support/servers.ts';

type Outcome = { booked: number[]; refused: number; others: unknown[] };

/** Concurrent requests for one seat each; returns their statuses and the number rejected for lack of seats. */
async function race(call: Caller, dateId: number, callers: number, config: object = {}): Promise<Outcome> {
  const responses = await Promise.all(
    Array.from({ length: callers }, (_, n) =>
      call('POST', '/v2/booking', {
        coursedate_id: dateId,
        payment_method: 'invoice',
        participants: [{ firstname: 'Caller', lastname: `No ${n}`, email: `caller-${dateId}-${n}@race.example` }],
        config,
      }),
    ),
  );
  const isRefusal = ({ status, body }: (typeof responses)[number]) =>
    status === 400 && body.errors.length === 1 && body.errors[0].code === 'no_seats_available';
  return {
    booked: responses.filter(({ status }) => status === 201).map(({ body }) => body.summary.participants[0].status_id),
    refused: responses.filter(isRefusal).length,
    others: responses.filter((response) => response.status !== 201 && !isRefusal(response)),
  };
}

const count = (statuses: number[], status: number) => statuses.filter((one) => one === status).length;

test('500 callers for 10 seats on two servers: exactly 10 succeed and the rest are rejected', async () => {
  const servers = await startServers();
  const me = await servers.createProvider();
  const call = servers.createCaller(me.apiKey);
  const courseId = await me.course();
  for (let round = 1; round <= 10; round += 1) {
    const dateId = await addDate(me, courseId, { capacityMax: 10 });
    const { booked, refused, others } = await race(call, dateId, 500);
    expect([round, booked, refused, others]).toEqual([round, Array(10).fill(1), 490, []]);
  }
});

test('overbooking and waiting list fill exactly to their limits', async () => {
  const servers = await startServers();
  const me = await servers.createProvider();
  const call = servers.createCaller(me.apiKey);
  const courseId = await me.course();
  const capacities = { capacityMax: 10, capacityOverbook: 2, capacityWait: 5 };

  const waiting = await race(call, await addDate(me, courseId, capacities), 500, { waiting_list_when_full: true });
  expect([count(waiting.booked, 1), count(waiting.booked, 2), count(waiting.booked, 3)]).toEqual([10, 2, 5]);
  expect([waiting.refused, waiting.others]).toEqual([483, []]);

  const without = await race(call, await addDate(me, courseId, capacities), 500);
  expect([count(without.booked, 1), count(without.booked, 2), count(without.booked, 3)]).toEqual([10, 2, 0]);
  expect([without.refused, without.others]).toEqual([488, []]);
});

test('negative control: without lock, queue and trigger the date is oversold', async () => {
  const servers = await startServers({ unlocked: true });
  const me = await servers.createProvider();
  const call = servers.createCaller(me.apiKey);
  const courseId = await me.course();
  let oversold = 0;
  for (let round = 1; round <= 15 && oversold === 0; round += 1) {
    const { booked } = await race(call, await addDate(me, courseId, { capacityMax: 10 }), 200);
    oversold = Math.max(0, booked.length - 10);
  }
  expect(oversold).toBeGreaterThan(0);
});
