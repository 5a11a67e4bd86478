import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, deregister, person, persons } from '../../support/booking.ts';
import { endDueHoldsOfSchool } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { createCampaign, createProduct, mainProduct, write } from '../../support/orders.ts';
import { createLinkToken, visitor } from '../../support/pages.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { app, database, createProvider } = await sharedTestApp();
const anyone = visitor(app);

type Item = Record<string, any>;
type Share = { order: number; line: number; vat: number; left: number; isCredited: boolean };
/** What is left of what was charged of a person, in hundredths without VAT, by order line, the newest first. */
type Place = { id: number; date: number; status: 'stays' | 'free' | 'fee'; leftAt: number; shares: Share[] };
type Book = {
  me: Provider;
  courseId: number;
  booking: number;
  order: number;
  /** The lines of the course and of another product. */
  lines: number[];
  product: number;
  places: Place[];
  dates: number[];
  prices: number[];
  vats: number[];
  percent: number;
  wrong: string[];
};

const prices = fc.constantFrom(0, 1000, 1300, 999, 77);
const nth = fc.nat({ max: 20 });
const step = fc.record({
  kind: fc.constantFrom(
    ...(['leave', 'leave', 'items', 'items', 'items', 'named', 'amount', 'move', 'move', 'swap', 'rest'] as const),
    ...(['pay', 'cancel', 'cancel', 'lapse'] as const),
  ),
  ...{ a: nth, b: nth, line: fc.nat({ max: 1 }), withFee: fc.boolean(), deregister: fc.boolean() },
  fee: fc.constantFrom(0, 0, 5, 12.34),
});
const vat = fc.constantFrom(0, 12, 12.5, 25);
const books = fc.record({
  people: fc.integer({ min: 2, max: 5 }),
  prices: fc.tuple(fc.constantFrom(1000, 333.33, 77.01), prices, prices),
  /** The VAT of the course, of the two others, and of the other product. */
  vats: fc.oneof(fc.constant([25, 25, 25, 12]), fc.tuple(vat, vat, vat, vat)),
  percent: fc.constantFrom(0, 0, 10, 33.33),
  steps: fc.array(step, { minLength: 4, maxLength: 14 }),
  cancels: fc.boolean(),
});
type Described = typeof books extends fc.Arbitrary<infer T> ? T : never;
type Step = Described['steps'][number];

const rounded = (value: number) => Math.sign(value) * Math.round(Math.abs(value) + 1e-9);
const sumOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
/** Parts of an amount in proportion to weights, which add up to it. */
function split(amount: number, weights: number[]) {
  const total = sumOf(weights);
  return weights.map((_, n) => {
    const [upto, before] = [sumOf(weights.slice(0, n + 1)), sumOf(weights.slice(0, n))];
    return total === 0 ? 0 : rounded((amount * upto) / total) - rounded((amount * before) / total);
  });
}
const discounted = (price: number, percent: number) => price - rounded((price * percent) / 100);

const extraPrice = 7701;

async function open({ people, prices, vats, percent }: Described): Promise<Book> {
  const me = await createProvider();
  await me.put('/v2/booking-settings', { self_cancellation: true });
  const created = [];
  for (const [n, price] of prices.entries()) {
    const one = await createBookableDate(me);
    const set = `price = ${price}, vat_percentage = ${vats[n]}`;
    await write(me, (tx) => tx.execute(`update products set ${set} where course_id = ${one.courseId}`));
    created.push(one);
  }
  const { courseId } = created[0]!;
  const extra = { price: String(extraPrice / 100), vatPercentage: String(vats[3]) };
  const product = await createProduct(me, await me.course(), extra);
  const dates = created.map(({ dateId }) => dateId);
  if (percent > 0) await createCampaign(me, { campaignCode: 'LESS', discountValue: String(percent) });
  const participating = persons(people, { products: [await mainProduct(me, courseId), product] });
  const fields = { participants: participating, ...(percent > 0 && { campaign_code: 'LESS' }) };
  const { order_id, booking_id, participants } = await bookOrFail(me, dates[0]!, fields);
  const order = Number(order_id);
  const lines = (await me.get(`/v2/orders/${order}`)).json<Item>()['lines'].map(({ id }: Item) => id as number);
  const cents = prices.map((price) => rounded(price * 100));
  const each = participants.map(() => 1);
  const shares = [cents[0]!, extraPrice].map((price) => split(discounted(price * people, percent), each));
  const places = participants.map(({ id }, n) => ({
    ...{ id, date: dates[0]!, status: 'stays' as const, leftAt: 0 },
    shares: [0, 1].map((line) => ({
      ...{ order, line: lines[line]!, vat: vats[line === 0 ? 0 : 3] },
      ...{ left: shares[line]![n]!, isCredited: false },
    })),
  }));
  const booked = { me, courseId, booking: Number(booking_id), order, lines, product, places, dates };
  return { ...booked, prices: cents, vats: vats.slice(0, 3), percent, wrong: [] };
}

