import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import type { products } from '../../../database/tables/courses.ts';
import { orders } from '../../../database/tables/orders.ts';
import { Address } from '../../people/customers/schema.ts';

const text = t.Nullable(Type.String());

const Payer = t.NamedObject(
  'Payer',
  t.member.personal.all({
    type: t.OneOf(['customer', 'company', 'booker', 'person']),
    name: text,
    company_number: text,
    email: text,
    invoice_address: Address,
  }),
);

const UncreditedLine = t.NamedObject(
  'UncreditedLine',
  t.member.financial.all({ line_id: Type.Integer(), participants: Type.Array(Type.Integer()) }),
);

/** What an invoicing program needs of an order, with `include[]=invoicing`. */
export type OrderInvoicing = Static<typeof OrderInvoicing>;
export const OrderInvoicing = t.NamedObject('OrderInvoicing', {
  payer: t.member.personal(Payer),
  ...t.member.financial.all({
    is_pending: Type.Boolean({ description: 'true: somebody waits for a place of it, so do not invoice it yet' }),
    uncredited: Type.Array(UncreditedLine, {
      description: 'The `lines` of a credit for those who left free of charge, or waited in vain, and are not credited',
    }),
  }),
});

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

export type CreditedRow = Pick<
  typeof orders.$inferSelect,
  'providerId' | 'id' | 'kind' | 'firstOrderId' | 'creditReason'
>;

type Following = Pick<typeof orders.$inferSelect, 'id' | 'kind'>[];
const idsOf = (following: Following, kind: Following[number]['kind']) =>
  following.flatMap((one) => (one.kind === kind ? [one.id] : []));

export const toOrderCredit = (row: CreditedRow, following: Following): OrderCredit => ({
  kind: row.kind,
  credits_order_id: row.kind === 'credit' ? row.firstOrderId : null,
  first_order_id: row.firstOrderId,
  credit_order_ids: idsOf(following, 'credit'),
  difference_order_ids: idsOf(following, 'difference'),
  reason: row.creditReason,
});

/** A stored product; the price is for one, without VAT. */
export type ProductFound = Pick<
  typeof products.$inferSelect,
  'id' | 'courseId' | 'price' | 'currency' | 'vatPercentage'
>;

/** A course date with the prices of its course. */
export type PricedDate = {
  courseId: number;
  courseTitle: string;
  startAt: string;
  endAt: string;
  place: string | null;
  /** Null if archived. */
  mainProduct: ProductFound | null;
};
