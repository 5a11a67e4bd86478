import { expect, test } from 'vitest';
import { book, createBookableDate, createVoucher, errorCodes, getSummary } from '../../support/booking.ts';
import { write } from '../../support/orders.ts';
import { orders as orderTable, voucherRedemptions } from '../../../src/database/tables/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';
import { hashRows } from '../../support/request-bodies.ts';

const { createProvider } = await sharedTestApp();

type Voucher = { id: number; [member: string]: unknown };
const post = (me: Provider, fields: object = {}) => me.post('/v2/vouchers', { code: 'GIFT', amount: 1500, ...fields });
async function create(me: Provider, fields: object = {}): Promise<Voucher> {
  const response = await post(me, fields);
  expect(response.status, response.text).toBe(201);
  return response.json<Voucher>();
}
const put = (me: Provider, id: number, fields: object) => me.put(`/v2/vouchers/${id}`, fields);
const archive = (me: Provider, id: number) => me.request('DELETE')(`/v2/vouchers/${id}`);
const get = async (me: Provider, id: number) => (await me.get(`/v2/vouchers/${id}`)).json<Voucher>();
const list = async (me: Provider, query = '') => (await me.get(`/v2/vouchers?${query}`)).json<Voucher[]>();
const idsOf = (vouchers: Voucher[]) => vouchers.map(({ id }) => id);
const refusal = (error: string) => ({ error });
const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\+\d\d:00$/) as string;
const past = '2020-01-01 00:00:00+01';

test('POST /v2/vouchers creates a voucher, and GET reads it in the list and by its id', async () => {
  const me = await createProvider();
  const created = await create(me, { code: ' Gave ', amount: '1500.50', currency: 'eur', expires_at: '2031-06-30' });
  const { redemptions, ...listed } = created;
  expect([listed, redemptions]).toEqual([
    {
      ...{ id: expect.any(Number) as number, code: 'Gave', currency: 'eur', amount: '1500.50', balance: '1500.50' },
      ...{ is_expired: false, is_deleted: false, expires_at: '2031-06-30T23:59:59+02:00', archived_at: null },
      ...{ created_at: moment, updated_at: moment },
    },
    [],
  ]);
  const response = await me.get('/v2/vouchers');
  expect([response.json(), response.headers['etag']]).toEqual([[listed], undefined]);
  expect(await get(me, created.id)).toEqual(created);
  const { voucher } = (await me.get('/v2/vouchers/validate/gave')).json<{ voucher: object }>();
  expect({ amount: '1500.50', updated_at: moment, ...voucher, id: created.id }).toEqual(listed);
});

test('the list has pages, an order and filters, and leaves deleted vouchers out', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const amount = '10.00';
  const ids: number[] = [];
  for (const code of ['a', 'b', 'c']) ids.push((await createVoucher(me, { code, amount })).id);
  const { id: deleted } = await createVoucher(me, { code: 'B', amount, deletedAt: past, expiresAt: past });
  await createVoucher(other, { code: 'a', amount });
  expect(idsOf(await list(me))).toEqual(ids);
  expect(await list(me, `include_deleted=1&since_id=${ids[2]}`)).toMatchObject([
    { id: deleted, is_deleted: true, is_expired: true },
  ]);
  expect(idsOf(await list(me, 'order_by=created_at&order_direction=desc'))).toEqual(ids.toReversed());
  const first = await me.get('/v2/vouchers?limit=2');
  expect([idsOf(first.json()), first.headers['link']]).toEqual([ids.slice(0, 2), expect.stringContaining('since_id')]);
  expect(idsOf(await list(me, 'code=B'))).toEqual([ids[1]]);
  expect(idsOf(await list(me, 'code=B&include_deleted=1'))).toEqual([ids[1], deleted]);
  expect(await list(me, 'code=nothing')).toEqual([]);
  expect(idsOf(await list(me, 'created_at_min=2026-01-01&updated_at_min=2026-01-01'))).toEqual(ids);
  expect(await list(me, 'created_at_max=2026-01-01')).toEqual([]);
  expect((await me.get(`/v2/vouchers/${deleted}`)).json()).toEqual(refusal('Voucher not found'));
});

