import { expect, test } from 'vitest';
import {
  bookOrFail,
  createBookableDate,
  deregister,
  endOffers,
  person,
  persons,
  statusesOnDate,
} from '../../support/booking.ts';
import { addDate, changeDate } from '../../support/dates.ts';
import { createCustomer, createOrder, mainProduct, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Item = Record<string, any>;
const invoicingOf = async (me: Provider, order: string | number) =>
  (await me.get(`/v2/orders/${order}?include=invoicing`)).json<Item>()['invoicing'] as Item;
const uncreditedIds = async (me: Provider) =>
  (await me.get('/v2/orders?uncredited=true&include=invoicing')).json<Item[]>().map(({ id }) => String(id));
async function send(me: Provider, path: string, body: object = {}): Promise<Item> {
  const response = await me.post(path, body);
  expect([200, 201], response.text).toContain(response.status);
  return response.json<Item>();
}
const lineOf = async (me: Provider, order: string | number) =>
  (await me.get(`/v2/orders/${order}`)).json<Item>()['lines'][0] as Item;

const none = { address: null, address_2: null, address_3: null, zipcode: null, city: null };
const booker = { booker_name: 'Kari Booker', booker_email: 'kari@booker.example' };
const company = { company: 'Fjord AS', company_number: '923609016' };

test('the payer is the customer, else the company, the booker or the first person', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const customer_id = await createCustomer(me, {
    ...{ title: 'Customer AS', orgnr: '987654321', email: 'post@customer.example', postAddress: 'Pb. 1' },
  });
  const participants = [person({ firstname: 'Ola', lastname: 'Person', email: 'ola@person.example' }), person()];
  const payerOf = async (fields: object) => {
    const { order_id } = await bookOrFail(me, dateId, { participants, ...fields });
    return (await invoicingOf(me, order_id))['payer'] as Item;
  };
  expect(await payerOf({ customer_id, ...company, ...booker })).toEqual({
    ...{ type: 'customer', name: 'Customer AS', company_number: '987654321', email: 'post@customer.example' },
    invoice_address: { ...none, address: 'Pb. 1' },
  });
  const ofBooker = { email: 'kari@booker.example', invoice_address: none };
  expect(await payerOf({ ...company, ...booker })).toEqual({
    ...{ type: 'company', name: 'Fjord AS', company_number: '923609016', ...ofBooker },
  });
  expect(await payerOf(booker)).toEqual({ type: 'booker', name: 'Kari Booker', company_number: null, ...ofBooker });
  expect(await payerOf({})).toEqual({
    ...{ type: 'person', name: 'Ola Person', company_number: null, email: 'ola@person.example' },
    invoice_address: none,
  });
  const group = { participants: undefined, places: 2, booker_email: 'kari@booker.example' };
  expect(await payerOf(group)).toMatchObject({ type: 'person', name: 'kari@booker.example' });
  const own = { invoice_email: 'in@order.example', invoice_city: 'Bergen' };
  for (const fields of [{ customer_id }, company, booker, {}])
    expect(await payerOf({ ...fields, ...own })).toMatchObject({
      email: 'in@order.example',
      invoice_address: { ...none, city: 'Bergen' },
    });
});

test('the invoice address of a customer goes before the postal one, that of a person before the home', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const customer_id = await createCustomer(me, {
    ...{ invoiceEmail: 'invoice@customer.example', email: 'post@customer.example' },
    ...{ invoiceAddress: 'Street 1', invoiceZipcode: '5003', invoiceCity: 'Bergen', postAddress: 'Pb. 1' },
  });
  const ofCustomer = await bookOrFail(me, dateId, { customer_id });
  expect((await invoicingOf(me, ofCustomer.order_id))['payer']).toMatchObject({
    email: 'invoice@customer.example',
    invoice_address: { ...none, address: 'Street 1', zipcode: '5003', city: 'Bergen' },
  });
  const { order_id, participants } = await bookOrFail(me, dateId);
  const { user } = (await me.get(`/v2/participants/${participants[0]!.id}`)).json<Item>();
  const homeOf = (set: string) => write(me, (tx) => tx.execute(`update course_users set ${set} where id = ${user.id}`));
  await homeOf("home_address = 'Home 2'");
  expect((await invoicingOf(me, order_id))['payer'].invoice_address).toEqual({ ...none, address: 'Home 2' });
  await homeOf("invoice_address = 'Invoice 3'");
  expect((await invoicingOf(me, order_id))['payer'].invoice_address).toEqual({ ...none, address: 'Invoice 3' });
});

