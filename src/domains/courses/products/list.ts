import { products } from '../../../database/tables/courses.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { OrderProduct, toOrderProduct, type OrderProductRow } from './schema.ts';

/** Archived products stay listed: lines of older orders name them. */
export const orderProductList = defineList({
  table: products,
  serializer: defineSerializer<OrderProductRow>()({
    reads: ['catalog'],
    responseSchema: OrderProduct,
    toResponse: toOrderProduct,
  }),
  filters: {
    ...filter.timestamps(products),
  },
});
