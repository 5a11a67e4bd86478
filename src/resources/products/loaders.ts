import { and, asc, isNull } from 'drizzle-orm';
import * as tables from '../../database/tables/courses.ts';
import { batchLoader } from '../../lists/loaders.ts';

const { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage } = tables.products;

/** The columns of an embedded product. */
export const productColumns = { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage };

/** The products of courses, without archived ones. */
export const fetchProducts = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: tables.products.courseId, ...productColumns })
    .from(tables.products)
    .where(and(keys.match(tables.products, tables.products.courseId), isNull(tables.products.archivedAt)))
    .orderBy(asc(tables.products.id)),
);
