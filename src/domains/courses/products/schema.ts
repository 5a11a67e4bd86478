import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
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
