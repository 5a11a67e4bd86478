import { and, asc, eq, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../../database/context.ts';
import { categories, courseCategories } from '../../../database/tables/catalog.ts';
import { omitColumns } from '../../../database/tables/columns.ts';
import * as tables from '../../../database/tables/courses.ts';
import { batchLoader, matchesKeys } from '../../../lists/loaders.ts';
import type { CourseRow } from './fields.ts';
import { descriptionMembers } from './schema.ts';

export const fetchDescriptionLanguages = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: tables.courseTranslations.courseId, languageId: tables.courseTranslations.languageId })
    .from(tables.courseTranslations)
    .where(keys.match(tables.courseTranslations, tables.courseTranslations.courseId))
    .orderBy(asc(tables.courseTranslations.languageId)),
);

/** The texts of courses in one language. */
export const fetchTranslations = (ctx: Pick<Ctx, 'db'>, rows: CourseRow[], language: string) =>
  ctx.db
    .select()
    .from(tables.courseTranslations)
    .where(
      and(
        matchesKeys(rows).match(tables.courseTranslations, tables.courseTranslations.courseId),
        eq(tables.courseTranslations.languageId, language),
      ),
    );

/** Courses by their ids, without the long texts that an embedded course leaves out. */
export const fetchEmbeddedCourses = batchLoader((ctx, keys) =>
  ctx.db
    .select(omitColumns(tables.courses, Object.values(descriptionMembers)))
    .from(tables.courses)
    .where(keys.match(tables.courses, tables.courses.id)),
);

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
