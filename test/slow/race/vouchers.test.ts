import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { products } from '../../../src/database/tables/courses.ts';
import { createBookableDate, bookingBody, createVoucher, persons, type Summary } from '../../support/booking.ts';
import { write } from '../../support/orders.ts';
import { startServers } from '../../support/servers.ts';
import type { Provider } from '../../support/test-app.ts';

/** Price of a seat, the last one with VAT, in hundredths. */
const place = { exclVat: 33, vat: 8.25, inclVat: 41.25, hundredths: 4_125 };

/** A date with enough seats. */
async function dateToPayFor(me: Provider) {
  const { courseId, dateId } = await createBookableDate(me, {
    course: { price_value: place.exclVat },
    capacityMax: 10_000,
  });
  await write(me, (tx) => tx.update(products).set({ vatPercentage: '25' }).where(eq(products.courseId, courseId)));
  return dateId;
}

/** State of a voucher at one time, in hundredths. */
type Moment = { amount: number; balance: number; spent: number };
const moment = `
  select (amount * 100)::int as amount, (balance * 100)::int as balance, (
    select coalesce(sum(r.amount) * 100, 0)::int from voucher_redemptions r
    where r.provider_id = v.provider_id and r.voucher_id = v.id
  ) as spent
  from vouchers v where v.provider_id = $1 and v.id = $2`;

/** Amounts that a voucher paid, per order in creation order, in hundredths. */
type Paid = { order: string; isPaid: boolean; pays: number };
const payments = `
  select o.id::text as order, o.is_paid as "isPaid", coalesce(r.amount * 100, 0)::int as pays
  from orders o left join voucher_redemptions r
    on r.provider_id = o.provider_id and r.order_id = o.id and r.voucher_id = $2
  where o.provider_id = $1 and o.id = any($3) order by o.created_at`;

type Rush = { sizes: number[]; amount: number; copies?: number; unlocked?: boolean };

/**
 * Two servers and rounds of concurrent bookings of these sizes, paid by one voucher of this amount. Copies of a booking
 * share its idempotency key and alternate between the servers.
 */
async function openRush({ sizes, amount, copies = 1, unlocked = false }: Rush) {
  const { database, createProvider, createCaller: callerOf } = await startServers({ unlocked });
  const me = await createProvider();
  const call = callerOf(me.apiKey);

  return async () => {
    const dateId = await dateToPayFor(me);
    const { id, code } = await createVoucher(me, { amount: (amount / 100).toFixed(2) });
    const now = async () => (await database.pool.query<Moment>(moment, [me.id, id])).rows[0]!;
    const wrong: unknown[] = [];

    let booking = true;
    const watch = async () => {
      while (booking) {
        const { balance, spent } = await now();
        if (balance < 0 || balance + spent !== amount) wrong.push({ balance, spent });
        await sleep(10);
      }
    };
    const send = (size: number, n: number) => {
      const body = bookingBody(dateId, { voucher_code: code, participants: persons(size) });
      const headers: Record<string, string> = copies > 1 ? { 'idempotency-key': `${dateId} ${n}` } : {};
      return Array.from({ length: copies }, () => call('POST', '/v2/booking', body, headers));
    };
    const [responses] = await Promise.all([Promise.all(sizes.flatMap(send)).finally(() => (booking = false)), watch()]);
    wrong.push(...responses.filter(({ status }) => status !== 201));
    const booked: Summary[] = responses.filter(({ status }) => status === 201).map(({ body }) => body.summary);
    // The voucher does not change the totals.
    const isPriced = ({ number_of_participants: size, ...one }: Summary) =>
      one.total_excl_vat === size * place.exclVat &&
      one.total_vat === size * place.vat &&
      one.total_incl_vat === size * place.inclVat;
    wrong.push(...booked.filter((one) => !isPriced(one)));

    const sizeOf = new Map(booked.map((one) => [one.order_id, one.number_of_participants]));
    const { rows: paid } = await database.pool.query<Paid>(payments, [me.id, id, [...sizeOf.keys()]]);
    // Sequentially, each order uses all that it needs or the remaining balance.
    let left = amount;
    const expectedPayments = paid.map(({ order }): Paid => {
      const total = sizeOf.get(order)! * place.hundredths;
      const pays = Math.min(left, total);
      left -= pays;
      return { order, isPaid: pays === total, pays };
    });
    const reported = [];
    for (let server = 1; server <= 2; server += 1)
      reported.push((await call('GET', `/v2/vouchers/validate/${code}`)).body.voucher.balance);
    return { wrong, booked, paid, expectedPayments, end: await now(), reported };
  };
}

const whole = 24;
const part = 1_000;
const amount = whole * place.hundredths + part;
const callers = 200;
const sizes = Array<number>(callers).fill(1);

test(`${callers} callers with a voucher for ${whole} bookings and a part, on two servers: it pays that and no more`, async () => {
  const rush = await openRush({ sizes, amount });
  for (let round = 1; round <= 3; round += 1) {
    const { wrong, booked, paid, expectedPayments, end, reported } = await rush();
    expect([round, wrong, booked.length]).toEqual([round, [], callers]);
    const nothing = Array<number>(callers - whole - 1).fill(0);
    expect(paid.map(({ pays }) => pays)).toEqual([...Array<number>(whole).fill(place.hundredths), part, ...nothing]);
    expect(paid).toEqual(expectedPayments);
    expect([end, reported]).toEqual([{ amount, balance: 0, spent: amount }, ['0.00', '0.00']]);
  }
});

test('concurrent bookings of several sizes on two servers spend a voucher exactly once', async () => {
  const sizes = Array.from({ length: 100 }, (_, n) => 1 + (n % 3));
  const rush = await openRush({ sizes, amount: 300_000, copies: 2 });
  const { wrong, booked, paid, expectedPayments, end, reported } = await rush();
  expect([wrong, booked.length, paid.length]).toEqual([[], 200, 100]);
  for (let n = 0; n < booked.length; n += 2) expect(booked[n]).toEqual(booked[n + 1]);
  expect(paid).toEqual(expectedPayments);
  expect([end, reported]).toEqual([{ amount: 300_000, balance: 0, spent: 300_000 }, ['0.00', '0.00']]);
});

test('negative control: without lock, queue and balance guard a voucher is overspent', async () => {
  const rush = await openRush({ sizes, amount, unlocked: true });
  let overspent = 0;
  for (let round = 1; round <= 15 && overspent === 0; round += 1) overspent = (await rush()).end.spent - amount;
  expect(overspent).toBeGreaterThan(0);
});