const netOf = async ({ me }: Book) =>
  sumOf(
    (await me.get('/v2/orders?limit=250'))
      .json<Item[]>()
      .map(({ calculated_totals }) => rounded(calculated_totals.total_amount_after_discounts * 100)),
  );

/** The shares of a line of the first order; those who left in the order in which they left. */
const sharesOf = ({ places, lines }: Book, nth: number) =>
  [...places]
    .sort((a, b) => a.leftAt - b.leftAt || a.id - b.id)
    .map((place) => ({ place, share: place.shares.find(({ line }) => line === lines[nth])! }));
type Owner = ReturnType<typeof sharesOf>[number];
const isOpen = ({ share }: Owner) => !share.isCredited && share.left > 0;

let clock = 0;
const leave = (places: Place[], status: 'free' | 'fee') => {
  clock += 1;
  for (const place of places) if (place.status === 'stays') Object.assign(place, { status, leftAt: clock });
};

/** Those who leave with a credit are credited what moves have cost more, too. */
function leaveCredited(places: Place[], status: 'free' | 'fee', order: number) {
  const leaving = places.filter((place) => place.status === 'stays');
  for (const share of leaving.flatMap(({ shares }) => shares)) if (share.order !== order) share.left = 0;
  leave(leaving, status);
}

/** Credits a part of a line of the first order that belongs to these amounts; false if it is refused. */
async function credit(
  book: Book,
  part: Item,
  amounts: [Owner, number][],
  chosen: Owner[],
  { fee, line }: Step,
  more = {},
) {
  const { me, order, lines } = book;
  const line_id = lines[line];
  const response = await me.post(`/v2/orders/${order}/credit`, { lines: [{ line_id, ...part }], fee, ...more });
  if (response.status !== 201) return false;
  const whole = sumOf(amounts.map(([, amount]) => amount));
  const parts = split(
    whole - rounded(fee * 100),
    amounts.map(([, amount]) => amount),
  );
  amounts.forEach(([{ share }], n) => (share.left -= parts[n]!));
  for (const { share } of chosen) share.isCredited = true;
  return true;
}

const left = (owners: Owner[]) => owners.map((owner): [Owner, number] => [owner, owner.share.left]);

async function take(book: Book, described: Step): Promise<boolean> {
  const { me, places, dates, order } = book;
  const { kind, a, b, line, withFee, fee, deregister: leaves } = described;
  const staying = places.filter(({ status }) => status === 'stays');
  const place = staying[a % staying.length];
  const owners = sharesOf(book, line);
  if (kind === 'leave') {
    if (place === undefined) return false;
    const booking = (await me.get(`/v2/participants/${place.id}`)).json<Item>()['idBooking'] as number;
    await deregister(me, booking, { participants: [place.id], config: { with_fee: withFee } });
    leave([place], withFee ? 'fee' : 'free');
    return true;
  }
  if (kind === 'pay') {
    const { due } = (await me.get(`/v2/orders/${order}?include=balance`)).json<Item>()['balance'];
    const amount = rounded((due * 100 * (b + 1)) / 31) / 100;
    return amount > 0 && (await me.post(`/v2/orders/${order}/payments`, { amount })).status === 201;
  }
  if (kind === 'cancel' || kind === 'lapse')
    return (
      place !== undefined && giveUp(book, place, () => (kind === 'lapse' ? lapse(book, place) : leaveFree(book, place)))
    );
  if (kind === 'swap') {
    if (place === undefined) return false;
    return (await me.put(`/v2/participants/${place.id}`, { user: person() })).status === 200;
  }
  if (kind === 'rest') {
    if (a > 2) return false;
    const more = leaves ? { deregister: true } : {};
    const whole = left(owners).sort(([one], [other]) => one.place.id - other.place.id);
    const done = await credit(book, {}, whole, owners.filter(isOpen), described, more);
    if (done && leaves) leaveCredited(places, fee > 0 ? 'fee' : 'free', order);
    return done;
  }
  if (kind === 'amount') {
    owners.sort((one, other) => one.place.id - other.place.id);
    const whole = sumOf(owners.map(({ share }) => share.left));
    const amount = rounded((whole * b) / 40);
    const parts = split(
      amount,
      owners.map(({ share }) => share.left),
    );
    const amounts = owners.map((owner, n): [Owner, number] => [owner, parts[n]!]);
    return amount > 0 && credit(book, { amount: amount / 100 }, amounts, [], described);
  }
  if (kind === 'named') {
    const chosen = owners.filter(isOpen).filter((_, n) => (a >> n) % 2 === 1);
    if (chosen.length === 0) return false;
    const part = { participants: chosen.map((owner) => owner.place.id) };
    const done = await credit(book, part, left(chosen), chosen, described, leaves ? { deregister: true } : {});
    const leaving = chosen.map((owner) => owner.place);
    if (done && leaves) leaveCredited(leaving, fee > 0 ? 'fee' : 'free', order);
    return done;
  }
  if (kind === 'items') {
    const gone = owners.filter((owner) => owner.place.status !== 'stays' && isOpen(owner));
    const quantity = 1 + (b % Math.max(1, gone.length));
    return (
      gone.length > 0 && credit(book, { quantity }, left(gone.slice(0, quantity)), gone.slice(0, quantity), described)
    );
  }
  return place !== undefined && move(book, place, dates[b % dates.length]!);
}

