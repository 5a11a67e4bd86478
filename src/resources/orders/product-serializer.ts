import { products } from '../../database/tables/courses.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { OrderProduct, toOrderProduct, type OrderProductRow } from './product-schema.ts';

export const orderProductSerializer = defineSerializer<OrderProductRow>()({
  responseSchema: OrderProduct,
  relations: {},
  toResponse: toOrderProduct,
  includes: {},
});

/** Products by their ids, archived ones too. */
export const fetchProducts = batchLoader((ctx, keys) =>
  ctx.db.select().from(products).where(keys.match(products, products.id)),
);
