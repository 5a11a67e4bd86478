import { Type, type Static } from '@sinclair/typebox';
import { toNumber, toMinorUnits } from '../../../core/money.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { orders as c } from '../../../database/tables/orders.ts';
import { fieldsOf } from '../../../lists/fields.ts';
import { OrderUser } from '../order-lines/schema.ts';

const { Optional } = Type;
export type OrderRow = typeof c.$inferSelect;

const { define, personal, financial, written } = fieldsOf<OrderRow, { first_user: OrderUser | null }>();

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

const fields = define({
  id: financial(c.id),
  title: financial(c.title),
  title_detailed: financial(c.titleDetailed),
  is_paid: financial.value(
    Type.Boolean(),
    (row) => row.isPaid,
    Optional(Type.Boolean({ description: 'true: adds a payment of what is due; false: reverses the payments' })),
  ),
  paid_at: written.value(
    Optional(t.StoredMoment({ description: 'With `is_paid` true: of the payment; now unless sent' })),
  ),
  payment_method: financial(c.paymentMethod),
  your_reference: financial.line(c.yourReference, 'Reference on the invoice'),
  booker: personal(c.booker),
  gln_number: financial(c.glnNumber),
  idCampaign: financial(c.campaignId),
  seller_id: financial(c.sellerId),
  invoice_address: personal.line(c.invoiceAddress, 'Invoice address, first line'),
  invoice_address_2: personal.line(c.invoiceAddress2, 'Second line'),
  invoice_address_3: personal.line(c.invoiceAddress3, 'Third line'),
  invoice_zipcode: personal.line(c.invoiceZipcode, 'Postal code'),
  invoice_city: personal.line(c.invoiceCity, 'City'),
  invoice_email: personal.email(c.invoiceEmail, 'E-mail address for the invoice'),
  first_user: personal.value(t.Nullable(OrderUser), (_, { first_user }) => first_user),
  booker_admin_user: personal.value(t.Nullable(Type.String()), () => null),
  webintegration_id: financial.value(Type.Null(), () => null),
  custom_properties: financial(c.customProperties, undefined, { shown: t.Nullable(t.CustomProperties) }),
  calculated_totals: financial.value(Totals, toTotals),
  exported_at: financial(c.exportedAt),
  created_at: financial.value(t.Nullable(t.DateTime), (row) => formatTimestamp(row.createdAt)),
  updated_at: financial.value(t.Nullable(t.DateTime), (row) => formatTimestamp(row.updatedAt)),
});

/** An order; the serializer adds its `customer` and `lines`. */
export type Order = Static<typeof Order>;
export const [Order, toOrder] = fields.item('Order');

/** PUT /v2/orders/:id. */
export type OrderChange = Static<typeof OrderChange>;
export const OrderChange = fields.update('OrderUpdate', {
  examples: [{ is_paid: true, your_reference: 'Purchase 4711' }],
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