async function move({ me, dates, prices, vats, percent, order, lines }: Book, place: Place, date: number) {
  if (date === place.date) return false;
  const body = { coursedate_id: date, price: 'difference' };
  const response = await me.post(`/v2/participants/${place.id}/move`, body);
  expect(response.status, response.text).toBe(200);
  place.date = date;
  const own = place.shares.filter(({ line }) => line !== lines[1]);
  const agreed = sumOf(own.map((share) => share.left));
  const vat = vats[dates.indexOf(date)]!;
  const wanted = discounted(prices[dates.indexOf(date)]!, percent);
  const isSameVat = own.every((share) => share.left === 0 || share.vat === vat);
  const more = isSameVat ? wanted - agreed : wanted;
  if (more > 0) {
    const added = (response.json<Item>()['orders'] as Item[]).at(-1)!;
    expect([added['kind'], added['first_order_id']]).toEqual(['difference', order]);
    place.shares.unshift({ order: added['id'] as number, line: 0, vat, left: more, isCredited: false });
  }
  let less = isSameVat ? agreed - wanted : agreed;
  for (const share of own) {
    const part = Math.max(0, Math.min(less, share.left));
    share.left -= part;
    less -= part;
  }
  return true;
}

async function leaveFree({ me, booking }: Book, { id, date }: Place) {
  const link = `/my/booking/${await createLinkToken(me, { bookingId: booking })}`;
  expect((await anyone.post(`${link}/cancel/${id}`, { date: String(date) })).status).toBe(200);
}

/** The time of a second offer of the place is over. */
async function lapse({ me }: Book, { id }: Place) {
  await write(me, (tx) =>
    tx.execute(`update participants set status_id = 7, held_for = 'offer', held_until = '2020-01-01', lapsed_offers = 1
      where provider_id = ${me.id} and id = ${id}`),
  );
  await endDueHoldsOfSchool(database, me.id);
}

const readOrders = async ({ me }: Book) =>
  (await me.get('/v2/orders?include[]=credit&include[]=balance&limit=250')).json<Item[]>();

/** Gives up a place free of charge: the shares are credited, those of an order up to what is due of it, and no more. */
async function giveUp(book: Book, place: Place, act: () => Promise<unknown>) {
  const before = new Map((await readOrders(book)).map((order) => [order['id'] as number, order]));
  await act();
  leave([place], 'free');
  const after = await readOrders(book);
  for (const { id, credit, lines } of after) {
    if (before.has(id as number)) continue;
    for (const { product, price_at_order_per_item_vat_excluded: price, quantity, ...line } of lines as Item[]) {
      const isOfLine = (share: Share) =>
        share.line === 0 || (share.line === book.lines[1]) === (product.id === book.product);
      const share = place.shares.find((one) => one.order === credit.credits_order_id && isOfLine(one));
      const net = rounded((price * quantity - line['discount_calculated_at_order']) * 100);
      if (share === undefined || share.isCredited || share.left < -net) book.wrong.push(`${-net} of ${id} is too much`);
      else share.left += net;
    }
  }
  for (const { id, credit, balance } of after) {
    const isWhole = place.shares.every(({ order, left, isCredited }) => order !== id || left === 0 || isCredited);
    if (credit.kind === 'credit') continue;
    if (balance.owed !== before.get(id as number)!['balance'].owed) book.wrong.push(`${id}: ${balance.owed} is owed`);
    if (balance.due > 0 && !isWhole) book.wrong.push(`${id}: ${balance.due} is left to pay`);
  }
  return true;
}

