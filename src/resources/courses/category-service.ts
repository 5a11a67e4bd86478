import { asc, eq } from 'drizzle-orm';
import { toSlug } from '../../core/catalog-urls.ts';
import { Problem } from '../../core/errors.ts';
import type { Database } from '../../database/client.ts';
import * as catalog from '../../database/tables/catalog.ts';

export const listCategories = (database: Database) =>
  database.db
    .select({
      category_id: catalog.categories.id,
      title: catalog.categories.title,
      slug: catalog.categories.slug,
      parent_id: catalog.categories.parentId,
    })
    .from(catalog.categories)
    .orderBy(asc(catalog.categories.id));

/** Adds a category to the catalog that all providers share; by default its slug is made from the title. */
export async function addCategory(
  database: Database,
  { title, slug = toSlug(title), parentId = null }: { title: string; slug?: string; parentId?: number | null },
): Promise<number> {
  if (parentId !== null && (await database.db.$count(catalog.categories, eq(catalog.categories.id, parentId))) === 0) {
    throw Problem.notFound('Parent category');
  }
  const work = database.writeShared(async (tx, now) => {
    const values = { title, slug, parentId, createdAt: now, updatedAt: now };
    const [created] = await tx.insert(catalog.categories).values(values).returning({ id: catalog.categories.id });
    return tx.recordAffected(created!.id);
  });
  return Problem.mapConstraints(
    { categories_slug: () => new Problem('invalid', 'A category with this slug exists already') },
    work,
  );
}
