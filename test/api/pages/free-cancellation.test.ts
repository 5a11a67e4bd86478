import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { endDueHoldsOfSchool } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import {
  book,
  bookOrFail,
  createBookableDate,
  createVoucher,
  deregister,
  endOffers,
  errorCodes,
  person,
  persons,
  statusesOnDate,
} from '../../support/booking.ts';
import { addDate } from '../../support/dates.ts';
import { queuedMails, switchMails } from '../../support/mail.ts';
import { createProduct, mainProduct, write } from '../../support/orders.ts';
import { createLinkToken, signedInVisitor, visitor } from '../../support/pages.ts';
import { sharedTestApp, type Provider, type TestResponse } from '../../support/test-app.ts';

const { app, database, createProvider } = await sharedTestApp();
const anyone = visitor(app);

type Item = Record<string, any>;
const main = ({ text }: TestResponse) =>
  /<main[^>]*>(.*)<\/main>/s
    .exec(text)![1]!
    .replaceAll(/<[^>]*>/g, '|')
    .replaceAll(/\s*\|[|\s]*/g, '|')
    .replaceAll('\u00a0', ' ');
const wait = { config: { waiting_list_when_full: 1 } };
const kari = person({ firstname: 'Kari', lastname: 'Vik', email: 'kari@people.example' });

/** A date of a course of 1,000, and of 25 percent VAT if that is sent. */
async function stage(date: Parameters<typeof createBookableDate>[1] = {}, vat = 0) {
  const me = await createProvider();
  await me.put('/v2/booking-settings', { self_cancellation: true });
  const { courseId, dateId } = await createBookableDate(me, date);
  await write(me, (tx) => tx.execute(`update products set vat_percentage = ${vat} where course_id = ${courseId}`));
  return { me, courseId, dateId };
}

type Booked = Awaited<ReturnType<typeof bookOrFail>>;
const linkTo = async (me: Provider, { booking_id }: Booked) =>
  `/my/booking/${await createLinkToken(me, { bookingId: Number(booking_id) })}`;
async function leave(me: Provider, booked: Booked, n = 0) {
  const { id } = booked.participants[n]!;
  const { coursedate } = (await me.get(`/v2/participants/${id}`)).json<Item>();
  return anyone.post(`${await linkTo(me, booked)}/cancel/${id}`, { date: String(coursedate.id), fee: 'yes' });
}
const balanceOf = async (me: Provider, id: number) => (await me.get(`/v2/vouchers/${id}`)).json<Item>()['balance'];
const creditsOf = async (me: Provider) =>
  (await me.get('/v2/orders?include=credit'))
    .json<Item[]>()
    .filter(({ credit }) => credit.kind === 'credit')
    .map(({ calculated_totals }) => calculated_totals.total_amount_incl_discounts_and_vat as number);
async function assertConsistent(me: Provider) {
  expect((await checkCounters(database, { providerId: me.id })).differences).toEqual([]);
}

test('what is not paid of a place is credited, and both pages say so', async () => {
  const { me, dateId } = await stage();
  const booked = await bookOrFail(me, dateId, { participants: [kari] });
  const { user } = (await me.get(`/v2/participants/${booked.participants[0]!.id}`)).json<Item>();
  const browser = await signedInVisitor(app, me, user.id as number);
  const path = `/my/courses/${booked.participants[0]!.id}`;
  const done = await browser.post(`${path}/cancel`, { date: String(dateId) });
  expect(main(done)).toContain('|There is no fee for the cancellation.|NOK 1,000.00 is credited.|');
  for (const page of [await browser.get(`${path}/cancel`), await browser.get(path)])
    expect(main(page)).toContain('|NOK 1,000.00 is credited.|');
  expect(main(await anyone.get(await linkTo(me, booked)))).toContain(
    '|Price with VAT|NOK 0.00|Credited|NOK 1,000.00|Paid|NOK 0.00|Left to pay|NOK 0.00|',
  );
  expect(await creditsOf(me)).toEqual([-1000]);
  await assertConsistent(me);
});

test('the form of the payer says what becomes of the amounts', async () => {
  const { me, dateId } = await stage();
  const booked = await bookOrFail(me, dateId);
  const form = await anyone.get(`${await linkTo(me, booked)}/cancel/${booked.participants[0]!.id}`);
  expect(main(form)).toContain(
    '|What is left to pay for the place is credited, and a voucher gets back what it has paid.',
  );
});

