import { eq } from 'drizzle-orm';
import { toSlug } from '../../core/catalog-urls.ts';
import type { Ctx } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { providers } from '../../database/tables/providers.ts';
import { createSubProvider, type NewProvider } from './provider-service.ts';
import { toSchool, type School, type SchoolBody } from './schema.ts';

/** The provider's own record. */
export async function getSchool(ctx: Ctx): Promise<School> {
  const [row] = await ctx.db.select().from(providers).where(eq(providers.id, ctx.providerId));
  if (!row) throw notFound('School');
  return toSchool(row);
}

/** Optional fields that are not sent keep their value, those sent empty are cleared; `active` not sent is true. */
export async function updateSchool(ctx: Ctx, body: SchoolBody): Promise<number> {
  await ctx.write((tx, now) =>
    tx
      .update(providers)
      .set({ ...toColumns(body), updatedAt: now })
      .where(eq(providers.id, ctx.providerId)),
  );
  return ctx.providerId;
}

/** The new school's id and its key, which is shown once. */
export const createSubSchool = (ctx: Ctx, body: SchoolBody) => createSubProvider(ctx, toColumns(body));

const cleared = (input: string | null | undefined) => (input === null ? '' : input);

/** The columns of `providers` that a school's record fills. */
export const toColumns = (body: SchoolBody): NewProvider => ({
  title: body.title,
  slug: toSlug(body.title),
  isActive: body.active ?? true,
  reference: body.reference,
  orgNr: body.org_nr,
  phone: body.phone,
  emailAdmin: body.email_admin,
  email: cleared(body.email),
  emailBooking: cleared(body.email_booking),
  emailMoreInfo: cleared(body.email_more_info),
  postAddress: body.post_address,
  postZip: body.post_zip,
  postCity: body.post_city,
  visitAddress: cleared(body.visit_address),
  visitZip: cleared(body.visit_zip),
  visitCity: cleared(body.visit_city),
  webAddress: cleared(body.web_address),
  textTagline: cleared(body.text_tagline),
  textDescription: cleared(body.text_description),
});
