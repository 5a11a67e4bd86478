import { and, eq } from 'drizzle-orm';
import { courseUrl, type CourseAddress } from '../../../core/catalog-urls.ts';
import { catalogSettings } from '../../../database/tables/providers.ts';
import { batchLoader, type Key } from '../../../lists/loaders.ts';
import type { Loader } from '../../../lists/relations.ts';

const { providerId, slug, host, isEnabled } = catalogSettings;

const fetchCatalogs = batchLoader((ctx, keys) =>
  ctx.db
    .select({ providerId, slug, host })
    .from(catalogSettings)
    .where(and(keys.match(catalogSettings, providerId), eq(isEnabled, true))),
);

type ToUrl = (course: CourseAddress) => string | null;

/** The `catalog_url` of a course of each row's school. */
export const loadCourseUrl: Loader<Key, ToUrl> = async ({ settings, ...ctx }, rows) => {
  if (settings.catalogUrl !== null) return () => (course) => courseUrl(settings, null, course);
  const ids = [...new Set(rows.map((row) => row.providerId))];
  const found = await fetchCatalogs(ctx, { providerIds: ids, ids });
  const catalogs = new Map(found.map((catalog) => [catalog.providerId, catalog]));
  return (row) => (course) => courseUrl(settings, catalogs.get(row.providerId) ?? null, course);
};
