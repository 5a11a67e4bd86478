import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { bookOrFail, createBookableDate, deregister, persons } from '../../support/booking.ts';
import { createCampaign, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;
type Staged = Awaited<ReturnType<typeof stage>>;

/** A booking of so many at 1000, a dearer and a free date, and the line of its order. */
async function stage(count = 3, fields: Item = {}, discount?: string) {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const { dateId: dearer } = await createBookableDate(me, { course: { price_value: 1300 } });
  const { dateId: free } = await createBookableDate(me, { course: { price_value: 0 } });
  if (discount !== undefined) await createCampaign(me, { campaignCode: 'LESS', discountValue: discount });
  const code = discount === undefined ? {} : { campaign_code: 'LESS' };
  const booked = await bookOrFail(me, dateId, { participants: persons(count), ...code, ...fields });
  const order = Number(booked.order_id);
  const { lines } = (await me.get(`/v2/orders/${order}`)).json<Item>();
  const ids = booked.participants.map(({ id }) => id);
  const leave = (n: number[], with_fee = false) =>
    deregister(me, booked.booking_id, { participants: n.map((one) => ids[one]), config: { with_fee } });
  const url = `/v2/courses/${courseId}/coursedates/${dateId}`;
  return { me, dateId, dearer, free, order, line_id: lines[0].id as number, ids, leave, url };
}

const send = ({ me, order }: Staged, body: object) => me.post(`/v2/orders/${order}/credit`, body);
/** The net amount of a credit of the line, and the places in the booking whom it names. */
async function credit(staged: Staged, part: Item, fields: Item = {}) {
  const response = await send(staged, { lines: [{ line_id: staged.line_id, ...part }], ...fields });
  expect(response.status, response.text).toBe(201);
  return summarize(staged, response.json<Item>());
}
function summarize({ ids }: Staged, { calculated_totals, lines }: Item) {
  const relations = lines[0].database_relations as Item[];
  const places = relations.map(({ participant_id }) => ids.indexOf(participant_id as number));
  return [calculated_totals.total_amount_after_discounts as number, places];
}
/** What the move of a participant to another course costs more. */
async function move({ me, ids }: Staged, place: number, coursedate_id: number) {
  const before = await netOf(me);
  const moved = await me.post(`/v2/participants/${ids[place]}/move`, { coursedate_id, price: 'difference' });
  expect(moved.status, moved.text).toBe(200);
  return Math.round(((await netOf(me)) - before) * 100) / 100;
}
const netOf = async (me: Provider) =>
  (await me.get('/v2/orders'))
    .json<Item[]>()
    .reduce((sum, { calculated_totals }) => sum + Math.round(calculated_totals.total_amount_after_discounts * 100), 0) /
  100;
const cancel = async ({ me, url }: Staged, body: Item = {}) =>
  (await me.post(`${url}/cancel`, { credit: true, ...body })).json<Item>();
const differences = async (me: Provider) => (await checkCounters(database, { providerId: me.id })).differences;

test('a credit of an item belongs to the one who left: a move costs the difference, and a cancellation leaves nothing', async () => {
  const staged = await stage();
  await staged.leave([0]);
  expect(await credit(staged, { quantity: 1 })).toEqual([-1000, [0]]);
  expect(await move(staged, 2, staged.dearer)).toBe(300);
  expect(await cancel(staged)).toMatchObject({ participants: 1, credits: 1 });
  expect(await netOf(staged.me)).toBe(1300);
  expect(await differences(staged.me)).toEqual([]);
});

test('items belong to those who left, in the order in which they left, and what exceeds them to all who stay', async () => {
  const staged = await stage(4);
  for (const place of [2, 0]) await staged.leave([place]);
  expect(await credit(staged, { quantity: 1 })).toEqual([-1000, [2]]);
  expect(await credit(staged, { quantity: 2 })).toEqual([-2000, [0, 1, 3]]);
  expect([await move(staged, 1, staged.free), await move(staged, 3, staged.free)]).toEqual([-500, -500]);
  expect(await netOf(staged.me)).toBe(0);
});

test('an amount belongs to all, and one who left gets back what is left of the share', async () => {
  const staged = await stage();
  expect(await credit(staged, { amount: 100 })).toEqual([-100, [0, 1, 2]]);
  await staged.leave([1]);
  expect(await credit(staged, { quantity: 1 })).toEqual([-966.66, [1]]);
  expect(await credit(staged, { amount: 100 })).toEqual([-100, [0, 2]]);
  expect(await move(staged, 2, staged.dearer)).toBe(383.33);
});

test('a fee stays with the one who left, and no later credit of items takes it', async () => {
  const staged = await stage();
  await staged.leave([0]);
  expect(await credit(staged, { quantity: 1 }, { fee: 250 })).toEqual([-750, [0]]);
  await staged.leave([1]);
  expect(await credit(staged, { quantity: 1 })).toEqual([-1000, [1]]);
  expect(await move(staged, 2, staged.free)).toBe(-1000);
  expect(await cancel(staged)).toMatchObject({ credits: 0 });
  expect(await netOf(staged.me)).toBe(250);
});

test.each(['10', '33.33'])('shares of a line with a discount of %s percent are exact', async (discount) => {
  const staged = await stage(3, {}, discount);
  await staged.leave([1]);
  await credit(staged, { quantity: 1 });
  await move(staged, 0, staged.free);
  await staged.leave([2]);
  await credit(staged, { quantity: 1 });
  expect([await netOf(staged.me), await differences(staged.me)]).toEqual([0, []]);
});

test('named participants are credited, and deregistered with deregister', async () => {
  const staged = await stage(4);
  const named = (...places: number[]) => ({ participants: places.map((place) => staged.ids[place]) });
  await staged.leave([0]);
  expect(await credit(staged, named(1), { deregister: true })).toEqual([-1000, [1]]);
  expect(await credit(staged, { quantity: 1, ...named(3) }, { deregister: true, fee: 100 })).toEqual([-900, [3]]);
  expect(await credit(staged, { amount: 40, ...named(2) })).toEqual([-40, [2]]);
  const people = (await staged.me.get(`/v2/participants?id[]=${staged.ids.join('&id[]=')}`)).json<Item[]>();
  expect(people.map(({ status }) => status.id as number)).toEqual([4, 4, 1, 8]);
  const other = await stage(1);
  for (const part of [
    { participants: [other.ids[0]] },
    named(2, 2),
    named(1),
    named(3),
    { quantity: 1, ...named(0, 2) },
    { amount: 1, ...named(1) },
  ])
    expect((await send(staged, { lines: [{ line_id: staged.line_id, ...part }] })).json()).toEqual({
      error: 'Field(s) not valid: lines[0].participants',
    });
  const unknown = other.ids[0]!;
  for (const [code, part, concerned] of [
    ['field_invalid', { participants: [unknown, staged.ids[2]] }, [unknown]],
    ['named_twice', named(2, 2, 0), [staged.ids[2]]],
    ['already_credited', named(1, 2, 3), [staged.ids[1], staged.ids[3]]],
    ['quantity_too_small', { quantity: 1, ...named(0, 2) }, [undefined]],
  ] as const) {
    const body = { lines: [{ line_id: staged.line_id, ...part }] };
    const path = `/v2/orders/${staged.order}/credit`;
    const refused = (await staged.me.post(path, body, { accept: 'application/problem+json' })).json<Item>();
    expect([refused['code'], refused['fields']]).toEqual([code, [{ field: 'lines[0].participants', code: 'invalid' }]]);
    expect((refused['errors'] as Item[]).map((one) => one['participant_id'] as unknown)).toEqual(concerned);
  }
  const tooMuch = await send(staged, { lines: [{ line_id: staged.line_id, amount: 960.01, ...named(2) }] });
  expect(tooMuch.headers['x-error-code']).toBe('credit_exceeds_line');
  expect(await move(staged, 2, staged.dearer)).toBe(340);
});

test.each(['json', 'form', 'text'])('participants are read from a body of the kind %s', async (kind) => {
  const staged = await stage(2);
  const { me, order, line_id, ids } = staged;
  const form = `lines[0][line_id]=${line_id}&lines[0][participants][]=${ids[1]}`;
  const text = `lines=${encodeURIComponent(JSON.stringify([{ line_id, participants: [ids[1]] }]))}`;
  const body = { json: { lines: [{ line_id, participants: [ids[1]] }] }, form, text }[kind]!;
  const type = kind === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
  const response = await me.post(`/v2/orders/${order}/credit`, body, { 'content-type': type });
  expect(summarize(staged, response.json<Item>())).toEqual([-1000, [1]]);
});

test('a canceled date credits those who left free of charge, too, but no fee', async () => {
  const [free, fee] = [await stage(1), await stage(2)];
  await free.leave([0]);
  await fee.leave([0], true);
  await fee.leave([1]);
  for (const [staged, left] of [
    [free, 0],
    [fee, 1000],
  ] as const) {
    const counts = { participants: 0, credits: 1, mails: 0 };
    expect(await cancel(staged, { dry_run: true })).toMatchObject(counts);
    expect(await cancel(staged)).toMatchObject({ ...counts, is_finished: true });
    expect(await netOf(staged.me)).toBe(left);
    expect((await staged.me.get('/v2/orders')).json<Item[]>()).toHaveLength(2);
  }
});

test.each([
  ['one who has paid', 1, 1000, []],
  ['one of two, who have paid nothing', 2, 0, [-2000]],
  ['one of two, who have paid all', 2, 2000, [-1000]],
  ['one of two, who have paid a part', 2, 1500, [-500, -1000]],
])('of one who left before, a canceled date credits what is unpaid: %s', async (_case, count, amount, expected) => {
  const staged = await stage(count);
  const { me, order, leave } = staged;
  if (amount > 0) expect((await me.post(`/v2/orders/${order}/payments`, { amount })).status).toBe(201);
  await leave([0]);
  const counts = { participants: count - 1, credits: Math.min(expected.length, 1) };
  expect(await cancel(staged, { dry_run: true })).toMatchObject(counts);
  expect(await cancel(staged)).toMatchObject(counts);
  const orders = (await me.get('/v2/orders')).json<Item[]>();
  const nets = orders.map(({ calculated_totals }) => calculated_totals.total_amount_after_discounts as number);
  expect(nets.filter((net) => net < 0).sort((a, b) => b - a)).toEqual(expected);
  const { balance } = (await me.get(`/v2/orders/${order}?include[]=balance`)).json<Item>();
  expect([balance.due, await differences(me)]).toEqual([0, []]);
});

test('one who left free of charge and was credited is not credited again by a cancellation', async () => {
  const staged = await stage();
  await staged.leave([0]);
  await credit(staged, { quantity: 1 });
  expect(await cancel(staged)).toMatchObject({ participants: 2, credits: 1 });
  expect([await netOf(staged.me), await differences(staged.me)]).toEqual([0, []]);
});

/** A booking of three of which the first has left and is credited, and an SQL statement on the school. */
async function damage(statement: string) {
  const staged = await stage();
  await staged.leave([0]);
  await credit(staged, { quantity: 1 });
  await write(staged.me, (tx) => tx.execute(`${statement} and provider_id = ${staged.me.id}`));
  return staged;
}

test('doctor finds and corrects what a credit lowers the amount due by', async () => {
  const { me } = await damage(`update orders set credit_applied = 10 where kind = 'credit'`);
  const figures = { items: 'orders', figure: 'credit_applied', stored: '10.00', counted: '1000.00' };
  expect((await differences(me))[0]).toMatchObject(figures);
  expect(await checkCounters(database, { providerId: me.id, fix: true })).toMatchObject({ fixed: true });
  expect(await differences(me)).toEqual([]);
});

test.each<[string, string, object[]]>([
  [
    'a share of another amount than the credit',
    'update order_line_participants set amount = -900 where amount = -1000',
    [{ figure: 'shares', stored: '2100.00', counted: '2000.00' }],
  ],
  [
    'more credited than a person was charged',
    `update order_line_participants set amount = amount * 1.5 where amount = -1000`,
    [
      { figure: 'shares', stored: '1500.00', counted: '2000.00' },
      { figure: 'excess', stored: '500.00', counted: '0.00' },
    ],
  ],
])('doctor reports %s, and changes no share', async (_name, statement, expected) => {
  const { me, line_id } = await damage(statement);
  const shares = () =>
    write(me, async (tx) => {
      const found = tx.execute(`select * from order_line_participants where provider_id = ${me.id} order by 2, 3`);
      return tx.rollBack((await found).rows);
    });
  const before = await shares();
  const found = await differences(me);
  expect(found).toEqual(expected.map((one) => ({ provider_id: me.id, items: 'order_lines', id: line_id, ...one })));
  const result = await checkCounters(database, { providerId: me.id, fix: true });
  expect([result.fixed, result.differences, await shares()]).toEqual([false, found, before]);
});

test('doctor compares the credits of each person with the charge, also where their sum is right', async () => {
  const staged = await stage();
  const { me, ids, line_id } = staged;
  await staged.leave([0, 1]);
  await credit(staged, { quantity: 1 });
  await credit(staged, { quantity: 1 });
  await write(me, (tx) =>
    tx.execute(`update order_line_participants set participant_id = ${ids[0]}
      where participant_id = ${ids[1]} and amount = -1000 and provider_id = ${me.id}`),
  );
  const figures = { figure: 'excess', stored: '1000.00', counted: '0.00' };
  expect(await differences(me)).toEqual([{ provider_id: me.id, items: 'order_lines', id: line_id, ...figures }]);
});
