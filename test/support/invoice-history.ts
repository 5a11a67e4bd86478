import { endDueHoldsOfSchool } from '../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { createBookableDate, createVoucher, deregister, endOffers, person } from './booking.ts';
import { changeDate } from './dates.ts';
import type { InvoiceDocument } from './invoicing.ts';
import { createCampaign, createCustomer, write } from './orders.ts';
import { createLinkToken, visitor } from './pages.ts';
import type { Provider, TestApp } from './test-app.ts';

type Item = Record<string, any>;
type Booking = { id: string; order: number; payer: string; people: number[] };
type Random = (count: number) => number;

/** Whole numbers below a count, the same for a seed. */
function randomBy(seed: number): Random {
  let state = seed;
  return (count) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  };
}
const hundredths = (amount: number | string) => Math.round(Number(amount) * 100);

/** Runs the invoicing program, killed after its first document if it is to stop there; returns the documents it made. */
type InvoiceRun = (killed: boolean) => Promise<InvoiceDocument[]>;

/**
 * A school in which people book, leave by the interface and on their pages, move, get credits, pay and are refunded at
 * random, with invoice runs between; returns what does not agree in the end.
 */
export async function playHistory({ app, database }: TestApp, me: Provider, seed: number, runProgram: InvoiceRun) {
  const random = randomBy(seed);
  const pick = <T>(all: T[]) => all[random(all.length)]!;
  const isOnce = (count: number) => random(count) === 0;
  const school = await openSchool(me);
  const [bookings, payments] = [[] as Booking[], [] as { order: number; id: number }[]];
  const documents = new Map<number, InvoiceDocument>();
  const wrong: string[] = [];

  /** A refusal is an answer too, a fault is not. */
  async function send(method: 'POST' | 'PUT' | 'DELETE', path: string, body: object = {}) {
    const response = await me.request(method)(path, body);
    if (response.status >= 500) wrong.push(`${path} ${JSON.stringify(body)}: ${response.status}`);
    return response.status < 300 ? response.json<Item>() : undefined;
  }
  const getOrder = async (id: number) =>
    (await me.get(`/v2/orders/${id}?include=credit,balance,invoicing`)).json<Item>();
  const getOrders = async () =>
    (await me.get('/v2/orders?exported=true&limit=250&include=credit,balance,invoicing')).json<Item[]>();

  async function book() {
    const people = Array.from({ length: 1 + random(3) }, () => person(isOnce(4) ? { status_id: 3 } : {}));
    const first = `${people[0]!.firstname} ${people[0]!.lastname}`;
    const { customer_id, ...payers } = school;
    const [payer, fields] = pick<[string, object]>([
      ['Customer AS', { customer_id, company: 'Other AS' }],
      ['Company AS', { company: 'Company AS', booker_name: 'Other Booker' }],
      ['Kari Booker', { booker_name: 'Kari Booker' }],
      [first, {}],
    ]);
    const codes = pick([{}, {}, { voucher_code: payers.voucher }, { campaign_code: payers.campaign }]);
    const config = { waiting_list_when_full: 1 };
    const body = { coursedate_id: pick(school.dates), payment_method: 'invoice', participants: people };
    const made = await send('POST', '/v2/booking', { ...body, ...fields, ...codes, config });
    if (made === undefined) return;
    const { booking_id: id, order_id, participants } = made['summary'] as Item;
    bookings.push({ id, order: Number(order_id), payer, people: (participants as Item[]).map((one) => one['id']) });
  }

  async function leave({ id, people }: Booking, participant: number) {
    const way = random(4);
    const withFee = isOnce(3) ? 1 : 0;
    if (way === 0) await send('PUT', `/v2/participants/${participant}`, { idStatus: withFee ? 8 : 4 });
    else if (way === 1) {
      const { coursedate } = (await me.get(`/v2/participants/${participant}`)).json<Item>();
      const token = await createLinkToken(me, { bookingId: Number(id) });
      const path = `/my/booking/${token}/cancel/${participant}`;
      await visitor(app).post(path, { date: String(coursedate['id']), fee: 'yes' });
    } else
      await deregister(me, id, { participants: isOnce(4) ? people : [participant], config: { with_fee: withFee } });
  }

  async function credit(order: number, participant: number) {
    const { lines } = await getOrder(order);
    const { id: line_id, quantity } = pick(lines as Item[]) as { id: number; quantity: number };
    const part = pick<object>([
      { quantity: 1 + random(quantity) },
      { amount: 1 + random(20_000) / 100 },
      { participants: [participant] },
      { quantity: 1, participants: [participant] },
      {},
    ]);
    const fee = isOnce(4) ? { fee: 10.01 } : {};
    await send('POST', `/v2/orders/${order}/credit`, { lines: [{ line_id, ...part }], ...fee, deregister: isOnce(2) });
  }

  async function pay(order: number) {
    const { due, owed } = (await getOrder(order))['balance'] as { due: number; owed: number };
    const body = pick<object>([{}, { amount: Math.ceil(due * 50) / 100 }, { amount: due + 100, overpaid: true }]);
    const made = await send('POST', `/v2/orders/${order}/payments`, owed > 0 ? { amount: -owed } : body);
    if (made !== undefined) payments.push({ order, id: made['id'] as number });
  }

  async function run(killed = false) {
    for (const one of await runProgram(killed)) {
      const known = documents.get(one.id);
      // A run that was killed may make a document again, under the same reference.
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(one))
        wrong.push(`${one.id} is ${JSON.stringify(known)}, then ${JSON.stringify(one)}`);
      documents.set(one.id, one);
    }
  }

  async function act() {
    const booking = pick(bookings);
    const participant = pick(booking.people);
    const pickOrder = async () => pick(await getOrders())['id'] as number;
    const acts = {
      book,
      leave: () => leave(booking, participant),
      credit: async () => credit(isOnce(3) ? await pickOrder() : booking.order, participant),
      move: () =>
        send('POST', `/v2/participants/${participant}/move`, {
          coursedate_id: pick(school.dates),
          price: isOnce(3) ? 'keep' : 'difference',
        }),
      state: () => send('PUT', `/v2/participants/${participant}`, { idStatus: pick([1, 3, 7]) }),
      pay: async () => pay(await pickOrder()),
      reverse: async () => {
        if (payments.length === 0) return;
        const { order, id } = pick(payments);
        await send('DELETE', `/v2/orders/${order}/payments/${id}`);
      },
      lapse: async () => {
        await endOffers(me);
        await endDueHoldsOfSchool(database, me.id);
      },
      run: () => run(isOnce(3)),
    };
    const names = [
      'book',
      'leave',
      'leave',
      'leave',
      'credit',
      'credit',
      'move',
      'move',
      'state',
      'pay',
      'pay',
    ] as const;
    await acts[pick([...names, 'reverse', 'lapse', 'run', 'run', 'run'] as (keyof typeof acts)[])]();
  }

  for (let n = 0; n < 3; n += 1) await book();
  for (let n = 0; n < 18; n += 1) await act();
  // Nobody waits for a date that is over.
  const days = { startAt: '2026-01-05', endAt: '2026-01-05', deadlineAt: '2026-01-05' };
  for (const id of school.dates) await changeDate(me, id, days);
  await endOffers(me);
  await endDueHoldsOfSchool(database, me.id);
  await run();
  for (const { id } of await getOrders()) {
    const { due, owed } = (await getOrder(id as number))['balance'] as { due: number; owed: number };
    if (due > 0) await send('POST', `/v2/orders/${id}/payments`, {});
    else if (owed > 0) await send('POST', `/v2/orders/${id}/payments`, { amount: -owed });
  }
  const before = documents.size;
  await run();
  if (documents.size > before) wrong.push('a second run makes documents');
  wrong.push(...(await findDifferences(me, await getOrders(), bookings, documents)));
  return { wrong, documents: documents.size };
}

