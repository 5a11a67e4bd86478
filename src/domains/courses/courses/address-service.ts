import { and, eq, isNull, min, sql, type SQL } from 'drizzle-orm';
import { toSlug } from '../../../core/catalog-urls.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { catalogAddresses, categories, courseCategories } from '../../../database/tables/catalog.ts';
import { courses } from '../../../database/tables/courses.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

/** A course, with the slug of its title or its own. */
type Claim = { id: number; slug: string; slugHasId: boolean };

/**
 * Gives new courses the addresses of their first category and slug. Where another course of any provider has that
 * address, the id is appended to the slug, also in the course's row.
 */
export async function assignAddresses(ctx: Ctx, tx: Tx, claims: Claim[]) {
  for (const { id, ...slugs } of await claimFree(ctx, tx, claims))
    if (slugs.slugHasId)
      await tx
        .update(courses)
        .set(slugs)
        .where(tenantWhere(ctx, courses, eq(courses.id, id)));
}

/** Claims the address of a course whose title or first category has changed. Returns the columns of its slug. */
export async function replaceAddress(
  ctx: Ctx,
  tx: Tx,
  { id, title, slugHasId }: { id: number; title: string; slugHasId: boolean },
) {
  await releaseAddress(ctx, tx, id);
  const slug = toSlug(title);
  const [claimed] = await claimFree(ctx, tx, [{ id, slugHasId, slug: slugHasId ? appendId(slug, id) : slug }]);
  return { slug: claimed!.slug, slugHasId: claimed!.slugHasId };
}

export const releaseAddress = (ctx: Ctx, tx: Tx, id: number) =>
  tx.delete(catalogAddresses).where(tenantWhere(ctx, catalogAddresses, eq(catalogAddresses.courseId, id)));

/** Addresses of imported courses, deleted ones apart. */
export async function assignImportedAddresses(ctx: Ctx, tx: Tx, ids: SQL) {
  const imported = and(sql`${courses.id} = any(array(${ids}))`, isNull(courses.deletedAt));
  const { id, slug, slugHasId } = courses;
  await assignAddresses(
    ctx,
    tx,
    await tx
      .select({ id, slug, slugHasId })
      .from(courses)
      .where(tenantWhere(ctx, courses, imported))
      .orderBy(id),
  );
}

/** Claims addresses until each course has one; an open transaction that claims the same one is waited for. */
async function claimFree(ctx: Ctx, tx: Tx, claims: Claim[]): Promise<Claim[]> {
  const claimed: Claim[] = [];
  let pending = claims;
  while (pending.length > 0) {
    const free = new Set((await insertFree(ctx, tx, pending)).map(({ id }) => id));
    claimed.push(...pending.filter(({ id }) => free.has(id)));
    pending = pending
      .filter(({ id }) => !free.has(id))
      .map(({ id, slug }) => ({ id, slug: appendId(slug, id), slugHasId: true }));
  }
  return claimed;
}

/** Claims those that no other course has; in order, so that two imports cannot wait for each other. */
function insertFree(ctx: Ctx, tx: Tx, claims: Claim[]) {
  const [ids, slugs] = [claims.map(({ id }) => id), claims.map(({ slug }) => slug)];
  const ofCourse = tenantWhere(ctx, courseCategories, sql`${courseCategories.courseId} = c.id`);
  const category = tx
    .select({ id: min(courseCategories.categoryId) })
    .from(courseCategories)
    .where(ofCourse);
  const claimed = tx
    .select({
      address: sql<string>`coalesce(${categories.slug} || '/', '') || c.slug`.as('address'),
      providerId: sql<number>`${ctx.providerId}::bigint`.as('provider_id'),
      courseId: sql<number>`c.id`.as('course_id'),
    })
    .from(sql`unnest(${sql.param(ids)}::bigint[], ${sql.param(slugs)}::text[]) c (id, slug)`)
    .leftJoin(categories, eq(categories.id, category))
    .orderBy(sql`1`, sql`c.id`);
  const { address, courseId } = catalogAddresses;
  return tx
    .insert(catalogAddresses)
    .select(claimed)
    .onConflictDoNothing({ target: address })
    .returning({ id: courseId });
}

const appendId = (slug: string, id: number) => `${slug}-${id}`;
