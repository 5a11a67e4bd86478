import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { campaigns, vouchers } from '../../../src/database/tables/campaigns.ts';
import type { Tx } from '../../../src/database/client.ts';
import { createBookableDate, bookingBody, createVoucher } from '../../support/booking.ts';
import { createCampaign, createCustomer, write } from '../../support/orders.ts';
import { startServers, type HttpResponse } from '../../support/servers.ts';
import type { Provider } from '../../support/test-app.ts';

const states = ['open', 'ended', 'open', 'archived', 'open', 'off', 'open', 'waiting'] as const;
type State = (typeof states)[number];

/** Result of a booking: its total, or the error code. */
type Outcome = number | string;

/** Something a booking refers to that is created and removed repeatedly. */
type Kind = {
  /** Creates it; `fields` refer to it in a booking. */
  make(me: Provider): Promise<{ id: number; fields: Record<string, unknown> }>;
  /** Sets its state for change number `n`. */
  change(tx: Tx, now: string, id: number, state: State, n: number): PromiseLike<unknown>;
  /** Expected result of a booking after that change. */
  outcome(state: State, n: number): Outcome;
};

const price = 10_000;

const changeCampaign: Kind['change'] = (tx, now, id, state, n) =>
  tx
    .update(campaigns)
    .set({
      isActive: state !== 'off',
      isArchived: state === 'archived',
      startsAt: state === 'waiting' ? '2099-01-01' : null,
      endsAt: state === 'ended' ? now : null,
      // A different amount each time, so that the total identifies the change.
      discountValue: String(n),
      updatedAt: now,
    })
    .where(eq(campaigns.id, id));

const kinds: Record<string, Kind> = {
  "a campaign's code": {
    make: async (me) => ({
      id: await createCampaign(me, { campaignCode: 'rush', discountType: 'Value' }),
      fields: { campaign_code: 'rush' },
    }),
    change: changeCampaign,
    outcome(state, n) {
      if (state === 'open') return price - n;
      return state === 'ended' ? 'campaign_code_expired' : 'campaign_code_invalid';
    },
  },
  "a customer's agreement": {
    async make(me) {
      const customer = await createCustomer(me);
      const id = await createCampaign(me, { type: 'Agreement', discountType: 'Value' }, { customers: [customer] });
      return { id, fields: { customer_id: customer } };
    },
    change: changeCampaign,
    outcome: (state, n) => (state === 'open' ? price - n : price),
  },
  'a voucher': {
    async make(me) {
      const { id, code } = await createVoucher(me, { amount: '999999999.00' });
      return { id, fields: { voucher_code: code } };
    },
    change: (tx, now, id, state) =>
      tx
        .update(vouchers)
        .set({
          expiresAt: state === 'ended' ? now : null,
          archivedAt: state === 'archived' ? now : null,
          deletedAt: state === 'off' ? now : null,
          updatedAt: now,
        })
        .where(eq(vouchers.id, id)),
    outcome(state) {
      if (state === 'open' || state === 'waiting') return price;
      return state === 'ended' ? 'voucher_code_expired' : 'voucher_code_invalid';
    },
  },
};

const workers = 20;
/** Bookings between two changes; more than workers, so that some are sent after the change. */
const between = workers + 8;

const toOutcome = ({ status, body }: HttpResponse): Outcome =>
  status === 201 ? body.summary.total_incl_vat : body.errors[0].code;

/**
 * Workers book on two servers while a third process changes the campaign or voucher. A booking must match a change that
 * was neither replaced before it was sent nor made after its response; a successful one must match the last change
 * before the timestamp of its order. `wrong` counts the others.
 */
async function bookWhileChanging(servers: Awaited<ReturnType<typeof startServers>>, kind: Kind) {
  const me = await servers.createProvider();
  const call = servers.createCaller(me.apiKey);
  const { dateId } = await createBookableDate(me, { course: { price_value: price }, capacityMax: 100_000 });
  const { id, fields } = await kind.make(me);

  let begun = 0;
  /** Numbers of committed changes. */
  const timestamps: string[] = [];
  const change = async (n: number) => {
    begun = n;
    const timestamp = await write(me, async (tx, now) => {
      await kind.change(tx, now, id, states[n]!, n);
      return now;
    });
    timestamps.push(timestamp);
  };

  let booking = true;
  const responses: { order: string | undefined; outcome: Outcome; from: number; to: number }[] = [];
  const book = async () => {
    while (booking) {
      const from = timestamps.length - 1;
      const response = await call('POST', '/v2/booking', bookingBody(dateId, fields));
      responses.push({ order: response.body.summary?.order_id, outcome: toOutcome(response), from, to: begun });
    }
  };
  const waitForSome = async () => {
    for (const due = responses.length + between; booking && responses.length < due;) await sleep(1);
  };
  const office = async () => {
    await waitForSome();
    for (let n = 1; n < states.length; n += 1) {
      await change(n);
      await waitForSome();
    }
  };
  await change(0);
  const stop = () => (booking = false);
  await Promise.all([office, ...Array<typeof book>(workers).fill(book)].map((work) => work().finally(stop)));

  const { rows } = await servers.database.pool.query<{ id: string; n: number }>(
    `select id::text, (select count(*)::int - 1 from unnest($2::timestamptz[]) at where at < created_at) as n
      from orders where provider_id = $1`,
    [me.id, timestamps],
  );
  const lastBefore = new Map(rows.map(({ id, n }) => [id, n]));
  const outcomes = states.map((state, n) => kind.outcome(state, n));
  const isRight = ({ order, outcome, from, to }: (typeof responses)[number]) =>
    outcomes.some((one, n) => {
      const isItsChange = order === undefined || n === lastBefore.get(order);
      return one === outcome && n >= from && n <= to && isItsChange;
    });
  return {
    wrong: responses.filter((response) => !isRight(response)),
    seen: new Set(responses.map(({ outcome }) => outcome)),
    expected: new Set(outcomes),
  };
}

test('a booking uses the latest committed campaign on two servers', async () => {
  const servers = await startServers();
  for (const [name, kind] of Object.entries(kinds)) {
    const { wrong, seen, expected } = await bookWhileChanging(servers, kind);
    expect([name, wrong]).toEqual([name, []]);
    expect(seen).toEqual(expected);
  }
});

test('negative control: without lock and queue some bookings use an ended campaign', async () => {
  const servers = await startServers({ unlocked: true });
  for (const [name, kind] of Object.entries(kinds)) {
    let late = 0;
    for (let round = 1; round <= 15 && late === 0; round += 1) {
      const { wrong } = await bookWhileChanging(servers, kind);
      late = wrong.filter(({ order }) => order !== undefined).length;
    }
    expect([name, late > 0]).toEqual([name, true]);
  }
});
