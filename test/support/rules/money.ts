import { bookOrFail, createBookableDate, createVoucher, persons } from '../booking.ts';
import type { Provider, TestResponse } from '../test-app.ts';
import { created, type Item, type Rule, type Send } from './rule.ts';

const isUnknown = 999_999_999;
const percent = { title: 'A', discount_type: 'Percent', discount_value: 10 };

const campaigns = ['POST /v2/campaigns', 'PUT /v2/campaigns/:id'];
const vouchers = ['POST /v2/vouchers', 'PUT /v2/vouchers/:id'];

const campaign = (code: Rule['code'], field: string, fields: object): Rule => ({
  ...{ operations: campaigns, code, fields: [field] },
  async breakIt(me, send, operation) {
    await created(me.post('/v2/campaigns', { ...percent, campaign_code: 'TAKEN' }));
    if (operation.startsWith('POST')) return send('POST', '/v2/campaigns', { ...percent, ...fields });
    const { id } = await created(me.post('/v2/campaigns', percent));
    return send('PUT', `/v2/campaigns/${id}`, fields);
  },
});

const voucher = (code: Rule['code'], field: string, fields: object, operations = vouchers): Rule => ({
  ...{ operations, code, fields: [field] },
  async breakIt(me, send, operation) {
    await created(me.post('/v2/vouchers', { code: 'TAKEN', amount: 5 }));
    if (operation.startsWith('POST')) return send('POST', '/v2/vouchers', { code: 'A', amount: 5, ...fields });
    const { id } = await createVoucher(me, { code: 'A', amount: '5', balance: '1' });
    return send('PUT', `/v2/vouchers/${id}`, fields);
  },
});

type Order = { id: string; line: number; people: number[]; credit: (body?: object) => Promise<Item> };
type ToBody = (order: Order, me: Provider) => Promise<object> | object;

/** Sends a request about an order of two participants. */
async function sendOrder(me: Provider, send: (id: string, body: object) => Promise<TestResponse>, toBody: ToBody) {
  const { dateId } = await createBookableDate(me);
  const { order_id: id, participants } = await bookOrFail(me, dateId, { participants: persons(2) });
  const { lines } = (await me.get(`/v2/orders/${id}`)).json<Item>();
  const credit = (body = {}) => created(me.post(`/v2/orders/${id}/credit`, body));
  const order = { id, line: lines[0].id as number, people: participants.map((one) => one.id), credit };
  return send(id, await toBody(order, me));
}
const ofOrder =
  (method: 'POST' | 'PUT', path: string, operation: string) =>
  (code: Rule['code'], fields: string[], toBody: ToBody): Rule => ({
    ...{ operations: [operation], code, fields },
    breakIt: (me, send: Send) => sendOrder(me, (id, body) => send(method, `/v2/orders/${id}${path}`, body), toBody),
  });
const credit = ofOrder('POST', '/credit', 'POST /v2/orders/:id/credit');
const payment = ofOrder('POST', '/payments', 'POST /v2/orders/:id/payments');
const order = ofOrder('PUT', '', 'PUT /v2/orders/:id');
const paymentOfCredit = (code: Rule['code'], fields: string[], body: object): Rule => ({
  ...{ operations: ['POST /v2/orders/:id/payments'], code, fields },
  async breakIt(me, send) {
    const { dateId } = await createBookableDate(me);
    const { order_id: id } = await bookOrFail(me, dateId);
    await created(me.post(`/v2/orders/${id}/payments`, {}));
    const { id: creditId } = await created(me.post(`/v2/orders/${id}/credit`, {}));
    return send('POST', `/v2/orders/${creditId}/payments`, body);
  },
});

const paid = async ({ id }: Order, me: Provider) => created(me.put(`/v2/orders/${id}`, { is_paid: true }));

