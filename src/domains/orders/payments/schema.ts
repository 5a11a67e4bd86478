import { Type, type Static } from '@sinclair/typebox';
import { toMinorUnits, toNumber, type Minor } from '../../../core/money.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { paymentMethods, type payments } from '../../../database/tables/orders.ts';

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

/** What is paid of a booking. Amounts have VAT. */
export type Balance = Static<typeof Balance>;
export const Balance = t.NamedObject(
  'Balance',
  t.member.financial.all({
    total: Type.Number({ description: 'As agreed; of a credit negative' }),
    credited: Type.Number({ description: 'Amount credited' }),
    paid: Type.Number({ description: 'Payments less refunds, those of its credits too' }),
    paid_by_voucher: Type.Number({ description: 'Less what credits returned to vouchers' }),
    due: Type.Number({ description: 'Amount due' }),
    owed: Type.Number({ description: 'Amount owed, including by its credits' }),
  }),
);

/** The balance of an order, with `include[]=balance`. */
export type OrderBalance = Static<typeof OrderBalance>;
export const OrderBalance = t.NamedObject('OrderBalance', {
  ...Balance.properties,
  applied: t.member.financial(
    t.Nullable(Type.Number({ description: 'Of a credit: by how much it lowers what is due of the order it credits' })),
  ),
});

/** Sums of orders: `total` is less what is `credited` of what was `ordered`; `due` is negative for what is owed. */
type Sums = Record<'ordered' | 'total' | 'byVouchers' | 'due', Minor>;

export const toBalance = ({ ordered, total, byVouchers, due }: Sums, applied: Minor = 0n): Balance => ({
  total: toNumber(ordered),
  credited: toNumber(ordered - total),
  paid: toNumber(total - byVouchers - due + applied),
  paid_by_voucher: toNumber(byVouchers),
  due: due > 0n ? toNumber(due) : 0,
  owed: due < 0n ? toNumber(-due) : 0,
});
