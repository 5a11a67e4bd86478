import { eq } from 'drizzle-orm';
import { toSlug } from '../../../core/catalog-urls.ts';
import { getSchoolId, type Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { providers } from '../../../database/tables/providers.ts';
import { bodyColumns } from '../../../lists/body-writer.ts';
import { createSubProvider, type NewProvider } from './provider-service.ts';
import { SchoolBody } from './body-schema.ts';
import { toSchool, type School } from './schema.ts';

export async function getSchool(ctx: Ctx): Promise<School> {
  const [row] = await ctx.db
    .select()
    .from(providers)
    .where(eq(providers.id, getSchoolId(ctx)));
  if (!row || ctx.publishableFor?.isActive === false) throw Problem.notFound('School');
  return toSchool(row);
}

/** A partial update, except that `active` not sent is true. */
export async function updateSchool(ctx: Ctx, body: SchoolBody): Promise<number> {
  await ctx.write(['school'], async (tx, now) => {
    const changed = await tx.updateChanged(providers, eq(providers.id, ctx.providerId), toColumns(body), now);
    if (changed === 0) tx.rollbackNoChange();
  });
  return ctx.providerId;
}

/** Returns the new school's id and its API key, which is returned only here. */
export const createSubSchool = (ctx: Ctx, body: SchoolBody) => createSubProvider(ctx, toColumns(body));

const toBodyColumns = bodyColumns(providers, SchoolBody.properties);

export const toColumns = (body: SchoolBody): NewProvider => ({
  ...toBodyColumns(body),
  title: body.title,
  slug: toSlug(body.title),
  isActive: body.active ?? true,
});
