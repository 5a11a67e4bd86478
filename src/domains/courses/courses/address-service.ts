import { and, eq, isNull, min, sql, type SQL } from 'drizzle-orm';
import { toSlug } from '../../../core/catalog-urls.ts';
import type { WriteCtx } from '../../../database/context.ts';
import { catalogAddresses, categories, courseCategories } from '../../../database/tables/catalog.ts';
import { courses } from '../../../database/tables/courses.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

/** A course, with the slug of its title or its own. */
type Claim = { id: number; slug: string; slugHasId: boolean };

/** Gives new courses the addresses of their category and slug, with the id where another course has that address. */
export async function assignAddresses(w: WriteCtx, claims: Claim[]) {
  for (const { id, ...slugs } of await claimFree(w, claims))
    if (slugs.slugHasId)
      await w.tx
        .update(courses)
        .set(slugs)
        .where(tenantWhere(w, courses, eq(courses.id, id)));
}

/** Claims the address of a course whose title or first category has changed. Returns the columns of its slug. */
export async function replaceAddress(
  w: WriteCtx,
  { id, title, slugHasId }: { id: number; title: string; slugHasId: boolean },
) {
  await releaseAddress(w, id);
  const slug = toSlug(title);
  const [claimed] = await claimFree(w, [{ id, slugHasId, slug: slugHasId ? appendId(slug, id) : slug }]);
  return { slug: claimed!.slug, slugHasId: claimed!.slugHasId };
}

export const releaseAddress = (w: WriteCtx, id: number) =>
  w.tx.delete(catalogAddresses).where(tenantWhere(w, catalogAddresses, eq(catalogAddresses.courseId, id)));

/** Addresses of imported courses, deleted ones apart. */
export async function assignImportedAddresses(w: WriteCtx, ids: SQL) {
  const imported = and(sql`${courses.id} = any(array(${ids}))`, isNull(courses.deletedAt));
  const { id, slug, slugHasId } = courses;
  await assignAddresses(
    w,
    await w.tx
      .select({ id, slug, slugHasId })
      .from(courses)
      .where(tenantWhere(w, courses, imported))
      .orderBy(id),
  );
}

/** Claims addresses until each course has one; an open transaction that claims the same one is waited for. */
async function claimFree(w: WriteCtx, claims: Claim[]): Promise<Claim[]> {
  const claimed: Claim[] = [];
  let pending = claims;
  while (pending.length > 0) {
    const free = new Set((await insertFree(w, pending)).map(({ id }) => id));
    claimed.push(...pending.filter(({ id }) => free.has(id)));
    pending = pending
      .filter(({ id }) => !free.has(id))
      .map(({ id, slug }) => ({ id, slug: appendId(slug, id), slugHasId: true }));
  }
  return claimed;
}

/** Claims those that no other course has; in order, so that two imports cannot wait for each other. */
function insertFree(w: WriteCtx, claims: Claim[]) {
  const [ids, slugs] = [claims.map(({ id }) => id), claims.map(({ slug }) => slug)];
  const ofCourse = tenantWhere(w, courseCategories, sql`${courseCategories.courseId} = c.id`);
  const category = w.tx
    .select({ id: min(courseCategories.categoryId) })
    .from(courseCategories)
    .where(ofCourse);
  const claimed = w.tx
    .select({
      address: sql<string>`coalesce(${categories.slug} || '/', '') || c.slug`.as('address'),
      providerId: sql<number>`${w.providerId}::bigint`.as('provider_id'),
      courseId: sql<number>`c.id`.as('course_id'),
    })
    .from(sql`unnest(${sql.param(ids)}::bigint[], ${sql.param(slugs)}::text[]) c (id, slug)`)
    .leftJoin(categories, eq(categories.id, category))
    .orderBy(sql`1`, sql`c.id`);
  const { address, courseId } = catalogAddresses;
  return w.tx
    .insert(catalogAddresses)
    .select(claimed)
    .onConflictDoNothing({ target: address })
    .returning({ id: courseId });
}

const appendId = (slug: string, id: number) => `${slug}-${id}`;
