import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import * as catalog from '../../database/tables/catalog.ts';
import { omitColumns } from '../../database/tables/columns.ts';
import * as tables from '../../database/tables/courses.ts';
import { batchLoader, matchesKeys, type Key } from '../../lists/loaders.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';
import { descriptionMembers } from './schema.ts';

/** Courses that the public and partners may see. */
export const isPublicCourse = and(
  eq(tables.courses.isActive, true),
  eq(tables.courses.type, 'public'),
  inArray(tables.courses.publishingPlatform, ['both', 'catalog']),
  isNull(tables.courses.deletedAt),
)!;

const ofTag = sameTenant(tables.courses, catalog.courseTags, eq(tables.courses.id, catalog.courseTags.courseId));

/** Tags that a public course has. */
export const isTagOfPublicCourse = sql`exists (
  select from ${catalog.courseTags} join ${tables.courses} on ${ofTag} where ${sameTenant(
    catalog.courseTags,
    catalog.tags,
    and(eq(catalog.courseTags.tagId, catalog.tags.id), isPublicCourse),
  )})`;

export const fetchTags = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: catalog.courseTags.courseId, id: catalog.tags.id, title: catalog.tags.title })
    .from(catalog.courseTags)
    .innerJoin(
      catalog.tags,
      sameTenant(catalog.tags, catalog.courseTags, eq(catalog.tags.id, catalog.courseTags.tagId)),
    )
    .where(keys.match(catalog.courseTags, catalog.courseTags.courseId))
    .orderBy(asc(catalog.tags.id)),
);

export const fetchLabels = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: catalog.courseLabels.courseId, id: catalog.labels.id, title: catalog.labels.title })
    .from(catalog.courseLabels)
    .innerJoin(
      catalog.labels,
      sameTenant(catalog.labels, catalog.courseLabels, eq(catalog.labels.id, catalog.courseLabels.labelId)),
    )
    .where(keys.match(catalog.courseLabels, catalog.courseLabels.courseId))
    .orderBy(asc(catalog.labels.id)),
);

export const fetchDescriptionLanguages = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: tables.courseTranslations.courseId, languageId: tables.courseTranslations.languageId })
    .from(tables.courseTranslations)
    .where(keys.match(tables.courseTranslations, tables.courseTranslations.courseId))
    .orderBy(asc(tables.courseTranslations.languageId)),
);

/** The texts of courses in one language. */
export const fetchTranslations = (ctx: Pick<Ctx, 'db'>, rows: Key[], language: string) =>
  ctx.db
    .select()
    .from(tables.courseTranslations)
    .where(
      and(
        matchesKeys(rows).match(tables.courseTranslations, tables.courseTranslations.courseId),
        eq(tables.courseTranslations.languageId, language),
      ),
    );

/** Courses by their ids, deleted ones too. */
export const fetchCourses = batchLoader((ctx, keys) =>
  ctx.db.select().from(tables.courses).where(keys.match(tables.courses, tables.courses.id)),
);

/** Courses by their ids, without the long texts that an embedded course leaves out. */
export const fetchEmbeddedCourses = batchLoader((ctx, keys) =>
  ctx.db
    .select(omitColumns(tables.courses, Object.values(descriptionMembers)))
    .from(tables.courses)
    .where(keys.match(tables.courses, tables.courses.id)),
);