test('a credit, a difference and its credit have the payer of the booking', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const dearer = await addDate(me, await me.course({ price_value: 1300 }));
  for (const [fields, name] of [
    [{}, 'Ola Person'],
    [company, 'Fjord AS'],
    [{ ...booker, participants: persons(2) }, 'Kari Booker'],
  ] as const) {
    const participants = [person({ firstname: 'Ola', lastname: 'Person' }), person()];
    const { order_id, participants: booked } = await bookOrFail(me, dateId, { participants, ...fields });
    const path = `/v2/participants/${booked[0]!.id}/move`;
    const { orders } = await send(me, path, { coursedate_id: dearer, price: 'difference' });
    const difference = orders[0].id as number;
    const ids = [
      difference,
      (await send(me, `/v2/orders/${difference}/credit`))['id'] as number,
      (await send(me, `/v2/orders/${order_id}/credit`))['id'] as number,
    ];
    for (const id of [order_id, ...ids]) expect((await invoicingOf(me, id))['payer']).toMatchObject({ name });
  }
});

test('an order is pending while somebody whose share is not credited waits for a date to come', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityWait: 9 });
  const { order_id, participants } = await bookOrFail(me, dateId, {
    participants: [person(), person({ status_id: 3 }), person({ status_id: 3 })],
  });
  const [, second, third] = participants.map(({ id }) => id);
  expect(await invoicingOf(me, order_id)).toMatchObject({ is_pending: true, uncredited: [] });
  const { id: line_id } = await lineOf(me, order_id);
  const { id: credit } = await send(me, `/v2/orders/${order_id}/credit`, {
    lines: [{ line_id, participants: [second] }],
  });
  expect(await invoicingOf(me, credit as number)).toMatchObject({ is_pending: false, uncredited: [] });
  expect(await invoicingOf(me, order_id)).toMatchObject({ is_pending: true, uncredited: [] });
  await me.put(`/v2/participants/${third}`, { idStatus: 1 });
  expect(await invoicingOf(me, order_id)).toMatchObject({ is_pending: false, uncredited: [] });
  expect(await uncreditedIds(me)).toEqual([]);
});

test('an offer is waited for, until its time is over', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 1, waitingMode: 'offer' });
  const first = await bookOrFail(me, dateId);
  const { order_id } = await bookOrFail(me, dateId, { participants: [person({ status_id: 3 })] });
  await deregister(me, first.booking_id);
  expect(await invoicingOf(me, order_id)).toMatchObject({ is_pending: true, uncredited: [] });
  await endOffers(me);
  expect(await invoicingOf(me, order_id)).toMatchObject({ is_pending: true, uncredited: [] });
});

test('an offer of a date that is deleted is not credited yet', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 1, waitingMode: 'offer' });
  const first = await bookOrFail(me, dateId);
  const { order_id, participants } = await bookOrFail(me, dateId, { participants: [person({ status_id: 3 })] });
  await deregister(me, first.booking_id, { config: { with_fee: 1 } });
  await changeDate(me, dateId, { deletedAt: '2026-01-05' });
  expect((await statusesOnDate(me, dateId)).at(-1)).toBe(7);
  const lines = [{ line_id: (await lineOf(me, order_id))['id'] as number, participants: [participants[0]!.id] }];
  expect(await invoicingOf(me, order_id)).toMatchObject({ is_pending: false, uncredited: lines });
  expect(await uncreditedIds(me)).toEqual([order_id]);
});

test('who waits for a date that is over, canceled or deleted is not credited yet', async () => {
  const me = await createProvider();
  const days = { startAt: '2026-01-05', endAt: '2026-01-05', deadlineAt: '2026-01-05' };
  for (const change of [days, { statusId: 3 }, { deletedAt: '2026-01-05' }]) {
    const { dateId } = await createBookableDate(me, { capacityWait: 9 });
    const { order_id, participants } = await bookOrFail(me, dateId, {
      participants: [person(), person({ status_id: 3 })],
    });
    await changeDate(me, dateId, change);
    const { id: line_id } = await lineOf(me, order_id);
    const lines = [{ line_id, participants: [participants[1]!.id] }];
    expect(await invoicingOf(me, order_id)).toMatchObject({ is_pending: false, uncredited: lines });
    expect(await uncreditedIds(me)).toEqual([order_id]);
    await send(me, `/v2/orders/${order_id}/credit`, { lines });
    expect(await uncreditedIds(me)).toEqual([]);
  }
});

