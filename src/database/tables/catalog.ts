import { sql } from 'drizzle-orm';
import { bigint, check, foreignKey, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { caseFolded, folded, operational, reference, tenantKey, tenantTable, timestamps } from './columns.ts';
import { courses } from './courses.ts';
import { providers } from './providers.ts';

/** Categories of the public catalog: one tree for all providers. */
export const categories = pgTable(
  'categories',
  {
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    parentId: reference(),
    title: operational(text()).notNull(),
    slug: operational(text()).notNull(),
    ...timestamps(),
  },
  (t) => [
    foreignKey({ name: 'categories_parent_fk', columns: [t.parentId], foreignColumns: [t.id] }),
    index('categories_parent').on(t.parentId),
    uniqueIndex('categories_slug').on(t.slug),
    check('categories_title', sql`${t.title} <> ''`),
  ],
);

export const courseCategories = pgTable(
  'course_categories',
  { providerId: reference().notNull(), courseId: reference().notNull(), categoryId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'course_categories_pk', columns: [t.providerId, t.courseId, t.categoryId] }),
    tenantKey('course_categories_course_fk', t.courseId, courses.id),
    foreignKey({ name: 'course_categories_category_fk', columns: [t.categoryId], foreignColumns: [categories.id] }),
    index('course_categories_category').on(t.categoryId),
  ],
);

/** Addresses of courses in the public catalog of all providers, deleted ones apart: each belongs to one course. */
export const catalogAddresses = pgTable(
  'catalog_addresses',
  { address: operational(text()).primaryKey(), providerId: reference().notNull(), courseId: reference().notNull() },
  (t) => [
    foreignKey({ name: 'catalog_addresses_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    uniqueIndex('catalog_addresses_course').on(t.providerId, t.courseId),
  ],
);

/** A provider's keywords for its courses: tags filter, labels are only shown. */
export const tags = tenantTable(
  'tags',
  {
    title: operational(text()).notNull(),
    ...timestamps(),
  },
  (t) => [
    foreignKey({ name: 'tags_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    uniqueIndex('tags_title').on(t.providerId, caseFolded(t.title)),
    index('tags_folded_title').on(t.providerId, folded(t.title)),
    check('tags_title_given', sql`${t.title} <> ''`),
  ],
);

export const courseTags = pgTable(
  'course_tags',
  { providerId: reference().notNull(), tagId: reference().notNull(), courseId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'course_tags_pk', columns: [t.providerId, t.tagId, t.courseId] }),
    tenantKey('course_tags_tag_fk', t.tagId, tags.id),
    tenantKey('course_tags_course_fk', t.courseId, courses.id),
    index('course_tags_course').on(t.providerId, t.courseId, t.tagId),
  ],
);

export const labels = tenantTable(
  'labels',
  {
    title: operational(text()).notNull(),
    ...timestamps(),
  },
  (t) => [
    foreignKey({ name: 'labels_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    uniqueIndex('labels_title').on(t.providerId, caseFolded(t.title)),
    index('labels_folded_title').on(t.providerId, folded(t.title)),
    check('labels_title_given', sql`${t.title} <> ''`),
  ],
);

export const courseLabels = pgTable(
  'course_labels',
  { providerId: reference().notNull(), labelId: reference().notNull(), courseId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'course_labels_pk', columns: [t.providerId, t.labelId, t.courseId] }),
    tenantKey('course_labels_label_fk', t.labelId, labels.id),
    tenantKey('course_labels_course_fk', t.courseId, courses.id),
    index('course_labels_course').on(t.providerId, t.courseId, t.labelId),
  ],
);
