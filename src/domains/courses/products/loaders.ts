import { and, asc, isNull } from 'drizzle-orm';
import { products } from '../../../database/tables/courses.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { productColumns } from './fields.ts';

/** The products of courses, without archived ones. */
export const fetchProducts = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: products.courseId, ...productColumns })
    .from(products)
    .where(and(keys.match(products, products.courseId), isNull(products.archivedAt)))
    .orderBy(asc(products.id)),
);
