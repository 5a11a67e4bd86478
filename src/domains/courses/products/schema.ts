import { Type, type Static } from '@sinclair/typebox';
import { code } from 'currency-codes';
import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { products } from '../../../database/tables/courses.ts';

const openPrice = t.member.access({ data: 'financial', partner: true, publishable: true });

/** A product as embedded in courses and order lines. */
export type Product = Static<typeof Product>;
export const Product = t.NamedObject('Product', {
  id: t.member.open(Type.Integer()),
  item_number: t.member.access({ data: 'financial', partner: true })(Type.String()),
  ...t.member.open.all({ title: Type.String(), title_label: t.Nullable(Type.String()) }),
  ...openPrice.all({ price: Type.Number({ description: 'Of one item, without VAT' }), currency: Type.String() }),
  is_main_product: t.member.open(Type.Boolean()),
  vat_percentage: openPrice(Type.Number({ description: 'Percent of VAT that comes on top of the price' })),
});

type Row = typeof products.$inferSelect;
export type ProductRow = Pick<
  Row,
  'id' | 'itemNumber' | 'title' | 'titleLabel' | 'price' | 'currency' | 'isMainProduct' | 'vatPercentage'
>;

export const toProduct = (row: ProductRow): Product => ({
  id: row.id,
  item_number: row.itemNumber,
  title: row.title,
  title_label: row.titleLabel,
  price: Number(row.price),
  currency: row.currency,
  is_main_product: row.isMainProduct,
  vat_percentage: Number(row.vatPercentage),
});

export const Currency = t.NamedObject(
  'Currency',
  t.member.financial.all({
    id: Type.String({ description: 'ISO 4217 number' }),
    title: Type.String({ description: 'ISO 4217 code' }),
    long_title: Type.String({ description: 'English name' }),
  }),
);

/** The package's table is older than the Caribbean guilder. */
const isoNumber = (currency: string) => code(currency)?.number ?? (currency === 'XCG' ? '532' : '');

/** The name in sentence case, `Norwegian krone`; the package has `Norwegian Krone`. */
function longTitle(currency: string) {
  const style = { style: 'currency', currency, currencyDisplay: 'name', maximumFractionDigits: 0 } as const;
  const parts = new Intl.NumberFormat('en', style).formatToParts(1);
  const name = parts.find(({ type }) => type === 'currency')?.value ?? currency;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const currencies = new Map<string, Static<typeof Currency>>();

/** Cached: Intl is slow. */
export function toCurrency(currency: string): Static<typeof Currency> {
  const cached = currencies.get(currency) ?? {
    id: isoNumber(currency),
    title: currency,
    long_title: longTitle(currency),
  };
  currencies.set(currency, cached);
  return cached;
}

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

/** Returns the currency with its ISO number as a number; in lines of orders it is a text. */
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