/** Cancels the first date with credits. */
async function cancel({ me, courseId, dates, places }: Book) {
  const response = await me.post(`/v2/courses/${courseId}/coursedates/${dates[0]}/cancel`, { credit: true });
  expect(response.status, response.text).toBe(200);
  const concerned = places.filter(({ date, status }) => date === dates[0] && status !== 'fee');
  for (const share of concerned.flatMap(({ shares }) => shares)) if (!share.isCredited) share.left = 0;
  leave(concerned, 'free');
}

/** Names everybody on the line in each credit, with equal shares. */
const spread = ({ me }: Book) =>
  write(me, async (tx) => {
    await tx.execute(`insert into order_line_participants (provider_id, order_line_id, participant_id)
      select c.provider_id, c.id, n.participant_id from order_lines c
        join order_line_participants n on n.provider_id = c.provider_id and n.order_line_id = c.credits_line_id
      where c.provider_id = ${me.id} on conflict do nothing`);
    await tx.execute(`update order_line_participants n set amount = null, is_credited = false from order_lines c
      where n.provider_id = ${me.id} and c.provider_id = ${me.id} and c.id = n.order_line_id
        and c.credits_line_id is not null`);
  });

/** What differs from the model: the sum of all orders, and what each person who stays gets back for a free course. */
async function play(described: Described, after?: (book: Book) => Promise<unknown>) {
  const book = await open(described);
  const { places, dates, wrong } = book;
  const taken: string[] = [];
  const total = () => sumOf(places.flatMap(({ shares }) => shares.map(({ left }) => left)));
  const compare = async (what: string) => {
    const net = await netOf(book);
    if (net !== total()) wrong.push(`${what}: ${net} instead of ${total()}`);
  };
  for (const one of described.steps) {
    if (await take(book, one)) taken.push(one.kind);
    await after?.(book);
    await compare(one.kind);
    if (wrong.length > 0) return { wrong, taken };
  }
  // What is paid of those who left before stays.
  if (described.cancels && !taken.includes('pay')) {
    await cancel(book);
    await compare('cancel');
  }
  const free = (await createBookableDate(book.me, { course: { price_value: 0 } })).dateId;
  dates.push(free);
  book.prices.push(0);
  book.vats.push(0);
  for (const place of places.filter(({ status }) => status === 'stays')) {
    await move(book, place, free);
    await compare(`share of ${place.id}`);
  }
  for (const owner of sharesOf(book, 1).filter(isOpen)) {
    const whole: Step = { ...described.steps[0]!, line: 1, fee: 0 };
    await credit(book, { participants: [owner.place.id] }, left([owner]), [owner], whole);
    await compare(`share of ${owner.place.id} in the other product`);
  }
  return { wrong, taken };
}

/** Random books, by a seed that a failure names. */
const sample = (numRuns: number, seed = Math.floor(Math.random() * 2 ** 31)) =>
  fc.sample(books, { numRuns, seed }).map((described, n) => ({ described, name: `book ${n} of the seed ${seed}` }));

test('what each person was charged less what came back is the price of the place and agreed fees, to the øre', async () => {
  const kinds = new Set<string>();
  for (const { described, name } of sample(40)) {
    const { wrong, taken } = await play(described);
    for (const kind of taken) kinds.add(kind);
    expect(wrong, `${name}: ${JSON.stringify(described)} ${taken.join(' ')}`).toEqual([]);
  }
  expect([...kinds].sort()).toEqual([
    ...['amount', 'cancel', 'items', 'lapse', 'leave', 'move', 'named', 'pay', 'rest', 'swap'],
  ]);
});

test('negative control: shares that are spread over everybody are found', async () => {
  const found = [];
  for (const { described } of sample(10, 1)) found.push((await play(described, spread)).wrong.length > 0);
  expect(found.filter(Boolean).length).toBeGreaterThan(3);
});