export const moneyRules: Rule[] = [
  campaign('field_invalid', 'campaign_code', { campaign_code: 'x'.repeat(256) }),
  campaign('equal_code', 'campaign_code', { campaign_code: 'taken' }),
  campaign('field_invalid', 'discount_value', { discount_value: -1 }),
  campaign('percentage_too_large', 'discount_value', { discount_value: 101 }),
  campaign('field_invalid', 'ends_at', { ends_at: 'soon' }),
  campaign('end_before_start', 'ends_at', { starts_at: '2030-06-02', ends_at: '2030-06-01' }),
  voucher('field_invalid', 'code', { code: 'x'.repeat(256) }),
  voucher('equal_code', 'code', { code: 'taken' }),
  voucher('field_invalid', 'amount', { amount: 'x' }),
  voucher('amount_below_spent', 'amount', { amount: 3 }, vouchers.slice(1)),
  credit('field_invalid', ['lines[0].line_id'], () => ({ lines: [{ line_id: isUnknown }] })),
  credit('named_twice', ['lines[1].line_id'], ({ line }) => ({
    lines: [
      { line_id: line, quantity: 1 },
      { line_id: line, quantity: 1 },
    ],
  })),
  credit('field_invalid', ['lines[0].amount'], ({ line }) => ({ lines: [{ line_id: line, amount: 0 }] })),
  credit('amount_with_quantity', ['lines[0].amount'], ({ line }) => ({
    lines: [{ line_id: line, amount: 1, quantity: 1 }],
  })),
  credit('field_invalid', ['lines[0].participants'], ({ line }) => ({
    lines: [{ line_id: line, participants: [isUnknown] }],
  })),
  credit('named_twice', ['lines[0].participants'], ({ line, people }) => ({
    lines: [{ line_id: line, participants: [people[0], people[0]] }],
  })),
  credit('quantity_too_small', ['lines[0].participants'], ({ line, people }) => ({
    lines: [{ line_id: line, participants: people, quantity: 1 }],
  })),
  credit('already_credited', ['lines[0].participants'], async ({ line, people, credit }) => {
    const lines = [{ line_id: line, participants: people.slice(0, 1) }];
    await credit({ lines });
    return { lines };
  }),
  credit('field_invalid', ['deregister'], () => ({ deregister: 'maybe' })),
  credit('quantity_too_small', ['deregister'], ({ line }) => ({
    ...{ lines: [{ line_id: line, quantity: 1 }], deregister: true },
  })),
  credit('field_invalid', ['fee'], () => ({ fee: -1 })),
  credit('fee_exceeds_credit', ['fee'], () => ({ fee: 2_000 })),
  credit('credit_exceeds_line', [], ({ line }) => ({ lines: [{ line_id: line, quantity: 3 }] })),
  credit('nothing_left_to_credit', [], async ({ credit }) => {
    await credit();
    return {};
  }),
  payment('field_invalid', ['amount'], () => ({ amount: 'x' })),
  payment('amount_sign_wrong', ['amount'], () => ({ amount: 0 })),
  payment('amount_exceeds_due', [], () => ({ amount: 2_001 })),
  payment('payment_reference_reused', [], async ({ id }, me) => {
    await created(me.post(`/v2/orders/${id}/payments`, { amount: 1, reference: 'A' }));
    return { amount: 2, reference: 'A' };
  }),
  payment('field_invalid', ['paid_at'], () => ({ paid_at: 'soon' })),
  payment('date_in_future', ['paid_at'], () => ({ paid_at: '2999-01-01' })),
  payment('field_invalid', ['currency'], () => ({ currency: 'x'.repeat(256) })),
  payment('currency_differs', ['currency'], () => ({ currency: 'EUR' })),
  payment('field_invalid', ['overpaid'], () => ({ overpaid: 'maybe' })),
  paymentOfCredit('credit_overpaid', ['overpaid'], { overpaid: true }),
  order('field_invalid', ['paid_at'], () => ({ is_paid: true, paid_at: 'soon' })),
  order('date_in_future', ['paid_at'], () => ({ is_paid: true, paid_at: '2999-01-01' })),
  order('paid_at_without_payment', ['paid_at'], () => ({ paid_at: '2026-01-01' })),
  order('already_paid', ['paid_at'], async (found, me) => {
    await paid(found, me);
    return { is_paid: true, paid_at: '2026-01-01' };
  }),
  order('field_invalid', ['is_paid'], () => ({ is_paid: 'maybe' })),
  order('no_payment_to_reverse', ['is_paid'], async ({ credit }) => {
    await credit();
    return { is_paid: false };
  }),
  order('field_invalid', ['invoice_email'], () => ({ invoice_email: 'x' })),
  order('order_exported', [], async ({ id }, me) => {
    await created(me.post(`/v2/orders/${id}/export`));
    return { your_reference: 'B' };
  }),
];