test('a voucher gets back what it has paid, once', async () => {
  const { me, dateId } = await stage({ capacityMax: 1, capacityWait: 2 });
  await bookOrFail(me, dateId);
  const { id, code } = await createVoucher(me, { amount: '600.00' });
  const booked = await bookOrFail(me, dateId, { ...wait, voucher_code: code });
  expect([await statusesOnDate(me, dateId), await balanceOf(me, id)]).toEqual([[1, 3], '0.00']);
  const done = main(await leave(me, booked));
  expect(done).toContain('|NOK 1,000.00 is credited. NOK 600.00 of it goes back to the voucher.|');
  expect(main(await leave(me, booked))).toBe(done);
  expect([await balanceOf(me, id), await creditsOf(me)]).toEqual(['600.00', [-1000]]);
  await assertConsistent(me);
});

test.each<[string, number, number, number[], string]>([
  ['a part', 300, 0, [-700], 'Left to pay|NOK 0.00'],
  ['a part, with VAT', 300.01, 25, [-949.99], 'Left to pay|NOK 0.00'],
  ['all', 1000, 0, [], 'Left to pay|NOK 0.00'],
])('%s that is paid otherwise stays until the school credits it', async (_name, amount, vat, credits, page) => {
  const { me, dateId } = await stage({}, vat);
  const booked = await bookOrFail(me, dateId);
  expect((await me.post(`/v2/orders/${booked.order_id}/payments`, { amount })).status).toBe(201);
  expect((await leave(me, booked)).status).toBe(200);
  expect(await creditsOf(me)).toEqual(credits);
  expect(main(await anyone.get(await linkTo(me, booked)))).toContain(`|${page}|`);
  await assertConsistent(me);
});

test('of a group each share is credited, and the voucher pays for those who stay first', async () => {
  const { me, dateId } = await stage({}, 25);
  const { id, code } = await createVoucher(me, { amount: '2000.00' });
  const booked = await bookOrFail(me, dateId, { participants: persons(3), voucher_code: code });
  const left = [];
  for (const n of [0, 1, 2]) {
    await leave(me, booked, n);
    left.push([await balanceOf(me, id), (await creditsOf(me)).at(-1)]);
  }
  expect(left).toEqual([
    ['0.00', -1250],
    ['750.00', -1250],
    ['2000.00', -1250],
  ]);
  await assertConsistent(me);
});

test('a move that cost more is credited as well', async () => {
  const { me, dateId } = await stage();
  const dearer = await me.course({ price_value: 1500, title: 'Dearer' });
  const booked = await bookOrFail(me, dateId);
  const moved = { coursedate_id: await addDate(me, dearer), price: 'difference' };
  expect((await me.post(`/v2/participants/${booked.participants[0]!.id}/move`, moved)).status).toBe(200);
  expect(main(await leave(me, booked))).toContain('|NOK 1,500.00 is credited.|');
  expect((await creditsOf(me)).sort()).toEqual([-1000, -500]);
});

test('nothing is credited of a place with a fee, by the school, or free of charge before', async () => {
  const { me, dateId } = await stage();
  const { id, code } = await createVoucher(me, { amount: '5000.00' });
  const [first, second] = [
    await bookOrFail(me, dateId, { voucher_code: code }),
    await bookOrFail(me, dateId, { voucher_code: code }),
  ];
  await deregister(me, first.booking_id);
  await me.put(`/v2/participants/${second.participants[0]!.id}`, { idStatus: 4 });
  const free = await createBookableDate(me, { course: { price_value: 0 } });
  const done = await leave(me, await bookOrFail(me, free.dateId));
  expect([done.status, main(done).includes('credited')]).toEqual([200, false]);
  expect([await balanceOf(me, id), await creditsOf(me)]).toEqual(['3000.00', []]);
});

test('a participant of a booking that somebody else pays sees no amounts', async () => {
  const { me, dateId } = await stage();
  const booked = await bookOrFail(me, dateId, { booker_email: 'boss@people.example' });
  const { user } = (await me.get(`/v2/participants/${booked.participants[0]!.id}`)).json<Item>();
  const browser = await signedInVisitor(app, me, user.id as number);
  const done = await browser.post(`/my/courses/${booked.participants[0]!.id}/cancel`, { date: String(dateId) });
  expect(main(done)).toContain('There is no fee for the cancellation.');
  expect(done.text).not.toContain('NOK');
  expect(await creditsOf(me)).toEqual([-1000]);
});

