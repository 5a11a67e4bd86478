import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { Type } from '@sinclair/typebox';
import { catalogUrl } from '../../core/catalog-urls.ts';
import * as t from '../../schema/types.ts';
import { omitColumns } from '../../database/tables/columns.ts';
import * as catalog from '../../database/tables/catalog.ts';
import { courses, courseTranslations, products } from '../../database/tables/courses.ts';
import { batchLoader, keysOf, type Key } from '../../lists/loaders.ts';
import { relation, type ForPartners, type Loader, type Serializer } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { includeCustomer } from '../customers/serializer.ts';
import { Product, toProduct, type ProductRow } from './product-schema.ts';
import { productColumns } from './product-serializer.ts';
import { providerInclude } from '../schools/provider-serializer.ts';
import { Tag } from '../tags/schema.ts';
import {
  Course,
  descriptionMembers,
  EmbeddedCourse,
  toCourse,
  toEmbeddedCourse,
  type CourseRow,
  type EmbeddedCourseRow,
  type Texts,
} from './schema.ts';

/** Courses that the public and partners may see. */
export const isPublicCourse = and(
  eq(courses.isActive, true),
  eq(courses.type, 'public'),
  inArray(courses.publishingPlatform, ['both', 'catalog']),
  isNull(courses.deletedAt),
)!;

const parentCategories = alias(catalog.categories, 'parent_categories');

/** The categories of courses, by id. */
const loadCategories = relation.hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({
        ownerId: catalog.courseCategories.courseId,
        id: catalog.categories.id,
        title: catalog.categories.title,
        slug: catalog.categories.slug,
        idParent: sql<number>`coalesce(${catalog.categories.parentId}, 0)`.mapWith(Number),
        titleParent: sql<string>`coalesce(${parentCategories.title}, '')`,
      })
      .from(catalog.courseCategories)
      .innerJoin(catalog.categories, eq(catalog.categories.id, catalog.courseCategories.categoryId))
      .leftJoin(parentCategories, eq(parentCategories.id, catalog.categories.parentId))
      .where(keys.match(catalog.courseCategories, catalog.courseCategories.courseId))
      .orderBy(asc(catalog.categories.id)),
  ),
  ({ id, title, slug, idParent, titleParent }: CategoryRow) => ({ id, title, slug, idParent, titleParent }),
);
type CategoryRow = {
  ownerId: number;
  id: number;
  title: string;
  slug: string;
  idParent: number;
  titleParent: string;
};

const loadTags = relation.hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: catalog.courseTags.courseId, id: catalog.tags.id, title: catalog.tags.title })
      .from(catalog.courseTags)
      .innerJoin(
        catalog.tags,
        and(eq(catalog.tags.providerId, catalog.courseTags.providerId), eq(catalog.tags.id, catalog.courseTags.tagId)),
      )
      .where(keys.match(catalog.courseTags, catalog.courseTags.courseId))
      .orderBy(asc(catalog.tags.id)),
  ),
  ({ id, title }: TagRow) => ({ id, title }),
);
type TagRow = { ownerId: number; id: number; title: string };

const loadLabels = relation.hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: catalog.courseLabels.courseId, id: catalog.labels.id, title: catalog.labels.title })
      .from(catalog.courseLabels)
      .innerJoin(
        catalog.labels,
        and(
          eq(catalog.labels.providerId, catalog.courseLabels.providerId),
          eq(catalog.labels.id, catalog.courseLabels.labelId),
        ),
      )
      .where(keys.match(catalog.courseLabels, catalog.courseLabels.courseId))
      .orderBy(asc(catalog.labels.id)),
  ),
  ({ id, title }: TagRow) => ({ id, title }),
);

const loadDescriptionLanguages = relation.hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: courseTranslations.courseId, languageId: courseTranslations.languageId })
      .from(courseTranslations)
      .where(keys.match(courseTranslations, courseTranslations.courseId))
      .orderBy(asc(courseTranslations.languageId)),
  ),
  ({ languageId }: { ownerId: number; languageId: string }) => languageId,
);

/** Texts in the query's `description_language`; null for a course without a translation. */
const loadTranslation: Loader<CourseRow, Texts | null> = async (ctx, rows, { description_language: language }) => {
  if (typeof language !== 'string') return () => null;
  const translations = await ctx.db
    .select()
    .from(courseTranslations)
    .where(
      and(
        keysOf(rows).match(courseTranslations, courseTranslations.courseId),
        eq(courseTranslations.languageId, language),
      ),
    );
  const texts = new Map(translations.map((row) => [row.courseId, row]));
  return (row) => texts.get(row.id) ?? null;
};

