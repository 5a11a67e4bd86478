import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';
import { orders } from '../../database/tables/orders.ts';

/** How an order belongs to others, with `include[]=credit`. */
export type OrderCredit = Static<typeof OrderCredit>;
export const OrderCredit = t.NamedObject(
  'OrderCredit',
  t.member.financial.all({
    kind: t.OneOf(orders.kind.enumValues, { description: 'A `difference` is what a move costs more' }),
    credits_order_id: t.Nullable(Type.Integer({ description: 'Of a credit: the order that it credits a part of' })),
    first_order_id: t.Nullable(Type.Integer({ description: 'Of a credit or a difference: the first order' })),
    credit_order_ids: Type.Array(Type.Integer(), { description: 'Credits of this order' }),
    reason: t.Nullable(Type.String()),
  }),
);

export type OrderRow = Pick<typeof orders.$inferSelect, 'providerId' | 'id' | 'kind' | 'firstOrderId' | 'creditReason'>;

export const toOrderCredit = (row: OrderRow, creditIds: number[]): OrderCredit => ({
  kind: row.kind,
  credits_order_id: row.kind === 'credit' ? row.firstOrderId : null,
  first_order_id: row.firstOrderId,
  credit_order_ids: creditIds,
  reason: row.creditReason,
});
