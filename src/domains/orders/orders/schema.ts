import { Type, type Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { toNumber, toMinorUnits } from '../../../core/money.ts';
import { t } from '../../../core/schema/types.ts';
import type { orders } from '../../../database/tables/orders.ts';
import { OrderUser } from '../order-lines/schema.ts';

const text = t.Nullable(Type.String());

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