test.each([['declined'], ['lapsed']])(
  'an offer that is %s again goes back to the voucher, with a mail',
  async (how) => {
    const { me, dateId } = await stage({ capacityMax: 1, capacityWait: 2, waitingMode: 'offer' });
    await switchMails(me, { deregistration: true });
    const first = await bookOrFail(me, dateId);
    const { id, code } = await createVoucher(me, { amount: '1500.00' });
    const booked = await bookOrFail(me, dateId, { ...wait, voucher_code: code });
    const participantId = booked.participants[0]!.id;
    await deregister(me, first.booking_id);
    await endOffers(me);
    await endDueHoldsOfSchool(database, me.id);
    expect([await statusesOnDate(me, dateId), await balanceOf(me, id)]).toEqual([[4, 7], '500.00']);
    const url = `/my/offer/${await createLinkToken(me, { bookingId: Number(booked.booking_id), participantId })}`;
    if (how === 'lapsed') {
      await endOffers(me);
      await endDueHoldsOfSchool(database, me.id);
    }
    const answer = how === 'declined' ? await anyone.post(url, { answer: 'decline' }) : await anyone.get(url);
    expect(main(answer)).toContain(
      '|You are deregistered|' + (how === 'lapsed' ? 'The offer of a place is no longer open.|' : ''),
    );
    expect(main(answer)).toContain('|NOK 1,000.00 is credited. NOK 1,000.00 of it goes back to the voucher.|');
    expect([await statusesOnDate(me, dateId), await balanceOf(me, id)]).toEqual([[4, 4], '1500.00']);
    expect((await queuedMails(me)).at(-1)).toBe(`deregistration ${participantId}`);
    await assertConsistent(me);
  },
);

test('of places that are lost at once the page of each has its own part', async () => {
  const { me, dateId } = await stage({ capacityMax: 2, capacityWait: 2, waitingMode: 'offer' }, 25);
  const first = await bookOrFail(me, dateId, { participants: persons(2) });
  const { id, code } = await createVoucher(me, { amount: '999.99' });
  const booked = await bookOrFail(me, dateId, { ...wait, participants: persons(2), voucher_code: code });
  await deregister(me, first.booking_id);
  for (const cause of ['lapse', 'lapseAgain']) {
    await endOffers(me);
    await endDueHoldsOfSchool(database, me.id);
    expect(await statusesOnDate(me, dateId), cause).toEqual(cause === 'lapse' ? [4, 4, 7, 7] : [4, 4, 4, 4]);
  }
  expect([await creditsOf(me), await balanceOf(me, id)]).toEqual([[-2500], '999.99']);
  expect([main(await leave(me, booked, 0)), main(await leave(me, booked, 1))]).toEqual([
    expect.stringContaining('|NOK 1,250.00 is credited. NOK 500.00 of it goes back to the voucher.|'),
    expect.stringContaining('|NOK 1,250.00 is credited. NOK 499.99 of it goes back to the voucher.|'),
  ]);
});

test.each([[0.01], [333.33], [1000.01], [1999.98], [2516.48], [2516.49]])(
  'of %f paid of lines of several VAT rates nothing is left to pay or owed',
  async (amount) => {
    const { me, courseId, dateId } = await stage({}, 25);
    await write(me, (tx) => tx.execute(`update products set price = 333.33 where course_id = ${courseId}`));
    const more = await createProduct(me, await me.course(), { price: '77.01', vatPercentage: '12.5' });
    const products = [await mainProduct(me, courseId), more];
    const booked = await bookOrFail(me, dateId, { participants: persons(5, { products }) });
    expect((await me.post(`/v2/orders/${booked.order_id}/payments`, { amount })).status).toBe(201);
    for (const n of [0, 1, 2, 3, 4]) expect((await leave(me, booked, n)).status).toBe(200);
    const { summary } = (await me.get(`/v2/booking/${booked.booking_id}?include=balance`)).json<Item>();
    expect(summary.balance).toMatchObject({ total: 2516.49, paid: amount, due: 0, owed: 0 });
    await assertConsistent(me);
  },
);

test('what an archived voucher has paid is owed, once, and the voucher stays shut', async () => {
  const { me, dateId } = await stage();
  const { id, code } = await createVoucher(me, { amount: '1000.00' });
  const booked = await bookOrFail(me, dateId, { participants: persons(2), voucher_code: code });
  expect((await me.post(`/v2/orders/${booked.order_id}/payments`, { amount: 400 })).status).toBe(201);
  expect((await me.request('DELETE')(`/v2/vouchers/${id}`)).status).toBe(200);
  const left = [];
  for (const n of [0, 1]) {
    await leave(me, booked, n);
    const { summary } = (await me.get(`/v2/booking/${booked.booking_id}?include=balance`)).json<Item>();
    left.push([summary.balance.due, summary.balance.owed, summary.balance.paid]);
  }
  expect([left, await creditsOf(me), await balanceOf(me, id)]).toEqual([
    [
      [0, 400, 400],
      [0, 1000, 400],
    ],
    [-1000, -600],
    '0.00',
  ]);
  await assertConsistent(me);
});

