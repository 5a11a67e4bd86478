import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { orders } from '../../../database/tables/orders.ts';

/** How an order belongs to others, with `include[]=credit`. */
export type OrderCredit = Static<typeof OrderCredit>;
export const OrderCredit = t.NamedObject(
  'OrderCredit',
  t.member.financial.all({
    kind: t.named(
      'OrderKind',
      t.OneOf(orders.kind.enumValues, { description: 'A `difference` is what a move costs more' }),
    ),
    credits_order_id: t.Nullable(Type.Integer({ description: 'Of a credit: the order that it credits a part of' })),
    first_order_id: t.Nullable(Type.Integer({ description: 'Of a credit or a difference: the first order' })),
    credit_order_ids: Type.Array(Type.Integer(), { description: 'Credits of this order' }),
    difference_order_ids: Type.Array(Type.Integer(), { description: 'What moves cost more than this order' }),
    reason: t.Nullable(Type.String()),
  }),
);

export type OrderRow = Pick<typeof orders.$inferSelect, 'providerId' | 'id' | 'kind' | 'firstOrderId' | 'creditReason'>;

type Following = Pick<typeof orders.$inferSelect, 'id' | 'kind'>[];
const idsOf = (following: Following, kind: Following[number]['kind']) =>
  following.flatMap((one) => (one.kind === kind ? [one.id] : []));

export const toOrderCredit = (row: OrderRow, following: Following): OrderCredit => ({
  kind: row.kind,
  credits_order_id: row.kind === 'credit' ? row.firstOrderId : null,
  first_order_id: row.firstOrderId,
  credit_order_ids: idsOf(following, 'credit'),
  difference_order_ids: idsOf(following, 'difference'),
  reason: row.creditReason,
});
