import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, deregister, person, persons } from '../../support/booking.ts';
import { changeDate } from '../../support/dates.ts';
import { programs, readDocuments, runProgram, writeProgram, type Program } from '../../support/invoicing.ts';
import { createCustomer } from '../../support/orders.ts';
import { sharedPort, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const port = await sharedPort();

type Item = Record<string, any>;
const group = { participants: undefined, places: 2, booker_name: 'Kari Payer' };

const creditNote = ({ order_id }: { order_id: string }, text: string) =>
  expect.stringMatching(new RegExp(`^\\d+ credit note of ${order_id}: ${text}$`)) as string;

/** Orders with each status of a participant; returns the documents to make, and the orders to leave. */
async function createOrders(me: Provider) {
  const { dateId } = await createBookableDate(me, { course: { price_value: 500 }, capacityMax: 9, capacityWait: 9 });
  const waiting = () => person({ status_id: 3 });
  const ola = () => person({ firstname: 'Ola', lastname: 'Person' });
  const confirmed = await bookOrFail(me, dateId, { participants: [ola()] });
  const withFee = await bookOrFail(me, dateId, { participants: [ola()], company: 'Fjord AS', booker_name: 'Per' });
  const withoutFee = await bookOrFail(me, dateId, { participants: [ola()] });
  const two = await bookOrFail(me, dateId, { participants: [ola(), person()], booker_name: 'Kari Payer' });
  await deregister(me, withFee.booking_id, { config: { with_fee: 1 } });
  await deregister(me, withoutFee.booking_id);
  const customer_id = await createCustomer(me, { title: 'Customer AS' });
  const credited = await bookOrFail(me, dateId, { participants: persons(2), customer_id, company: 'Fjord AS' });
  const [line] = (await me.get(`/v2/orders/${credited.order_id}`)).json<{ lines: { id: number }[] }>().lines;
  await deregister(me, credited.booking_id, { participants: [credited.participants[0]!.id] });
  const lines = [{ line_id: line!.id, quantity: 1 }];
  const credit = (await me.post(`/v2/orders/${credited.order_id}/credit`, { lines })).json<{ id: number }>();
  await deregister(me, two.booking_id, { participants: [two.participants[1]!.id] });
  const places = await bookOrFail(me, dateId, group);
  const mayMoveUp = await bookOrFail(me, dateId, { participants: [person(), waiting()] });
  const alone = await bookOrFail(me, dateId, { participants: [waiting()] });

  const offering = { capacityMax: 1, capacityWait: 1, waitingMode: 'offer' as const };
  const { dateId: offeringDate } = await createBookableDate(me, { course: { price_value: 70 }, ...offering });
  const first = await bookOrFail(me, offeringDate, { participants: [ola()] });
  const offered = await bookOrFail(me, offeringDate, { participants: [waiting()] });
  await deregister(me, first.booking_id);

  const { dateId: pastDate } = await createBookableDate(me, { course: { price_value: 99 }, capacityWait: 9 });
  const past = await bookOrFail(me, pastDate, { participants: [ola(), waiting(), waiting()] });
  const inVain = await bookOrFail(me, pastDate, { participants: [waiting()], booker_name: 'Per Booker' });
  await changeDate(me, pastDate, { startAt: '2026-01-05', endAt: '2026-01-05', deadlineAt: '2026-01-05' });
  await bookOrFail(me, (await createBookableDate(me, { course: { price_value: 0 } })).dateId);
  return {
    documents: [
      `${confirmed.order_id} invoice: 500.00 to Ola Person`,
      `${withFee.order_id} invoice: 500.00 to Fjord AS`,
      `${withoutFee.order_id} invoice: 500.00 to Ola Person`,
      `${two.order_id} invoice: 1000.00 to Kari Payer`,
      `${credited.order_id} invoice: 1000.00 to Customer AS`,
      `${credit.id} credit note of ${credited.order_id}: -500.00 to Customer AS`,
      `${places.order_id} invoice: 1000.00 to Kari Payer`,
      `${first.order_id} invoice: 70.00 to Ola Person`,
      `${past.order_id} invoice: 297.00 to Ola Person`,
      `${inVain.order_id} invoice: 99.00 to Per Booker`,
      // The credits that the program makes itself.
      creditNote(withoutFee, '-500.00 to Ola Person'),
      creditNote(two, '-500.00 to Kari Payer'),
      creditNote(first, '-70.00 to Ola Person'),
      creditNote(past, '-198.00 to Ola Person'),
      creditNote(inVain, '-99.00 to Per Booker'),
    ] as string[],
    left: [mayMoveUp, alone, offered].map(({ order_id }) => Number(order_id)),
    two: two.order_id,
    confirmed: { order: confirmed.order_id, booking: confirmed.booking_id },
  };
}

/** Runs the program with the orders of a new provider, changed by `change`. */
async function startProgram(program: Program, change?: (text: string) => string) {
  const me = await createProvider();
  const orders = await createOrders(me);
  const cwd = writeProgram(program, change);
  const run = () => runProgram(program, { cwd, key: me.apiKey, port });
  return { me, ...orders, lines: (await run()).trim().split('\n'), run };
}

test.for(programs)(
  'the program in $language invoices each order whole, and credits who owes nothing',
  async (program, { skip }) => {
    if (!program.isInstalled) return skip(`${program.language} is missing`);
    const { me, documents, left, lines, run } = await startProgram(program);
    expect(lines).toEqual(documents);
    const open = (await me.get('/v2/orders')).json<{ id: number }[]>();
    expect(open.map(({ id }) => id)).toEqual(left);
    expect(await run()).toBe('');
  },
);

test.for(programs)('the program in $language sees who leaves after the export', async (program, { skip }) => {
  if (!program.isInstalled) return skip(`${program.language} is missing`);
  const { me, two, confirmed, left, run } = await startProgram(program);
  await deregister(me, confirmed.booking);
  // Those who waited have moved up, so that their orders are invoiced as well.
  expect(readDocuments(await run())).toMatchObject([
    { id: left[0], kind: 'invoice', amount: '1000.00' },
    { id: left[1], kind: 'invoice', amount: '500.00' },
    { kind: `credit note of ${confirmed.order}`, amount: '-500.00', payer: 'Ola Person' },
  ]);
  // The rest of an order of which a part was credited.
  const credit = await me.post(`/v2/orders/${two}/credit`, { deregister: true });
  expect(credit.status, credit.text).toBe(201);
  expect(readDocuments(await run())).toMatchObject([{ kind: `credit note of ${two}`, amount: '-500.00' }]);
  const { balance } = (await me.get(`/v2/orders/${two}?include=balance`)).json<Item>();
  expect(balance).toMatchObject({ total: 1000, credited: 1000, due: 0, owed: 0 });
});

/** Looks at neither who waits nor what is credited. */
const withoutRule = (text: string) =>
  text
    .replace('uncredited=true', 'uncredited=true&created_at_min=2999-01-01')
    .replace(/if .*is_pending.*\n/, (line) => line.replace('is_pending', 'none'));

test('negative control: a program that does not look at who waits or has left invoices them', async () => {
  const { left, lines } = await startProgram(programs[1]!, withoutRule);
  for (const id of left) expect(lines.join('\n')).toMatch(new RegExp(`^${id} invoice: `, 'm'));
});
