import { Type } from '@sinclair/typebox';
import { member, t } from '../../../core/schema/types.ts';
import type { Key } from '../../../lists/loaders.ts';
import { relation, type Loader, type Serializer } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { includeCustomer } from '../../people/customers/serializer.ts';
import { loadCourseUrl } from '../../school/catalog-settings/loaders.ts';
import { providerInclude } from '../../school/schools/provider-serializer.ts';
import { fetchProducts } from '../products/loaders.ts';
import { Product, toProduct } from '../products/fields.ts';
import { fetchLabels, fetchTags } from '../tags/loaders.ts';
import { Tag } from '../tags/fields.ts';
import { fetchDescriptionLanguages, fetchEmbeddedCourses, fetchTranslations, fetchCategories } from './loaders.ts';
import {
  Course,
  EmbeddedCourse,
  toCourse,
  toEmbeddedCourse,
  type CourseRow,
  type EmbeddedCourseRow,
} from './fields.ts';
import type { Texts } from './schema.ts';

const includeProducts = relation.include(
  member.open(Type.Array(Product)),
  relation.hasMany(fetchProducts, (row, ctx) => toProduct(row, undefined, ctx)),
);

/** The tags of courses. */
const loadTags = relation.hasMany(fetchTags, ({ id, title }) => ({ id, title }));

/** The internal labels of courses. */
const includeLabels = relation.include(
  t.member.closed(Type.Array(Tag)),
  relation.hasMany(fetchLabels, ({ id, title }) => ({ id, title })),
);

/** The categories of courses, by id. */
const loadCategories = relation.hasMany(fetchCategories, (category) => category);

const loadDescriptionLanguages = relation.hasMany(fetchDescriptionLanguages, ({ languageId }) => languageId);

/** Texts in the query's `description_language`; null for a course without a translation. */
const loadTranslation: Loader<CourseRow, Texts | null> = async (ctx, rows, { description_language: language }) => {
  if (typeof language !== 'string') return () => null;
  const translations = await fetchTranslations(ctx, rows, language);
  const texts = new Map(translations.map((row) => [row.courseId, row]));
  return (row) => texts.get(row.id) ?? null;
};

const loadMinShare: Loader<CourseRow, number | null> = () =>
  Promise.resolve(({ completionMinShare: share }) => (share === null ? null : Number(share)));
const MinShare = Type.Number({ description: 'Share of the gatherings that completes the course; null: only by hand' });
const completion_min_share = relation.include(t.member.closed(t.Nullable(MinShare)), loadMinShare);

const common = {
  reads: ['catalog'] as const,
  responseSchema: Course,
  relations: {
    categories: loadCategories,
    tags: loadTags,
    description_languages: loadDescriptionLanguages,
    toUrl: loadCourseUrl,
    translation: loadTranslation,
  },
  toResponse: toCourse,
};

/** A course in a list. */
export const courseSerializer = defineSerializer<CourseRow>()({
  ...common,
  includes: { products: includeProducts, provider: providerInclude, completion_min_share },
});

/** One course, with more includes than in a list. */
export const courseItemSerializer = defineSerializer<CourseRow>()({
  ...common,
  responseSchema: t.named('CourseDetails', Course),
  includes: {
    products: includeProducts,
    labels: includeLabels,
    provider: providerInclude,
    completion_min_share,
  },
});

/** A course inside a course date or an order line, without its texts and timestamps. */
const embeddedCourseSerializer = defineSerializer<EmbeddedCourseRow>()({
  reads: ['catalog'],
  responseSchema: EmbeddedCourse,
  relations: { categories: loadCategories, tags: loadTags, toUrl: loadCourseUrl },
  toResponse: toEmbeddedCourse,
  includes: {
    customer: includeCustomer((row: EmbeddedCourseRow) => row.customerId),
    products: includeProducts,
  },
});

export const includeCourse = <Row extends Key>(courseId: (row: Row) => number, declare: typeof t.member.open) =>
  relation.includeOne(courseId, fetchEmbeddedCourses, embeddedCourseSerializer, declare);

/** A course inside the calendar, which may show the school's internal reference; a partner's stays private. */
const calendarCourseSerializer: Serializer<EmbeddedCourseRow> = {
  schema: t.NamedObject('NextCourseDateCourse', {
    ...Type.Omit(embeddedCourseSerializer.schema, ['customer']).properties,
    reference_internal: t.member.closed(Type.Optional(t.Nullable(Type.String()))),
  }),
  names: ['products', 'reference_internal'],
  readAreas: embeddedCourseSerializer.readAreas,
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
  relation.includeOne(courseId, fetchEmbeddedCourses, calendarCourseSerializer, t.member.open);

type RowOfCourse = Key & { courseId: number; course: { slug: string; isPublic: boolean } };

/** Loads the `catalog_url` of each row's course, by its first category with CATALOG_URL. */
export const loadCatalogUrl: Loader<RowOfCourse, string | null> = async (ctx, rows, query) => {
  const toCourseKey = ({ providerId, courseId }: RowOfCourse) => ({ providerId, id: courseId });
  const courseKeys = new Map(rows.map((row) => [row.courseId, toCourseKey(row)]));
  const [toUrl, getCategories] = await Promise.all([
    loadCourseUrl(ctx, rows, query),
    ctx.settings.catalogUrl === null ? undefined : loadCategories(ctx, [...courseKeys.values()], query),
  ]);
  return (row) => {
    const category = getCategories?.(toCourseKey(row))[0]?.slug;
    return toUrl(row)({ ...row.course, id: row.courseId, category });
  };
};
