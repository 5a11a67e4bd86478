import { products } from '../../database/tables/courses.ts';
import { byKeys, ofKeys } from '../../lists/loaders.ts';
import { shapeOf } from '../../lists/serializer.ts';
import { OrderProduct, toOrderProduct, type OrderProductRow } from './product-schema.ts';

export const orderProductShape = shapeOf<OrderProductRow>()({
  view: OrderProduct,
  parts: {},
  toView: toOrderProduct,
  includes: {},
});

/** Products by their ids, archived ones too. */
export const fetchProducts = byKeys((ctx, keys) =>
  ctx.db
    .select()
    .from(products)
    .where(ofKeys(ctx, products.providerId, products.id, keys)),
);
