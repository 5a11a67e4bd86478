import { Type, type Static } from '@sinclair/typebox';
import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { products as c } from '../../../database/tables/courses.ts';
import { fieldsOf } from '../../../lists/fields.ts';
import { Currency, toCurrency } from './schema.ts';

const { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage } = c;
export const productColumns = { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage };
export type ProductRow = Pick<OrderProductRow, keyof typeof productColumns>;
export type OrderProductRow = typeof c.$inferSelect;

const { define, open, shownTo, imported } = fieldsOf<ProductRow>();
const openPrice = shownTo(t.member.access({ data: 'financial', partner: true, publishable: true }));
const sharedNumber = shownTo(t.member.access({ data: 'financial', partner: true }));

const Price = Type.Number({ description: 'Of one item, without VAT' });
const Vat = Type.Number({ description: 'Percent of VAT that comes on top of the price' });

const fields = define(
  {
    id: open(id),
    item_number: sharedNumber(itemNumber, undefined, { imported: true }),
    title: open(title, undefined, { imported: true }),
    title_label: open(titleLabel, undefined, { imported: true }),
    price: openPrice(price, undefined, { shown: Price, read: (row) => Number(row.price), imported: true }),
    currency: openPrice(currency, undefined, { imported: t.withDefault(codes.CurrencyCode, 'NOK') }),
    vat_percentage: openPrice(vatPercentage, undefined, {
      shown: Vat,
      read: (row) => Number(row.vatPercentage),
      imported: true,
    }),
    is_main_product: open(isMainProduct, undefined, { imported: true }),
    account_number: imported(c.accountNumber),
    cost_unit: imported(c.costUnit),
    id_external_system: imported(c.externalId),
    archived_at: imported(c.archivedAt),
  },
  { answer: 'vat_percentage' },
);
export const importedProduct = fields.imported;

/** A product as embedded in courses and order lines. */
export type Product = Static<typeof Product>;
export const [Product, toProduct] = fields.item('Product');

const { define: defineForOrders, financial } = fieldsOf<OrderProductRow>();

const NumberedCurrency = t.NamedObject('NumberedCurrency', {
  ...Currency.properties,
  id: t.member.financial(Type.Integer({ description: 'The ISO number' })),
});
const VatRate = t.NamedObject(
  'VatRate',
  t.member.financial.all({
    id: Type.Integer({ description: 'The rate in hundredths of a percent' }),
    vat: Type.Number({ description: 'Percent' }),
    name: Type.String({ examples: ['25.00%'] }),
  }),
);
const Group = t.NamedObject('ProductGroup', t.member.financial.all({ id: Type.Integer(), title: Type.String() }));

/** A product for accounting; courses and order lines embed the shorter `Product`. */
export const [OrderProduct, toOrderProduct] = defineForOrders({
  id: financial(id),
  item_number: financial(itemNumber),
  title: financial(title),
  title_label: financial(titleLabel),
  type: financial.value(Type.String(), () => 'course_product'),
  id_type: financial.value(Type.Integer({ description: '2: a product of a course' }), () => 2),
  id_relation: financial(c.courseId, undefined, { shown: Type.Integer({ description: 'The id of the course' }) }),
  price: financial.value(Price, (row) => Number(row.price)),
  /** Currency with its ISO number as a number; in lines of orders it is a text. */
  currency: financial.value(NumberedCurrency, (row) => {
    const found = toCurrency(row.currency);
    return { ...found, id: Number(found.id) };
  }),
  /** VAT rates have no table; the id is the rate, so that equal rates have equal ids. */
  vat: financial.value(VatRate, ({ vatPercentage: rate }) => ({
    id: Number(toMinorUnits(rate)),
    vat: Number(rate),
    name: `${toDecimal(toMinorUnits(rate))}%`,
  })),
  group: financial.value(t.Nullable(Group), () => null),
  is_main_price: financial(isMainProduct),
  is_member_price: financial.value(Type.Boolean(), () => false),
  is_archived: financial.value(Type.Boolean(), (row) => row.archivedAt !== null),
  is_deleted: financial.value(Type.Boolean(), () => false),
  account_number: financial(c.accountNumber),
  cost_unit: financial(c.costUnit),
  co_products: financial.value(Type.Array(Type.Integer()), () => []),
  id_external_system: financial(c.externalId),
  id_product_regular_price: financial.value(t.Nullable(Type.Integer()), () => null),
  created_at: financial(c.createdAt),
  updated_at: financial(c.updatedAt),
}).item('OrderProduct');
