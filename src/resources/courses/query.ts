import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { Type } from '@sinclair/typebox';
import type { Ctx } from '../../core/context.ts';
import { Flag, Id, List, OneOf } from '../../core/schema.ts';
import { categories, courseCategories, courseTags, tags } from '../../database/tables/catalog.ts';
import { courses, courseTranslations, products } from '../../database/tables/courses.ts';
import { providers } from '../../database/tables/providers.ts';
import { dateRange, filter, parameter } from '../../lists/filter.ts';
import { defineList, onPage } from '../../lists/list.ts';
import { always, include, keysOf, many, ofKeys, one, type Loader } from '../../lists/part.ts';
import { own, withinReach } from '../../lists/reach.ts';
import { shapeOf } from '../../lists/shape.ts';
import { teachingLanguageCodes } from '../../reference/courses.ts';
import { partnerParameters } from '../partners/schema.ts';
import { Product, toProduct } from '../products/schema.ts';
import { Provider, toProvider } from '../providers/schema.ts';
import { Course, toCourse, toPartnerCourse, type CourseRow, type Texts } from './schema.ts';

/** What anybody may see of a school's courses. */
const isPublic = and(
  eq(courses.isActive, true),
  eq(courses.type, 'public'),
  inArray(courses.publishingPlatform, ['both', 'catalog']),
  isNull(courses.deletedAt),
)!;

/** The courses that carry any of the provider's own tags, or every one of them. */
function taggedWith(ctx: Ctx, tagIds: number[], match: unknown) {
  const ids = [...new Set(tagIds)];
  const tagged = ctx.db
    .select({ courseId: courseTags.courseId })
    .from(courseTags)
    .where(own(ctx, courseTags, inArray(courseTags.tagId, ids)))
    .groupBy(courseTags.courseId)
    .having(match === 'all' ? sql`count(*) = ${ids.length}` : undefined);
  return own(ctx, courses, sql`${courses.id} = any(array(${tagged}))`);
}

const parentCategories = alias(categories, 'parent_categories');

const courseCategoriesOf = many(
  (ctx, keys) =>
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
      .where(ofKeys(ctx, courseCategories.providerId, courseCategories.courseId, keys))
      .orderBy(asc(categories.id)),
  ({ id, title, slug, idParent, titleParent }: CategoryFound) => ({ id, title, slug, idParent, titleParent }),
);
type CategoryFound = {
  ownerId: number;
  id: number;
  title: string;
  slug: string;
  idParent: number;
  titleParent: string;
};

const tagsOf = many(
  (ctx, keys) =>
    ctx.db
      .select({ ownerId: courseTags.courseId, id: tags.id, title: tags.title })
      .from(courseTags)
      .innerJoin(tags, and(eq(tags.providerId, courseTags.providerId), eq(tags.id, courseTags.tagId)))
      .where(ofKeys(ctx, courseTags.providerId, courseTags.courseId, keys))
      .orderBy(asc(tags.id)),
  ({ id, title }: { ownerId: number; id: number; title: string }) => ({ id, title }),
);

const descriptionLanguagesOf = many(
  (ctx, keys) =>
    ctx.db
      .select({ ownerId: courseTranslations.courseId, languageId: courseTranslations.languageId })
      .from(courseTranslations)
      .where(ofKeys(ctx, courseTranslations.providerId, courseTranslations.courseId, keys))
      .orderBy(asc(courseTranslations.languageId)),
  ({ languageId }: { ownerId: number; languageId: string }) => languageId,
);

/** The texts in the language that was asked for; null for a course without them, which answers in its own. */
const translationOf: Loader<CourseRow, Texts | null> = async (ctx, rows, { description_language: language }) => {
  if (typeof language !== 'string') return () => null;
  const found = await ctx.db
    .select()
    .from(courseTranslations)
    .where(
      and(
        ofKeys(ctx, courseTranslations.providerId, courseTranslations.courseId, keysOf(rows)),
        eq(courseTranslations.languageId, language),
      ),
    );
  const texts = new Map(found.map((row) => [row.courseId, row]));
  return (row) => texts.get(row.id) ?? null;
};

const productsOf = many(
  (ctx, keys) =>
    ctx.db
      .select({ ownerId: products.courseId, ...productColumns })
      .from(products)
      .where(ofKeys(ctx, products.providerId, products.courseId, keys))
      .orderBy(asc(products.id)),
  toProduct,
);
const { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage } = products;
const productColumns = { id, itemNumber, title, titleLabel, price, currency, isMainProduct, vatPercentage };

/** A course as lists show it; partners' courses by the allow-list of their own. */
export const courseShape = shapeOf<CourseRow>()({
  view: Course,
  parts: {
    categories: courseCategoriesOf,
    tags: tagsOf,
    description_languages: descriptionLanguagesOf,
    translation: translationOf,
  },
  toView: (row, parts, ctx) =>
    row.providerId === ctx.providerId ? toCourse(row, parts, ctx) : toPartnerCourse(row, parts, ctx),
  includes: {
    products: include(Type.Array(Product), 'shown', productsOf),
    provider: include(
      Provider,
      'shown',
      always(
        one(
          (row: CourseRow) => row.providerId,
          (ctx, { ids }) => ctx.db.select().from(providers).where(inArray(providers.id, ids)),
          toProvider,
        ),
      ),
    ),
  },
});

export const courseList = defineList({
  table: courses,
  shape: courseShape,
  scope: (ctx, reach) => withinReach(ctx, reach, courses.providerId, isPublic),
  notDeleted: isNull(courses.deletedAt),
  filters: {
    customer_id: filter(Id, (customerId, ctx) => own(ctx, courses, eq(courses.customerId, customerId))),
    ...dateRange('created_at', courses.createdAt),
    ...dateRange('updated_at', courses.updatedAt),
    description_language: parameter(OneOf(teachingLanguageCodes)),
    tag_ids: filter(List(Id), (tagIds: number[], ctx, { tag_match }) => taggedWith(ctx, tagIds, tag_match)),
    tag_match: parameter(OneOf(['any', 'all'], { default: 'any' })),
    ...partnerParameters,
    paginate: parameter(Flag({ default: false, description: 'true wraps the list in the envelope' })),
  },
  rows: (ctx, ids, order) =>
    ctx.db
      .select()
      .from(courses)
      .innerJoin(ids, onPage(courses, ids))
      .orderBy(...order)
      .then((rows) => rows.map((row) => row.courses)),
});
