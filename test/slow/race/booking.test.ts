import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { campaigns } from '../../../src/database/tables/campaigns.ts';
import { orders } from '../../../src/database/tables/orders.ts';
import { allAreas } from '../../../src/database/areas.ts';
import {
  createBookableDate,
  bookingBody,
  errorCodes,
  seatCounters,
  execute,
  createVoucher,
  person,
  statusesOnDate,
} from '../../support/booking.ts';
import { createCampaign } from '../../support/orders.ts';
import { loadUnguarded, type Guard, type Unguarded } from '../../support/unguarded.ts';
import {
  openTestDatabase,
  openTestApp,
  ownDatabase,
  send,
  type TestResponse,
  type Provider,
  type TestApp,
} from '../../support/test-app.ts';

type Stage = {
  /** The name of the database. */
  name: string;
  me: Provider;
  servers: [TestApp, TestApp];
  /** Sends all requests at once, one half to each server. */
  all(
    requests: { url?: string; method?: 'POST' | 'PUT'; payload?: object; headers?: object }[],
  ): Promise<TestResponse[]>;
};

/** Two servers with a pool each on one database. Not `guarded`: without lock, queue and those of `removed`. */
async function runRace<T>(guarded: boolean, work: (stage: Stage) => Promise<T>, removed: Guard[] = []): Promise<T> {
  const name = await ownDatabase();
  if (!guarded) await execute(name, 'drop function refuse_unlocked cascade');
  if (removed.includes('voucherBalance')) await execute(name, 'alter table vouchers drop constraint vouchers_balance');
  const { buildApp, openDatabase }: Partial<Unguarded> = guarded
    ? {}
    : await loadUnguarded(['lock', 'queue', ...removed]);
  const options = { poolSize: guarded ? 4 : 12, acquireMs: 30_000, writeMs: 30_000 };
  const open = () => openTestApp(openTestDatabase(name, options, openDatabase), {}, buildApp);
  const servers: [TestApp, TestApp] = [await open(), await open()];
  try {
    const me = await servers[0].createProvider();
    const all: Stage['all'] = (requests) =>
      Promise.all(
        requests.map(({ url = '/v2/booking', method = 'POST', payload, headers }, n) =>
          send(servers[n % 2]!.app, { method, url, headers: { 'x-api-key': me.apiKey, ...headers }, payload }),
        ),
      );
    return await work({ name, me, servers, all });
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

const callers = (count: number, dateId: number, fields: object = {}) =>
  Array.from({ length: count }, () => ({ payload: bookingBody(dateId, { ...fields, participants: [person()] }) }));
const created = (responses: TestResponse[]) => responses.filter(({ status }) => status === 201);
const tally = (values: number[]) => [1, 2, 3].map((one) => values.filter((value) => value === one).length);

/** A race may go well by chance. */
const retried = { retry: 10 };

describe('seats', () => {
  const sold = (guarded: boolean, rounds: number) =>
    runRace(guarded, async ({ me, all }) => {
      const results = [];
      for (let round = 0; round < rounds; round += 1) {
        const { dateId } = await createBookableDate(me, { capacityMax: 10 });
        const responses = await all(callers(200, dateId));
        const refusals = responses
          .filter(({ status }) => status === 400)
          .map((response) => errorCodes(response)!.join());
        results.push({
          created: created(responses).length,
          refusals: new Set(refusals),
          counters: await seatCounters(me, dateId),
        });
      }
      return results;
    });

  test('10 of 200 concurrent callers get the 10 seats and the others are rejected', async () => {
    for (const round of await sold(true, 3))
      expect(round).toEqual({ created: 10, refusals: new Set(['no_seats_available']), counters: [10, 0, 0, 0] });
  });

  test('negative control: without lock and queue more seats are sold', retried, async () => {
    const [round] = await sold(false, 1);
    expect(round!.created).toBeGreaterThan(10);
    // The counters are correct nevertheless: triggers maintain them.
    expect(round!.counters).toEqual([round!.created, 0, 0, 0]);
  });

  const tiers = (guarded: boolean) =>
    runRace(guarded, async ({ me, all }) => {
      const { dateId } = await createBookableDate(me, { capacityMax: 10, capacityOverbook: 2, capacityWait: 5 });
      await all(callers(100, dateId, { config: { waiting_list_when_full: true } }));
      return tally(await statusesOnDate(me, dateId));
    });

  test('seats, overbook places and waiting list fill up to the last and no further', async () => {
    expect(await tiers(true)).toEqual([10, 2, 5]);
  });

  test('negative control: without lock and queue they overflow', retried, async () => {
    const [confirmed = 0, overbooked = 0, waiting = 0] = await tiers(false);
    expect(confirmed + overbooked + waiting).toBeGreaterThan(17);
  });

  const churn = (guarded: boolean) =>
    runRace(guarded, async ({ me, servers, all }) => {
      const { dateId } = await createBookableDate(me, { capacityMax: 5, capacityOverbook: 1, capacityWait: 4 });
      const wait = { config: { waiting_list_when_full: true } };
      const samples: number[][] = [];
      const clock = { runs: true };
      const sampling = (async () => {
        const text = `select num_confirmed, num_overbooked, num_waiting, array(select count(p.id)::int from unnest(array[1, 2, 3]) s
          left join participants p on p.provider_id = $1 and p.course_date_id = $2 and p.status_id = s group by s order by s) as recount
          from course_dates where provider_id = $1 and id = $2`;
        while (clock.runs) {
          const { rows } = await servers[1].database.pool.query<{
            recount: number[];
            num_confirmed: number;
            num_overbooked: number;
            num_waiting: number;
          }>(text, [me.id, dateId]);
          const [row] = rows;
          expect([row!.num_confirmed, row!.num_overbooked, row!.num_waiting]).toEqual(row!.recount);
          samples.push(row!.recount);
          await new Promise((done) => setTimeout(done, 2));
        }
      })();
      const booked = created(await all(callers(30, dateId, wait)));
      const leaving = booked.map((response) => ({
        url: `/v2/booking/${response.json().summary.booking_id}/deregister`,
        method: 'PUT' as const,
        payload: {},
      }));
      const more = callers(40, dateId, wait);
      const rest = await all(more.flatMap((caller, n) => (leaving[n] ? [caller, leaving[n], leaving[n]] : [caller])));
      clock.runs = false;
      await sampling;
      const errors = rest.filter(({ status }) => status >= 500).length;
      return { errors, counts: [...samples, tally(await statusesOnDate(me, dateId))] };
    });

  test('concurrent bookings and deregistrations never oversell and leave no seat free with people waiting', async () => {
    const { errors, counts } = await churn(true);
    for (const [confirmed = 0, overbooked = 0, waiting = 0] of counts) {
      expect(confirmed).toBeLessThanOrEqual(5);
      expect(confirmed + overbooked).toBeLessThanOrEqual(6);
      expect(waiting).toBeLessThanOrEqual(4);
      if (overbooked + waiting > 0) expect(confirmed).toBe(5);
      if (waiting > 0) expect(overbooked).toBe(1);
    }
    expect([errors, counts.length > 3]).toEqual([0, true]);
  });

  test('negative control: without lock and queue seats are oversold', retried, async () => {
    const { counts } = await churn(false);
    const isOver = ([confirmed = 0, overbooked = 0, waiting = 0]: number[]) =>
      confirmed + overbooked > 6 || waiting > 4;
    expect(counts.some(isOver)).toBe(true);
  });
});

describe('vouchers', () => {
  const spent = (guarded: boolean, removed: Guard[] = []) =>
    runRace(
      guarded,
      async ({ me, servers, all }) => {
        const { dateId } = await createBookableDate(me, { course: { price_value: 30 } });
        const { id, code } = await createVoucher(me, { amount: '100.00' });
        const responses = await all(callers(60, dateId, { voucher_code: code }));
        const { rows } = await servers[0].database.pool.query<{ balance: string; redeemed: string[] }>(
          `select balance, array(select amount::text from voucher_redemptions r where r.provider_id = $1 and r.voucher_id = $2 order by amount desc) as redeemed
            from vouchers where provider_id = $1 and id = $2`,
          [me.id, id],
        );
        return { statuses: [...new Set(responses.map(({ status }) => status))].sort(), ...rows[0]! };
      },
      removed,
    );
  const sum = (amounts: string[]) => amounts.reduce((total, amount) => total + Number(amount), 0);

  test('a voucher pays for three of 60 concurrent bookings, one in part, and all are booked', async () => {
    const redeemed = ['30.00', '30.00', '30.00', '10.00'];
    expect(await spent(true)).toEqual({ statuses: [201], balance: '0.00', redeemed });
  });

  test('without lock and queue the balance guard prevents double spending but rejects callers', async () => {
    const { statuses, balance, redeemed } = await spent(false);
    expect(sum(redeemed) + Number(balance)).toBe(100);
    expect(Number(balance)).toBeGreaterThanOrEqual(0);
    expect(statuses).toContain(503);
  });

  test('negative control: without lock, queue and guard the voucher is spent more than once', retried, async () => {
    const { redeemed } = await spent(false, ['voucherBalance']);
    expect(sum(redeemed)).toBeGreaterThan(100);
  });
});

describe('campaigns', () => {
  /** Archives a campaign during concurrent bookings; returns how many bookings used it by then, and in the end. */
  const discounted = (guarded: boolean) =>
    runRace(guarded, async ({ name, me, all }) => {
      const { dateId } = await createBookableDate(me);
      const id = await createCampaign(me, { campaignCode: 'rush', discountValue: '50' });
      // A third process, outside the queues of the two servers.
      const office = openTestDatabase(name);
      const having = and(eq(orders.providerId, me.id), eq(orders.campaignId, id));
      const archive = async () => {
        while ((await office.db.$count(orders, having)) < 5);
        return office.write([me.id], allAreas, async ({ tx }) => {
          await tx.update(campaigns).set({ isArchived: true }).where(eq(campaigns.id, id));
          return tx.$count(orders, having);
        });
      };
      const [then, responses] = await Promise.all([archive(), all(callers(150, dateId, { campaign_code: 'rush' }))]);
      const end = await office.db.$count(orders, having);
      await office.close();
      return { then, end, created: created(responses).length };
    });

  test('no booking uses a campaign after it is archived', async () => {
    const { then, end, created } = await discounted(true);
    expect([end, created]).toEqual([then, then]);
    expect(then).toBeGreaterThanOrEqual(5);
    expect(then).toBeLessThan(150);
  });

  test('negative control: without lock and queue some bookings still use it', retried, async () => {
    const { then, end } = await discounted(false);
    expect(end).toBeGreaterThan(then);
  });
});

describe('idempotency keys', () => {
  const repeated = (guarded: boolean) =>
    runRace(guarded, async ({ me, all }) => {
      const { dateId } = await createBookableDate(me);
      const payload = bookingBody(dateId);
      // The course user exists, since only one concurrent request could create it.
      await me.post('/v2/booking', payload);
      const headers = { 'idempotency-key': 'one' };
      const responses = await all(Array.from({ length: 50 }, () => ({ payload, headers })));
      return {
        texts: new Set(created(responses).map(({ text }) => text)).size,
        created: created(responses).length,
        seats: await seatCounters(me, dateId),
      };
    });

  test('50 equal concurrent requests create one booking and get equal responses', async () => {
    expect(await repeated(true)).toEqual({ texts: 1, created: 50, seats: [2, 0, 0, 0] });
  });

  test('negative control: without lock and queue several bookings are created', retried, async () => {
    const { texts, seats } = await repeated(false);
    expect(texts).toBeGreaterThan(1);
    expect(seats[0]).toBeGreaterThan(2);
  });
});

test('concurrent bookings of one person create one course user', async () => {
  await runRace(true, async ({ me, all }) => {
    const { dateId } = await createBookableDate(me);
    const participants = [person({ email: 'one@people.example' })];
    const responses = await all(Array.from({ length: 30 }, () => ({ payload: bookingBody(dateId, { participants }) })));
    expect(created(responses)).toHaveLength(30);
    expect((await me.get('/v2/search-users?email=one@people.example')).json()).toHaveLength(1);
  });
});
