import slugify from '@sindresorhus/slugify';
import type { Settings } from './settings.ts';

/** URL segment of a title: `Førstehjelp på jobb` becomes `forstehjelp-pa-jobb`. Never empty. */
export const toSlug = (title: string) => slugify(title, { decamelize: false }) || 'course';

/** The catalog of a school on this server, as far as its addresses depend on it. */
export type CatalogAddress = { slug: string | null; host: string | null };

/** The start page of a school's catalog, without a trailing slash; its own host name has the scheme of PUBLIC_URL. */
export function catalogPageUrl({ publicUrl }: Pick<Settings, 'publicUrl'>, { slug, host }: CatalogAddress) {
  const { protocol, hostname } = new URL(publicUrl);
  return host === null || host === hostname ? `${publicUrl}/catalog/${slug}` : `${protocol}//${host}`;
}

/** Path of the page of a course, or of one of its dates, below the start page. */
export const catalogItemPath = (kind: 'courses' | 'dates', slug: string, id: number) =>
  `/${kind}/${slug.endsWith(`-${id}`) ? slug : `${slug}-${id}`}`;

type CatalogSettings = Pick<Settings, 'catalogUrl' | 'publicUrl'>;
export type CourseAddress = { id: number; slug: string; category: string | undefined; isPublic: boolean };

/** URL of a course's page, in CATALOG_URL under its first category, else in the catalog of its school, if public. */
export function courseUrl(settings: CatalogSettings, catalog: CatalogAddress | null, course: CourseAddress) {
  const { id, slug, category, isPublic } = course;
  if (settings.catalogUrl !== null)
    return [settings.catalogUrl, ...(category === undefined ? [] : [category]), slug].join('/');
  return catalog && isPublic ? `${catalogPageUrl(settings, catalog)}${catalogItemPath('courses', slug, id)}` : null;
}

/** URL of a school's page in the public catalog; null without a catalog. */
export function schoolUrl(settings: CatalogSettings, catalog: CatalogAddress | null, slug: string) {
  if (settings.catalogUrl !== null) return `${settings.catalogUrl}/schools/${slug}`;
  return catalog && catalogPageUrl(settings, catalog);
}