test.each(['date', 'canceled course', 'course that is over'])('a deleted %s leaves nobody waiting', async (what) => {
  const { me, courseId, dateId } = await stage({ capacityWait: 2 });
  const { id, code } = await createVoucher(me, { amount: '1000.00' });
  const people = persons(2, { status_id: 3 });
  const { participants } = await bookOrFail(me, dateId, { participants: people.slice(0, 1), voucher_code: code });
  const child = await addDate(me, courseId, { parentId: dateId, capacityWait: 2 });
  const other = await bookOrFail(me, child, { participants: people.slice(1) });
  const url = `/v2/courses/${courseId}/coursedates`;
  const over = { start_at: '2020-06-10', end_at: '2020-06-10', deadline_at: '2020-06-10' };
  const change = what === 'canceled course' ? { status_id: 3 } : over;
  if (what !== 'date') for (const one of [dateId, child]) await me.put(`${url}/${one}`, change);
  expect((await me.request('DELETE')(what === 'date' ? `${url}/${dateId}` : `/v2/courses/${courseId}`)).status).toBe(
    200,
  );
  expect([await statusesOnDate(me, dateId), await statusesOnDate(me, child)]).toEqual([[4], [4]]);
  expect((await queuedMails(me)).filter((mail) => mail.startsWith('deregistration')).sort()).toEqual(
    [participants, other.participants].map(([one]) => `deregistration ${one!.id}`).sort(),
  );
  expect([await balanceOf(me, id), await creditsOf(me)]).toEqual(['1000.00', [-1000, -1000]]);
  const deleted = (await me.get(`${url}?include_deleted=1`)).json<Item[]>();
  if (what === 'date') expect(deleted.map(({ deleted_at }) => deleted_at !== null)).toEqual([true, true]);
  await assertConsistent(me);
});

/** A date on which 160 wait together, for whom it has no room; of a course that is over it is a past one. */
async function stageDeletion(what: 'date' | 'course') {
  const { me, courseId, dateId } = await stage({ capacityMax: 155, capacityWait: 160 });
  await bookOrFail(me, dateId, { participants: persons(160), waiting_together: true, ...wait });
  const [course, date] = [`/v2/courses/${courseId}`, `/v2/courses/${courseId}/coursedates/${dateId}`];
  if (what === 'date') return { me, dateId, bookable: dateId, url: date };
  await me.put(date, { start_at: '2020-06-10', end_at: '2020-06-10', deadline_at: '2020-06-10' });
  return { me, dateId, bookable: await addDate(me, courseId, { capacityMax: 5 }), url: course };
}

test.each(['date', 'course'] as const)('a %s is deleted before those who wait leave, 50 a write', async (what) => {
  const { me, dateId, bookable, url } = await stageDeletion(what);
  const state = { isDeleted: false };
  const deleting = me
    .request('DELETE')(url)
    .finally(() => (state.isDeleted = true));
  const seen = new Set<number>();
  let booked;
  while (!state.isDeleted) {
    const left = (await statusesOnDate(me, dateId)).filter((status) => status === 3).length;
    seen.add(left);
    if (left < 160) booked ??= await book(me, bookable);
  }
  expect((await deleting).status).toBe(200);
  expect([...seen].filter((left) => left > 0 && left < 160)).not.toEqual([]);
  expect(booked && errorCodes(booked)).toEqual(['course_date_identifier_invalid']);
  expect(await statusesOnDate(me, dateId)).toEqual(Array(160).fill(4));
  expect((await queuedMails(me)).filter((mail) => mail.startsWith('deregistration'))).toHaveLength(160);
  expect((await creditsOf(me)).reduce((sum, amount) => sum + amount, 0)).toBe(-160_000);
  await assertConsistent(me);
});

test.each(['date', 'course'] as const)('a repeated request continues the deletion of a %s', async (what) => {
  const { me, dateId, url } = await stageDeletion(what);
  const [table, id] = [what === 'date' ? 'course_dates' : 'courses', url.split('/').at(-1)];
  await write(me, (tx) => tx.execute(`update ${table} set deleted_at = now() where id = ${id}`));
  expect((await me.request('DELETE')(url)).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual(Array(160).fill(4));
  expect((await me.request('DELETE')(url)).status).toBe(404);
});
