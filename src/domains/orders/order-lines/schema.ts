import { Type, type Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { t } from '../../../core/schema/types.ts';
import type { Ctx } from '../../../database/context.ts';
import type { orderLines } from '../../../database/tables/orders.ts';
import { Address } from '../../people/customers/schema.ts';
import { Product, toProduct, type ProductRow } from '../../courses/products/fields.ts';
import { Currency, toCurrency } from '../../courses/products/schema.ts';
import type { CourseUserRow } from '../../people/users/fields.ts';
import { dayText } from '../../../core/date-format.ts';

const text = t.Nullable(Type.String());

const OrderAddress = t.NamedObject('OrderAddress', { ...Address.properties, phone: t.member.personal(text) });

/** A course user inside an order. */
export type OrderUser = Static<typeof OrderUser>;
export const OrderUser = t.NamedObject(
  'OrderUser',
  t.member.personal.all({
    id: Type.Integer(),
    firstname: text,
    lastname: text,
    date_of_birth: text,
    email: text,
    phone: text,
    company: text,
    position: text,
    invoice_address: OrderAddress,
    home_address: OrderAddress,
    work_address: OrderAddress,
  }),
);
const LineUser = t.NamedObject(
  'OrderLineUser',
  t.member.personal.all({ ...OrderUser.properties, invoice_reference: text }),
);

export const orderUserFields = [
  ...(['id', 'firstname', 'lastname', 'dateOfBirth', 'email', 'phone', 'company', 'position'] as const),
  ...([
    'invoiceAddress',
    'invoiceAddress2',
    'invoiceAddress3',
    'invoiceZipcode',
    'invoiceCity',
    'invoicePhone',
  ] as const),
  ...(['homeAddress', 'homeAddress2', 'homeAddress3', 'homeZipcode', 'homeCity', 'homePhone'] as const),
  ...(['workAddress', 'workAddress2', 'workAddress3', 'workZipcode', 'workCity', 'workPhone'] as const),
];
type OrderUserRow = Pick<CourseUserRow, (typeof orderUserFields)[number]>;

type Text = string | null;
const toOrderAddress = (
  address: Text,
  address_2: Text,
  address_3: Text,
  zipcode: Text,
  city: Text,
  phone: Text,
): Static<typeof OrderAddress> => ({ address, address_2, address_3, zipcode, city, phone });

export const toOrderUser = (row: OrderUserRow): OrderUser => ({
  id: row.id,
  firstname: row.firstname,
  lastname: row.lastname,
  date_of_birth: row.dateOfBirth === null ? null : `${dayText(row.dateOfBirth)} 00:00:00`,
  email: row.email,
  phone: row.phone,
  company: row.company,
  position: row.position,
  invoice_address: toOrderAddress(
    row.invoiceAddress,
    row.invoiceAddress2,
    row.invoiceAddress3,
    row.invoiceZipcode,
    row.invoiceCity,
    row.invoicePhone,
  ),
  home_address: toOrderAddress(
    row.homeAddress,
    row.homeAddress2,
    row.homeAddress3,
    row.homeZipcode,
    row.homeCity,
    row.homePhone,
  ),
  work_address: toOrderAddress(
    row.workAddress,
    row.workAddress2,
    row.workAddress3,
    row.workZipcode,
    row.workCity,
    row.workPhone,
  ),
});

/** A participant that a line pays for. */
export const Relation = t.NamedObject(
  'OrderLineParticipant',
  t.member.financial.all({
    type: Type.String(),
    participant_id: Type.Integer(),
    coursedate_id: Type.Integer(),
    user_id: Type.Integer(),
    course_id: Type.Integer(),
  }),
);

/** `id` is the participant's. */
export type RelationRow = Record<'providerId' | 'id' | 'ownerId' | 'courseDateId' | 'userId' | 'courseId', number>;

export const toRelation = (row: RelationRow): Static<typeof Relation> => ({
  type: 'participant',
  participant_id: row.id,
  coursedate_id: row.courseDateId,
  user_id: row.userId,
  course_id: row.courseId,
});

/** An order line; the serializer adds its `database_relations`. */
export type OrderLine = Static<typeof OrderLine>;
export const OrderLine = t.NamedObject(
  'OrderLine',
  t.member.financial.all({
    id: Type.Integer(),
    currency: Currency,
    price_at_order_per_item_vat_excluded: Type.Number(),
    discount_percent_at_order: Type.Number(),
    discount_amount_at_order: Type.Number(),
    discount_calculated_at_order: Type.Number(),
    price_at_invoice_per_item_vat_excluded: Type.Number(),
    discount_percent_at_invoice: Type.Number(),
    discount_calculated_at_invoice: Type.Number(),
    price_at_export_per_item_vat_excluded: Type.Number(),
    discount_percent_at_export: Type.Number(),
    discount_calculated_at_export: Type.Number(),
    quantity: Type.Integer(),
    product: Product,
    users: Type.Array(LineUser),
    created_at: t.Nullable(t.DateTime),
    updated_at: t.Nullable(t.DateTime),
    net: Type.Number({ description: 'After discounts, without VAT; of a credit negative' }),
    vat: Type.Number(),
    gross: Type.Number({ description: 'With VAT' }),
  }),
);

/** A line with its amounts, its product and the currency of its order. */
export type OrderLineRow = typeof orderLines.$inferSelect & {
  net: number;
  vat: number;
  gross: number;
  ownerId: number;
  currency: string;
  product: ProductRow;
};

export const toOrderLine = (
  row: OrderLineRow,
  { users }: { users: Static<typeof LineUser>[] },
  ctx: Ctx,
): OrderLine => ({
  id: row.id,
  currency: toCurrency(row.currency),
  price_at_order_per_item_vat_excluded: Number(row.priceAtOrder),
  discount_percent_at_order: Number(row.discountPercentAtOrder),
  discount_amount_at_order: Number(row.discountAmountAtOrder),
  discount_calculated_at_order: Number(row.discountCalculatedAtOrder),
  price_at_invoice_per_item_vat_excluded: Number(row.priceAtInvoice ?? row.priceAtOrder),
  discount_percent_at_invoice: Number(row.discountPercentAtInvoice ?? row.discountPercentAtOrder),
  discount_calculated_at_invoice: Number(row.discountCalculatedAtInvoice ?? row.discountCalculatedAtOrder),
  price_at_export_per_item_vat_excluded: Number(row.priceAtExport ?? row.priceAtOrder),
  discount_percent_at_export: Number(row.discountPercentAtExport ?? row.discountPercentAtOrder),
  discount_calculated_at_export: Number(row.discountCalculatedAtExport ?? row.discountCalculatedAtOrder),
  quantity: row.quantity,
  product: toProduct(row.product, undefined, ctx),
  users,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
  net: row.net,
  vat: row.vat,
  gross: row.gross,
});
