import { products } from '../../database/tables/courses.ts';
import { batchLoader } from '../../lists/loaders.ts';

/** Products by their ids, archived ones too. */
export const fetchProducts = batchLoader((ctx, keys) =>
  ctx.db.select().from(products).where(keys.match(products, products.id)),
);