test('who has left free of charge is listed until what is left of their shares is credited', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { order_id, booking_id, participants } = await bookOrFail(me, dateId, { participants: persons(3) });
  const [first, second, third] = participants.map(({ id }) => id);
  await me.post(`/v2/orders/${order_id}/export`);
  await bookOrFail(me, dateId);
  expect(await uncreditedIds(me)).toEqual([]);
  await deregister(me, booking_id, { participants: [first], config: { with_fee: 1 } });
  expect(await uncreditedIds(me)).toEqual([]);
  await deregister(me, booking_id, { participants: [third] });
  await me.put(`/v2/participants/${second}`, { idStatus: 4 });
  const { id: line_id } = await lineOf(me, order_id);
  const uncredited = [{ line_id, participants: [second, third] }];
  expect(await invoicingOf(me, order_id)).toMatchObject({ uncredited });
  expect(await uncreditedIds(me)).toEqual([order_id]);
  // A part of a share is no credit of it.
  await send(me, `/v2/orders/${order_id}/credit`, { lines: [{ line_id, amount: 400, participants: [second] }] });
  expect(await invoicingOf(me, order_id)).toMatchObject({ uncredited });
  const { calculated_totals } = await send(me, `/v2/orders/${order_id}/credit`, { lines: uncredited });
  expect(calculated_totals).toMatchObject({ total_amount_incl_discounts_and_vat: -1600 });
  expect(await invoicingOf(me, order_id)).toMatchObject({ uncredited: [] });
  expect(await uncreditedIds(me)).toEqual([]);
});

test('of one who leaves, what a move cost more is listed as well', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const dearer = await addDate(me, await me.course({ price_value: 1300 }));
  const { order_id, booking_id, participants } = await bookOrFail(me, dateId);
  const path = `/v2/participants/${participants[0]!.id}/move`;
  const { orders } = await send(me, path, { coursedate_id: dearer, price: 'difference' });
  await deregister(me, booking_id);
  expect(await uncreditedIds(me)).toEqual([order_id, String(orders[0].id)]);
});

test('the lines of orders and credits have amounts that add up to the totals', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const { orderId, lineIds } = await createOrder(me, {
    courseId,
    users: [],
    lines: [{ productId: await mainProduct(me, courseId), quantity: 3, priceAtOrder: '333.33', vatPercentage: '25' }],
  });
  const amounts = ({ net, vat, gross }: Item) => [net, vat, gross] as number[];
  expect(amounts(await lineOf(me, orderId))).toEqual([999.99, 250, 1249.99]);
  const credits: number[][] = [];
  for (let n = 0; n < 3; n += 1) {
    const { lines } = await send(me, `/v2/orders/${orderId}/credit`, { lines: [{ line_id: lineIds[0], quantity: 1 }] });
    credits.push(amounts((lines as Item[])[0]!));
  }
  expect(credits).toEqual([
    [-333.33, -83.33, -416.66],
    [-333.33, -83.33, -416.66],
    [-333.33, -83.34, -416.67],
  ]);
});

test('a credit that deregisters fewer than all asks who leaves', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { order_id, participants } = await bookOrFail(me, dateId, { participants: persons(2) });
  const { id: line_id } = await lineOf(me, order_id);
  const path = `/v2/orders/${order_id}/credit`;
  const refused = await me.post(path, { lines: [{ line_id, quantity: 1 }], deregister: true });
  expect([refused.status, refused.headers['x-error-code'], refused.json()]).toEqual([
    ...[400, 'quantity_too_small'],
    { error: 'Fewer items are credited than have participants: name who leaves in participants of the line' },
  ]);
  const { lines } = await send(me, path, {
    lines: [{ line_id, participants: [participants[1]!.id] }],
    deregister: true,
  });
  const [{ database_relations: relations }] = lines as [Item];
  expect((relations as Item[]).map(({ participant_id }) => participant_id as number)).toEqual([participants[1]!.id]);
});
