import { and, desc, eq, inArray, isNull, like, ne, notLike, or, sql } from 'drizzle-orm';
import { catalogPageUrl } from '../../../core/catalog-urls.ts';
import { itemAt, Problem } from '../../../core/errors.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx, SchoolWrite, WriteCtx } from '../../../database/context.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { catalogNames, catalogSettings, providers, type CatalogTheme } from '../../../database/tables/providers.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { CatalogSettingsBody, CatalogSettingsChange } from './body-schema.ts';
import {
  defaultFields,
  defaultTheme,
  toCatalogSettings,
  type CatalogSettings,
  type CatalogSettingsRow,
} from './schema.ts';

type School = Pick<Ctx, 'providerId'>;

async function findCatalogSettings(school: School, db: Tx | Ctx['db']): Promise<CatalogSettingsRow | undefined> {
  const [row] = await db.select().from(catalogSettings).where(tenantWhere(school, catalogSettings));
  return row;
}

const toView = ({ settings }: Ctx, row: CatalogSettingsRow | undefined) =>
  toCatalogSettings(row, row?.isEnabled ? catalogPageUrl(settings, row) : null);

/** True if courses have a `catalog_url`. */
const hasCatalog = async (ctx: Ctx, db: Tx | Ctx['db']) =>
  ctx.settings.catalogUrl !== null || ((await findCatalogSettings(ctx, db))?.isEnabled ?? false);

export const getCatalogSettings = async (ctx: Ctx): Promise<CatalogSettings> =>
  toView(ctx, await findCatalogSettings(ctx, ctx.db));

/** A partial update, also of the theme and the fields. A catalog that is on has a slug: by default the school's. */
export const updateCatalogSettings = (ctx: Ctx, body: CatalogSettingsChange): Promise<CatalogSettings> =>
  ctx.write(['school', 'catalog'], async (w) => {
    const { tx, now } = w;
    const { providerId } = ctx;
    const before = await findCatalogSettings(ctx, tx);
    const isEnabled = body.enabled ?? before?.isEnabled ?? false;
    const slug = body.slug ?? (isEnabled && !before?.slug ? await proposeSlug(w) : undefined);
    if (slug !== undefined && slug !== before?.slug) await reserveName(w, 'slug', slug);
    if (body.host === new URL(ctx.settings.publicUrl).hostname && body.host !== before?.host)
      throw new Problem('invalid', 'The host name is that of PUBLIC_URL');
    if (body.host != null && body.host !== before?.host) await reserveName(w, 'host', body.host);
    const host = body.host === undefined ? (before?.host ?? null) : body.host;
    await releaseNames(w, host);
    if (before === undefined) await tx.insert(catalogSettings).values({ providerId, createdAt: now, updatedAt: now });
    const changes = {
      isEnabled: body.enabled,
      slug,
      host: body.host,
      theme: body.theme === undefined ? undefined : mergeTheme(before?.theme, body.theme),
      isIndexed: body.index,
      fields: body.fields === undefined ? undefined : mergeFields(before?.fields, body.fields),
      termsUrl: orNull(body.terms_url),
      privacyUrl: orNull(body.privacy_url),
      withdrawalText: orNull(body.withdrawal_text),
    };
    const changed = await tx.updateChanged(catalogSettings, tenantWhere(ctx, catalogSettings), changes, now);
    if (changed === 0) return tx.rollBack(toView(ctx, before));
    return toView(ctx, await findCatalogSettings(ctx, tx));
  });

/** The school's own slug, with its id where another school has that. */
async function proposeSlug({ providerId, tx }: SchoolWrite) {
  const school = await tx.select({ slug: providers.slug }).from(providers).where(eq(providers.id, providerId));
  const slug = itemAt(school).slug.slice(0, 50).replace(/-$/, '');
  const candidates = slug.length > 1 ? [slug, `${slug}-${providerId}`] : [];
  const foreign = await tx
    .select({ name })
    .from(catalogNames)
    .where(and(ne(catalogNames.providerId, providerId), inArray(name, candidates)));
  return candidates.find((one) => !foreign.some((taken) => taken.name === one)) ?? `school-${providerId}`;
}

const { name } = catalogNames;
const takenTexts = { slug: 'Another school has this slug', host: 'Another school has this host name' };

/** Throws if the name is another school's; a slug also if it was. Waits for a transaction that reserves the same name. */
async function reserveName({ providerId, tx, now }: SchoolWrite, field: keyof typeof takenTexts, reserved: string) {
  const { rowCount } = await tx
    .insert(catalogNames)
    .values({ name: reserved.toLowerCase(), providerId, createdAt: now })
    .onConflictDoUpdate({ target: name, set: { createdAt: now }, setWhere: tenantWhere({ providerId }, catalogNames) });
  if (rowCount === 0) throw Problem.coded('name_taken', takenTexts[field], { notValid: [field] });
}

/** Former slugs that redirect, and the current one. */
const maxSlugs = 20;

/** Deletes host names but the current one, and slugs but the newest. A slug has no dot. */
async function releaseNames(w: SchoolWrite, host: string | null) {
  const former = w.tx
    .select({ name })
    .from(catalogNames)
    .where(tenantWhere(w, catalogNames, notLike(name, '%.%')))
    .orderBy(desc(catalogNames.createdAt), name)
    .offset(maxSlugs);
  const isFormerHost = and(like(name, '%.%'), sql`${name} is distinct from ${host}`);
  await w.tx.delete(catalogNames).where(tenantWhere(w, catalogNames, or(isFormerHost, inArray(name, former))));
}

/** Only values that differ from their defaults are stored. */
function mergeTheme(before: Partial<CatalogTheme> | undefined, sent: CatalogSettingsBody['theme']) {
  const merged: Record<string, unknown> = sent === null ? {} : { ...before, ...sent };
  return onlyChanged(merged, defaultTheme);
}

function mergeFields(before: CatalogSettingsRow['fields'] | undefined, sent: CatalogSettingsBody['fields']) {
  const merged: Record<string, unknown> = sent === null ? {} : { ...before, ...sent };
  return onlyChanged(merged, defaultFields);
}

const onlyChanged = <T extends object>(values: Record<string, unknown>, defaults: T) =>
  Object.fromEntries(
    Object.entries(defaults)
      .filter(([name, value]) => values[name] != null && values[name] !== value)
      .map(([name]) => [name, values[name]]),
  ) as Partial<T>;

const orNull = (text: string | null | undefined) => (text === undefined ? undefined : text?.trim() ? text : null);

/** Sets `updated_at` of dates, deleted ones too, that show a changed URL or title; false if there are none. */
export async function touchDatesOfCourse(w: WriteCtx, courseId: number, shown: 'url' | 'title') {
  const isUrlShown = shown === 'url' && (await hasCatalog(w, w.tx));
  const affected = isUrlShown ? undefined : isNull(courseDates.title);
  const dates = tenantWhere(w, courseDates, eq(courseDates.courseId, courseId), affected);
  const { rowCount } = await w.tx.update(courseDates).set({ updatedAt: w.now }).where(dates);
  return rowCount !== 0;
}
