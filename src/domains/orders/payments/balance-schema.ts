import { Type, type Static } from '@sinclair/typebox';
import { toNumber, type Minor } from '../../../core/money.ts';
import { t } from '../../../core/schema/types.ts';

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

/** Of an order, with `include[]=balance`. */
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
