import { and, asc, isNull } from 'drizzle-orm';
import { products } from '../../../database/tables/courses.ts';
import { batchLoader } from '../../../lists/loaders.ts';

const { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage } = products;

export const productColumns = { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage };

/** The products of courses, without archived ones. */
export const fetchProducts = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: products.courseId, ...productColumns })
    .from(products)
    .where(and(keys.match(products, products.courseId), isNull(products.archivedAt)))
    .orderBy(asc(products.id)),
);