test('a booking redeems it, and the newest 100 redemptions are shown', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { id, code } = await create(me);
  const orders = [];
  for (let n = 0; n < 3; n += 1)
    orders.push(Number(getSummary(await book(me, dateId, { voucher_code: code })).order_id));
  const created_at = moment;
  const { balance, redemptions, ...rest } = await get(me, id);
  expect([balance, redemptions]).toEqual([
    '0.00',
    [
      { order_id: orders[1], amount: '500.00', created_at },
      { order_id: orders[0], amount: '1000.00', created_at },
    ],
  ]);
  expect(rest).not.toHaveProperty('redemptions_truncated');
  expect(await list(me, `updated_at_min=2026-01-01`)).toMatchObject([{ id, amount: '1500.00', balance: '0.00' }]);

  const { id: many } = await createVoucher(me, { amount: '101', balance: '0' });
  const spent = await write(me, async (tx, now) => {
    const own = { providerId: me.id, createdAt: now };
    const rows = Array.from({ length: 101 }, () => ({ ...own, updatedAt: now, title: 'Order' }));
    const added = await tx.insert(orderTable).values(rows).returning({ orderId: orderTable.id });
    const redeemed = added.map(({ orderId }) => ({ ...own, voucherId: many, orderId, amount: '1' }));
    await tx.insert(voucherRedemptions).values(redeemed);
    return added.map(({ orderId }) => orderId);
  });
  const shown = await get(me, many);
  expect(shown['redemptions_truncated']).toBe(true);
  expect((shown['redemptions'] as { order_id: number }[]).map((one) => one.order_id)).toEqual(
    spent.toReversed().slice(0, 100),
  );
});

test.each<[string, object, string]>([
  ['no fields', { code: '', amount: '' }, 'Missing field(s): code,amount'],
  ['nothing', { amount: 0 }, 'Field(s) not valid: amount'],
  ['more than two decimals', { amount: 0.125 }, 'Field(s) not valid: amount'],
  ['a day that there is not', { expires_at: '2030-02-30' }, 'Field(s) not valid: expires_at'],
])('%s is refused', async (_name, fields, error) => {
  const me = await createProvider();
  const { id } = await create(me);
  for (const response of [await post(me, fields), await put(me, id, fields)])
    expect([response.status, response.json()]).toEqual([400, refusal(error)]);
  expect(await list(me)).toHaveLength(1);
});

test('amounts of two decimals are stored exactly', async () => {
  const me = await createProvider();
  for (const [n, amount] of [0.01, 1.1, 99.9, 0.07, 8.29, 1_234_567_890.12, 9_999_999_999.99].entries())
    expect(await create(me, { code: `c${n}`, amount })).toMatchObject({ amount: amount.toFixed(2) });
});

test('PUT changes code, expiry and amount; the amount is never below what was spent', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { id, code } = await create(me);
  await book(me, dateId, { voucher_code: code });
  expect((await put(me, id, { amount: 999.99 })).json()).toEqual(refusal('Field(s) not valid: amount'));
  expect((await put(me, id, { amount: 1000 })).json()).toMatchObject({ amount: '1000.00', balance: '0.00' });
  const changed = await put(me, id, { amount: 1300, code: 'Other', expires_at: '2031-01-01' });
  const expected = { amount: '1300.00', balance: '300.00', code: 'Other', expires_at: '2031-01-01T23:59:59+01:00' };
  expect([changed.status, changed.json()]).toEqual([200, { ...(await get(me, id)), ...expected }]);

  const before = await hashRows(me);
  expect((await put(me, id, expected)).status).toBe(200);
  expect((await put(me, id, { expires_at: '2031-01-01' })).status).toBe(200);
  expect(await hashRows(me)).toBe(before);
  expect((await put(me, id, { expires_at: '' })).json()).toMatchObject({ expires_at: null, balance: '300.00' });
});

test('DELETE archives a voucher: it pays no more, and its code stays taken', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { id, code } = await create(me);
  const archived = await archive(me, id);
  expect([archived.status, archived.json()]).toEqual([200, await get(me, id)]);
  expect(archived.json<Voucher>()['archived_at']).not.toBeNull();
  const before = await hashRows(me);
  expect((await archive(me, id)).json()).toEqual(archived.json());
  expect(await hashRows(me)).toBe(before);
  expect(errorCodes(await book(me, dateId, { voucher_code: code }))).toEqual(['voucher_code_invalid']);
  expect((await post(me)).status).toBe(400);
});

test('a code is unique among the vouchers that are not deleted, without regard to case', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const error = refusal('A voucher with an equal code exists already');
  await createVoucher(me, { code: 'gift', amount: '1', deletedAt: past });
  const { id } = await create(me);
  await create(other);
  expect((await post(me, { code: 'gift' })).json()).toEqual(error);
  const second = await create(me, { code: 'Å' });
  const renamed = await put(me, second.id, { code: 'Gift' });
  expect([renamed.status, renamed.json()]).toEqual([400, error]);
  expect((await put(me, id, { code: 'gift' })).json()).toMatchObject({ code: 'gift' });
  const responses = await Promise.all(Array.from({ length: 10 }, () => post(me, { code: 'race' })));
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(400)]);
});
