import { Type, type Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import { t } from '../../../core/schema/types.ts';
import type { products } from '../../../database/tables/courses.ts';
import { Currency, toCurrency } from './currency-schema.ts';

const text = Type.String();

/** The only type of product. */
const courseProduct = { type: 'course_product', id_type: 2 };

/** A product for accounting; courses and order lines embed the shorter `Product`. */
export type OrderProduct = Static<typeof OrderProduct>;
export const OrderProduct = t.NamedObject(
  'OrderProduct',
  t.member.financial.all({
    id: Type.Integer(),
    item_number: text,
    title: text,
    title_label: t.Nullable(text),
    type: text,
    id_type: Type.Integer({ description: '2: a product of a course' }),
    id_relation: Type.Integer({ description: 'The id of the course' }),
    price: Type.Number({ description: 'Of one item, without VAT' }),
    currency: t.NamedObject('NumberedCurrency', {
      ...Currency.properties,
      id: t.member.financial(Type.Integer({ description: 'The ISO number' })),
    }),
    vat: t.NamedObject(
      'VatRate',
      t.member.financial.all({
        id: Type.Integer({ description: 'The rate in hundredths of a percent' }),
        vat: Type.Number({ description: 'Percent' }),
        name: Type.String({ examples: ['25.00%'] }),
      }),
    ),
    group: t.Nullable(t.NamedObject('ProductGroup', t.member.financial.all({ id: Type.Integer(), title: text }))),
    is_main_price: Type.Boolean(),
    is_member_price: Type.Boolean(),
    is_archived: Type.Boolean(),
    is_deleted: Type.Boolean(),
    account_number: t.Nullable(text),
    cost_unit: t.Nullable(text),
    co_products: Type.Array(Type.Integer()),
    id_external_system: t.Nullable(text),
    id_product_regular_price: t.Nullable(Type.Integer()),
    created_at: t.DateTime,
    updated_at: t.DateTime,
  }),
);

export type OrderProductRow = typeof products.$inferSelect;

export const toOrderProduct = (row: OrderProductRow): OrderProduct => ({
  id: row.id,
  item_number: row.itemNumber,
  title: row.title,
  title_label: row.titleLabel,
  ...courseProduct,
  id_relation: row.courseId,
  price: Number(row.price),
  currency: toNumberedCurrency(row.currency),
  vat: toVat(row.vatPercentage),
  group: null,
  is_main_price: row.isMainProduct,
  is_member_price: false,
  is_archived: row.archivedAt !== null,
  is_deleted: false,
  account_number: row.accountNumber,
  cost_unit: row.costUnit,
  co_products: [],
  id_external_system: row.externalId,
  id_product_regular_price: null,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
});

/** With the ISO number as a number; in lines of orders it is a text. */
function toNumberedCurrency(code: string): OrderProduct['currency'] {
  const currency = toCurrency(code);
  return { ...currency, id: Number(currency.id) };
}

/** VAT rates have no table; the id is the rate, so that equal rates have equal ids. */
const toVat = (percentage: string): OrderProduct['vat'] => ({
  id: Number(toMinorUnits(percentage)),
  vat: Number(percentage),
  name: `${toDecimal(toMinorUnits(percentage))}%`,
});
