import { Type, type Static } from '@sinclair/typebox';
import { toMinorUnits, toNumber } from '../../../core/money.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { paymentMethods, type payments } from '../../../database/tables/payments.ts';

export const PaymentMethod = t.named('PaymentMethod', t.OneOf(paymentMethods));

export type Payment = Static<typeof Payment>;
export const Payment = t.NamedObject('Payment', {
  ...t.member.financial.all({
    id: Type.Integer(),
    order_id: Type.Integer(),
    amount: Type.Number({ description: 'With VAT; negative for a refund, which is a payment of a credit' }),
    currency: Type.String({ description: 'Of the order, in lower case', examples: ['nok'] }),
    method: PaymentMethod,
  }),
  reference: t.member.personal(t.Nullable(Type.String())),
  ...t.member.financial.all({
    state: t.named(
      'PaymentState',
      t.OneOf(['paid', 'reversed'], { description: 'A reversed payment no longer counts' }),
    ),
    paid_at: t.DateTime,
    created_at: t.DateTime,
    updated_at: t.DateTime,
  }),
});

/** POST /v2/orders/:id/payments. */
export type CreatedPayment = Static<typeof CreatedPayment>;
export const CreatedPayment = t.NamedObject('CreatedPayment', {
  ...Payment.properties,
  parts: t.member.financial(
    Type.Optional(
      Type.Array(Payment, { description: 'Only of a refund by several methods: a payment of each, this one first' }),
    ),
  ),
});

export type PaymentRow = typeof payments.$inferSelect & { currency: string };

export const toPayment = (row: PaymentRow): Payment => ({
  id: row.id,
  order_id: row.orderId,
  amount: toNumber(toMinorUnits(row.amount)),
  currency: row.currency.toLowerCase(),
  method: row.method,
  reference: row.reference,
  state: row.reversedAt === null ? 'paid' : 'reversed',
  paid_at: formatTimestamp(row.paidAt),
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
});
