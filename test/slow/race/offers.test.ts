import { expect, test } from 'vitest';
import { bookingBody, bookOrFail, createBookableDate, execute, person, persons } from '../../support/booking.ts';
import { createLinkToken, visitor } from '../../support/pages.ts';
import { loadUnguarded, type Unguarded } from '../../support/unguarded.ts';
import { openTestApp, openTestDatabase, ownDatabase, send } from '../../support/test-app.ts';
import type { Log } from '../../../src/core/log.ts';
import { startJobs } from '../../../src/database/periodic.ts';
import { dueHoldsJob } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';

const [places, callers] = [10, 300];
const wait = { config: { waiting_list_when_full: true } };

/**
 * 300 callers wait for ten seats, which become free at once. Each offer is open for a second; two of three people accept
 * it, by its link and by the school at once, close to its end. Two servers, each with its worker.
 */
async function race(isGuarded: boolean) {
  const name = await ownDatabase();
  if (!isGuarded) await execute(name, 'drop function refuse_unlocked cascade');
  const { buildApp, openDatabase }: Partial<Unguarded> = isGuarded ? {} : await loadUnguarded(['lock', 'queue']);
  const options = { poolSize: isGuarded ? 4 : 12, acquireMs: 30_000, writeMs: 30_000 };
  const open = () => openTestApp(openTestDatabase(name, options, openDatabase), {}, buildApp);
  const servers = [await open(), await open()] as const;
  const observer = openTestDatabase(name);
  const warnings: string[] = [];
  const log = { warn: (text: unknown) => void warnings.push(String(text)) } as Pick<Log, 'warn'>;
  const stops = servers.map(({ database }) => startJobs([{ ...dueHoldsJob(database, log), intervalMs: 100 }], log));
  try {
    const me = await servers[0].createProvider();
    const put = (n: number, id: number, idStatus: number) =>
      send(servers[n % 2]!.app, {
        method: 'PUT',
        url: `/v2/participants/${id}`,
        headers: { 'x-api-key': me.apiKey },
        payload: { idStatus },
      });
    const accept = (token: string | undefined) =>
      visitor(servers[1].app).post(`/my/offer/${token}`, { answer: 'accept' });
    const { dateId } = await createBookableDate(me, {
      ...{ capacityMax: places, capacityWait: callers, waitingMode: 'offer' },
    });
    const first = await bookOrFail(me, dateId, { participants: persons(places) });
    const join = (n: number) =>
      send(servers[n % 2]!.app, {
        method: 'POST',
        url: '/v2/booking',
        headers: { 'x-api-key': me.apiKey },
        payload: bookingBody(dateId, { participants: [person()], ...wait }),
      });
    const joined = await Promise.all(Array.from({ length: callers }, (_, n) => join(n)));
    expect(joined.filter(({ status }) => status !== 201)).toEqual([]);
    await Promise.all(first.participants.map(({ id }, n) => put(n, id, 4)));

    const query = async <Row extends object>(text: string) =>
      (await observer.pool.query<Row & Record<string, unknown>>(text, [me.id])).rows;
    const shorten = `update participants set held_until = least(held_until, status_updated_at + interval '1 second')
      where provider_id = $1 and held_until is not null returning id, booking_id as booking`;
    const taken: number[] = [];
    const answers: Promise<unknown>[] = [];
    const answered = new Set<number>();
    for (let quiet = 0; quiet < 10;) {
      const offers = await observer.write([me.id], ['people', 'dates'], async ({ tx }) => {
        const { rows } = await tx.$client.query<{ id: number; booking: number }>(shorten, [me.id]);
        return rows;
      });
      for (const { id, booking } of offers.filter((one) => one.id % 3 > 0 && !answered.has(one.id))) {
        answered.add(id);
        const later = new Promise((done) => setTimeout(done, 600 + (id % 50) * 10));
        const link = createLinkToken(me, { bookingId: booking, participantId: id });
        answers.push(later.then(async () => Promise.all([put(0, id, 1), accept(await link)])));
      }
      const [seats] = await query<{ taken: number }>(
        'select num_confirmed + num_overbooked + num_unconfirmed as taken from course_dates where provider_id = $1',
      );
      taken.push(seats!.taken);
      quiet = offers.length === 0 ? quiet + 1 : 0;
      await new Promise((done) => setTimeout(done, 50));
    }
    await Promise.all(answers);
    const events = await query<{ change: string; id: number }>(
      `select change, resource_id::int as id from events where provider_id = $1 and resource = 'offer' order by events.id`,
    );
    const mails = await query<{ id: number }>(
      `select participant_id::int as id from outbox where provider_id = $1 and purpose = 'offer'`,
    );
    const [end] = await query<{ confirmed: number; open: number }>(
      `select count(*) filter (where status_id = 1)::int as confirmed, count(held_until)::int as open
        from participants where provider_id = $1`,
    );
    return { events, mails, end: end!, most: Math.max(...taken), warnings };
  } finally {
    for (const stop of stops) stop();
    await observer.close();
    await Promise.all(servers.map((server) => server.close()));
  }
}

type Outcome = Awaited<ReturnType<typeof race>>;

/** Offers that were made while one of the same person was open, or that ended twice or never. */
function lostOffers({ events }: Outcome) {
  const open = new Set<number>();
  const wrong = events.filter(({ change, id }) => {
    if (change !== 'made') return !open.delete(id);
    const isOpen = open.has(id);
    open.add(id);
    return isOpen;
  });
  return wrong.length + open.size;
}

test(`${callers} callers, ${places} seats, offers of a second: ${places} places and no lost offer`, async () => {
  const outcome = await race(true);
  const count = (change: string) => outcome.events.filter((event) => event.change === change).length;
  expect(outcome).toMatchObject({ end: { confirmed: places, open: 0 }, most: places, warnings: [] });
  expect(lostOffers(outcome)).toBe(0);
  expect(count('accepted')).toBe(places);
  expect(count('lapsed')).toBeGreaterThan(0);
  expect(outcome.mails).toHaveLength(count('made'));
});

test('negative control: without lock and queue offers are lost, or more seats are given', { retry: 5 }, async () => {
  const outcome = await race(false);
  expect(lostOffers(outcome) + Math.max(0, outcome.most - places)).toBeGreaterThan(0);
});
