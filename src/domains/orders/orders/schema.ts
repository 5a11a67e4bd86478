import { Type, type Static } from '@sinclair/typebox';
import { toNumber, toMinorUnits } from '../../../core/money.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { products } from '../../../database/tables/courses.ts';
import { orders } from '../../../database/tables/orders.ts';
import { Address } from '../../people/customers/schema.ts';
import { OrderUser } from '../order-lines/schema.ts';

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

const Totals = t.NamedObject(
  'OrderTotals',
  t.member.financial.all({
    total_amount_before_discounts: Type.Number(),
    total_amount_after_discounts: Type.Number(),
    total_amount_of_discounts: Type.Number(),
    total_amount_of_vat: Type.Number(),
    total_amount_incl_discounts_and_vat: Type.Number(),
  }),
);

/** An order; the serializer adds its `customer` and `lines`. */
export type Order = Static<typeof Order>;
export const Order = t.NamedObject('Order', {
  ...t.member.financial.all({
    id: Type.Integer(),
    title: Type.String(),
    title_detailed: Type.String(),
    is_paid: Type.Boolean(),
    payment_method: text,
    your_reference: text,
  }),
  booker: t.member.personal(text),
  ...t.member.financial.all({
    gln_number: text,
    idCampaign: t.Nullable(Type.Integer()),
    seller_id: t.Nullable(Type.Integer()),
  }),
  ...t.member.personal.all({
    invoice_address: text,
    invoice_address_2: text,
    invoice_address_3: text,
    invoice_zipcode: text,
    invoice_city: text,
    invoice_email: text,
    first_user: t.Nullable(OrderUser),
    booker_admin_user: text,
  }),
  ...t.member.financial.all({
    webintegration_id: Type.Null(),
    custom_properties: t.Nullable(t.CustomProperties),
    calculated_totals: Totals,
    exported_at: t.Nullable(t.DateTime),
    created_at: t.Nullable(t.DateTime),
    updated_at: t.Nullable(t.DateTime),
  }),
});

export type OrderRow = typeof orders.$inferSelect;

export const toOrder = (row: OrderRow, { first_user }: { first_user: OrderUser | null }): Order => ({
  id: row.id,
  title: row.title,
  title_detailed: row.titleDetailed,
  is_paid: row.isPaid,
  payment_method: row.paymentMethod,
  your_reference: row.yourReference,
  booker: row.booker,
  gln_number: row.glnNumber,
  idCampaign: row.campaignId,
  seller_id: row.sellerId,
  invoice_address: row.invoiceAddress,
  invoice_address_2: row.invoiceAddress2,
  invoice_address_3: row.invoiceAddress3,
  invoice_zipcode: row.invoiceZipcode,
  invoice_city: row.invoiceCity,
  invoice_email: row.invoiceEmail,
  first_user,
  booker_admin_user: null,
  webintegration_id: null,
  custom_properties: row.customProperties,
  calculated_totals: toTotals(row),
  exported_at: formatTimestamp(row.exportedAt),
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
});

function toTotals(row: OrderRow): Static<typeof Totals> {
  const before = toMinorUnits(row.totalBeforeDiscounts);
  const discounts = toMinorUnits(row.totalDiscounts);
  const vat = toMinorUnits(row.totalVat);
  return {
    total_amount_before_discounts: toNumber(before),
    total_amount_after_discounts: toNumber(before - discounts),
    total_amount_of_discounts: toNumber(discounts),
    total_amount_of_vat: toNumber(vat),
    total_amount_incl_discounts_and_vat: toNumber(before - discounts + vat),
  };
}

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
