import { products } from '../../database/tables/courses.ts';
import { filter } from '../../lists/filters.ts';
import { defineList } from '../../lists/define-list.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { fetchProducts } from './product-loaders.ts';
import { orderProductSerializer } from './product-serializer.ts';

/** Archived products stay listed: lines of older orders name them. */
export const orderProductList = defineList({
  table: products,
  serializer: orderProductSerializer,
  scope: (ctx) => tenantWhere(ctx, products),
  filters: {
    ...filter.dateRange('created_at', products.createdAt),
    ...filter.dateRange('updated_at', products.updatedAt),
  },
  fetch: fetchProducts,
});