async function openSchool(me: Provider) {
  await me.put('/v2/booking-settings', { self_cancellation: true });
  const dates: number[] = [];
  for (const [price, vat, seats] of [
    [1000, 25, {}],
    [333.33, 12, { capacityMax: 2, capacityWait: 9 }],
    [1777.77, 25, { capacityMax: 5, capacityWait: 2 }],
    [77.01, 0, { capacityMax: 1, capacityWait: 5, waitingMode: 'offer' as const }],
  ] as const) {
    const { courseId, dateId } = await createBookableDate(me, seats);
    const set = `price = ${price}, vat_percentage = ${vat}`;
    await write(me, (tx) => tx.execute(`update products set ${set} where course_id = ${courseId}`));
    dates.push(dateId);
  }
  const campaign = 'THIRD';
  await createCampaign(me, { campaignCode: campaign, discountValue: '33.33' });
  const { code: voucher } = await createVoucher(me, { amount: '2500' });
  return { dates, campaign, voucher, customer_id: await createCustomer(me, { title: 'Customer AS' }) };
}

/** What the documents do not agree with. */
async function findDifferences(
  me: Provider,
  orders: Item[],
  bookings: Booking[],
  documents: Map<number, InvoiceDocument>,
) {
  const wrong: string[] = [];
  const byId = new Map(orders.map((order) => [order['id'] as number, order]));
  const amountOf = (id: number) => hundredths(documents.get(id)?.amount ?? 0);
  const rootOf = (order: Item): Item => {
    const { first_order_id } = order['credit'] as { first_order_id: number | null };
    return first_order_id === null ? order : rootOf(byId.get(first_order_id)!);
  };
  const payers = new Map(bookings.map(({ order, payer }) => [order, payer]));
  for (const order of orders) {
    const { id, exported_at, credit, balance, invoicing, lines, calculated_totals: totals } = order;
    if (exported_at === null) wrong.push(`${id} is not exported`);
    const payer = payers.get(rootOf(order)['id'] as number);
    const names = [documents.get(id as number)?.payer ?? payer, invoicing.payer.name as string];
    if (names.some((name) => name !== payer)) wrong.push(`${id} is to ${names.join(', ')} instead of ${payer}`);
    if (invoicing.uncredited.length > 0 || invoicing.is_pending) wrong.push(`${id} is ${JSON.stringify(invoicing)}`);
    const sumOf = (name: string) => (lines as Item[]).reduce((sum, line) => sum + hundredths(line[name] as number), 0);
    for (const [name, total] of Object.entries({
      ...{ net: totals.total_amount_after_discounts, vat: totals.total_amount_of_vat },
      gross: totals.total_amount_incl_discounts_and_vat,
    }))
      if (sumOf(name) !== hundredths(total as number)) wrong.push(`${name} of the lines of ${id} is ${sumOf(name)}`);
    if (credit.kind === 'credit') continue;
    const invoiced = [id as number, ...(credit.credit_order_ids as number[])].reduce(
      (sum, one) => sum + amountOf(one),
      0,
    );
    const [paid, due, owed] = [balance.paid, balance.due, balance.owed].map((amount) => hundredths(amount as number));
    if (invoiced !== paid! + due! - owed!)
      wrong.push(`${id}: ${invoiced} is invoiced less credited, ${paid} paid, ${due} due, ${owed} owed`);
    if (due !== 0 || owed !== 0) wrong.push(`${id}: ${due} is due and ${owed} owed after all is paid`);
  }
  for (const { id, people, order } of bookings) {
    const { summary } = (await me.get(`/v2/booking/${id}?include=balance`)).json<{ summary: Item }>();
    const statuses = (summary['participants'] as Item[]).map(({ status_id }) => status_id as number);
    const { total, credited } = summary['balance'] as { total: number; credited: number };
    const owesNothing = statuses.every((status) => status === 3 || status === 4);
    if (statuses.length !== people.length || (owesNothing && total !== credited))
      wrong.push(`${order}: statuses ${statuses.join()}, ${total} less ${credited}`);
  }
  return wrong;
}