const loadProducts = relation.hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: products.courseId, ...productColumns })
      .from(products)
      .where(and(keys.match(products, products.courseId), isNull(products.archivedAt)))
      .orderBy(asc(products.id)),
  ),
  (row: ProductRow & { ownerId: number }) => toProduct(row),
);

const common = {
  responseSchema: Course,
  relations: {
    categories: loadCategories,
    tags: loadTags,
    description_languages: loadDescriptionLanguages,
    translation: loadTranslation,
  },
  toResponse: toCourse,
};
const productsInclude = relation.include(Type.Array(Product), 'shown', loadProducts);

/** A course in a list. */
export const courseSerializer = defineSerializer<CourseRow>()({
  ...common,
  includes: { products: productsInclude, provider: providerInclude },
});

/** One course, with more includes than in a list. */
export const courseItemSerializer = defineSerializer<CourseRow>()({
  ...common,
  includes: {
    products: productsInclude,
    labels: relation.include(Type.Array(Tag), 'unset', loadLabels),
    provider: providerInclude,
  },
});

/** A course inside a course date or an order line, without its texts and timestamps. */
const embeddedCourseSerializer = defineSerializer<EmbeddedCourseRow>()({
  responseSchema: EmbeddedCourse,
  relations: { categories: loadCategories, tags: loadTags },
  toResponse: toEmbeddedCourse,
  includes: {
    customer: includeCustomer((row: EmbeddedCourseRow) => row.customerId),
    products: productsInclude,
  },
});

/** Courses by their ids, deleted ones too. */
export const fetchCourses = batchLoader((ctx, keys) =>
  ctx.db.select().from(courses).where(keys.match(courses, courses.id)),
);

/** Courses by their ids, without the long texts that an embedded course leaves out. */
const fetchEmbeddedCourses = batchLoader((ctx, keys) =>
  ctx.db
    .select(omitColumns(courses, Object.values(descriptionMembers)))
    .from(courses)
    .where(keys.match(courses, courses.id)),
);

export const includeCourse = <Row extends Key>(courseId: (row: Row) => number, forPartners: ForPartners) =>
  relation.includeOne(courseId, fetchEmbeddedCourses, embeddedCourseSerializer, forPartners);

/** A course inside the calendar, which may show the school's internal reference; a partner's stays private. */
const calendarCourseSerializer: Serializer<EmbeddedCourseRow> = {
  schema: Type.Object({
    ...Type.Omit(embeddedCourseSerializer.schema, ['customer']).properties,
    reference_internal: Type.Optional(t.Nullable(Type.String())),
  }),
  names: ['products', 'reference_internal'],
  async embed(ctx, rows, query, includes) {
    const items = await embeddedCourseSerializer.embed(
      ctx,
      rows,
      query,
      includes.filter((name) => name !== 'reference_internal'),
    );
    if (!includes.includes('reference_internal')) return items;
    const own = (row: EmbeddedCourseRow) => (row.providerId === ctx.providerId ? row.referenceInternal : null);
    return items.map((item, n) => ({ ...item, reference_internal: own(rows[n]!) }));
  },
};

export const includeCalendarCourse = <Row extends Key>(courseId: (row: Row) => number) =>
  relation.includeOne(courseId, fetchEmbeddedCourses, calendarCourseSerializer, 'shown');

type RowOfCourse = Key & { courseId: number; course: { slug: string } };

/** Loads the catalog address of each row's course, by its first category; null without a catalog, and no query then. */
export const loadCatalogUrl: Loader<RowOfCourse, string | null> = async (ctx, rows, query) => {
  if (ctx.settings.catalogUrl === null) return () => null;
  const toCourseKey = ({ providerId, courseId }: RowOfCourse) => ({ providerId, id: courseId });
  const courseKeys = new Map(rows.map((row) => [row.courseId, toCourseKey(row)]));
  const categoriesOf = await loadCategories(ctx, [...courseKeys.values()], query);
  return (row) => catalogUrl(ctx.settings, categoriesOf(toCourseKey(row))[0]?.slug, row.course.slug);
};
