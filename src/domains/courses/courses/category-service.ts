import { and, asc, eq, like, lt, or, sql } from 'drizzle-orm';
import { toSlug } from '../../../core/catalog-urls.ts';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import type { Database, Tx, Write } from '../../../database/client.ts';
import { matchFolded } from '../../../database/tables/columns.ts';
import { categories, courseCategories } from '../../../database/tables/catalog.ts';
import { courses } from '../../../database/tables/courses.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { replaceAddress } from './address-service.ts';
import { matchCourse } from './service.ts';
import { touchDatesOfCourse } from '../../school/catalog-settings/service.ts';

export const listCategories = (database: Database) =>
  database.db
    .select({
      category_id: categories.id,
      title: categories.title,
      slug: categories.slug,
      parent_id: categories.parentId,
    })
    .from(categories)
    .orderBy(asc(categories.id));

type NewCategory = { title: string; slug?: string; parentId: number | null };

/** Adds a category to the catalog that all providers share; by default its slug is made from the title. */
export async function addCategory(
  database: Database,
  { title, slug = toSlug(title), parentId = null }: Partial<NewCategory> & { title: string },
): Promise<number> {
  if (parentId !== null && (await database.db.$count(categories, eq(categories.id, parentId))) === 0) {
    throw Problem.notFound('Parent category');
  }
  const work = database.writeShared((w) => insertCategory(w, { title, slug, parentId }));
  return Problem.mapConstraints(
    { categories_slug: () => new Problem('invalid', `A category with the slug ${slug} exists already`) },
    work,
  );
}

/** The category with this title (folded) and parent, or this slug of several; added for all providers if missing. */
export async function findOrAddCategory(database: Database, category: NewCategory): Promise<number> {
  const { title, slug = toSlug(title), parentId } = category;
  return (
    (await findCategory(database.db, category)) ??
    database.writeShared(async (w) => {
      const found = await findCategory(w.tx, category);
      if (found !== undefined) return w.tx.rollBack(found);
      return insertCategory(w, { title, slug: await findFreeSlug(w.tx, slug), parentId });
    })
  );
}

async function insertCategory({ tx, now }: Write, values: Required<NewCategory>) {
  const [created] = await tx
    .insert(categories)
    .values({ ...values, createdAt: now, updatedAt: now })
    .returning({ id: categories.id });
  return tx.auditItem(created!.id);
}

async function findCategory(
  db: Database['db'],
  { title, slug = '', parentId }: NewCategory,
): Promise<number | undefined> {
  const match = matchFolded(categories.title, title);
  const [found] = await db
    .select({ id: categories.id })
    .from(categories)
    .where(and(sql`${categories.parentId} is not distinct from ${parentId}::bigint`, match.isEqual))
    .orderBy(sql`${categories.slug} <> ${slug}`, match.order, asc(categories.id))
    .limit(1);
  return found?.id;
}

async function findFreeSlug(tx: Tx, slug: string): Promise<string> {
  const taken = await tx
    .select({ slug: categories.slug })
    .from(categories)
    .where(or(eq(categories.slug, slug), like(categories.slug, `${slug}-%`)));
  const slugs = new Set(taken.map((one) => one.slug));
  if (!slugs.has(slug)) return slug;
  for (let number = 2; ; number += 1) if (!slugs.has(`${slug}-${number}`)) return `${slug}-${number}`;
}

/** Adds a course to a category of the catalog; idempotent. */
export function categorizeCourse(ctx: Ctx, courseId: number, categoryId: number) {
  const { providerId } = ctx;
  return ctx.write(['catalog', 'dates'], async (w) => {
    const { tx, now } = w;
    const course = matchCourse(ctx, courseId);
    const [before] = await tx.select().from(courses).where(course);
    if (!before) throw Problem.notFound('Course');
    if ((await tx.$count(categories, eq(categories.id, categoryId))) === 0) throw Problem.notFound('Category');
    const values = { providerId, courseId, categoryId };
    const added = await tx.insert(courseCategories).values(values).onConflictDoNothing().returning();
    if (added.length === 0) {
      tx.rollBack();
      return;
    }
    tx.auditItem(courseId);
    const lower = and(eq(courseCategories.courseId, courseId), lt(courseCategories.categoryId, categoryId));
    const isFirst = (await tx.$count(courseCategories, tenantWhere(ctx, courseCategories, lower))) === 0;
    const slugs = isFirst ? await replaceAddress(w, before) : {};
    await tx
      .update(courses)
      .set({ ...slugs, updatedAt: now, relatedItemsUpdatedAt: now })
      .where(course);
    if (isFirst && ctx.settings.catalogUrl !== null) await touchDatesOfCourse(w, courseId, 'url');
  });
}
