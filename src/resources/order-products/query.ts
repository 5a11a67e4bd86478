import { products } from '../../database/tables/courses.ts';
import { dateRange } from '../../lists/filter.ts';
import { defineList, onPage } from '../../lists/list.ts';
import { own } from '../../lists/reach.ts';
import { orderProductShape } from './shape.ts';

/** Archived products stay listed: lines of older orders name them. */
export const orderProductList = defineList({
  table: products,
  shape: orderProductShape,
  scope: (ctx) => own(ctx, products),
  filters: {
    ...dateRange('created_at', products.createdAt),
    ...dateRange('updated_at', products.updatedAt),
  },
  rows: (ctx, ids, order) =>
    ctx.db
      .select()
      .from(products)
      .innerJoin(ids, onPage(products, ids))
      .orderBy(...order)
      .then((rows) => rows.map((row) => row.products)),
});
