import { asc, eq, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { categories, courseCategories } from '../../../database/tables/catalog.ts';
import { batchLoader } from '../../../lists/loaders.ts';

const parentCategories = alias(categories, 'parent_categories');

/** The categories of courses, by id. */
export const fetchCategories = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ownerId: courseCategories.courseId,
      id: categories.id,
      title: categories.title,
      slug: categories.slug,
      idParent: sql<number>`coalesce(${categories.parentId}, 0)`.mapWith(Number),
      titleParent: sql<string>`coalesce(${parentCategories.title}, '')`,
    })
    .from(courseCategories)
    .innerJoin(categories, eq(categories.id, courseCategories.categoryId))
    .leftJoin(parentCategories, eq(parentCategories.id, categories.parentId))
    .where(keys.match(courseCategories, courseCategories.courseId))
    .orderBy(asc(categories.id)),
);
