import slugify from '@sindresorhus/slugify';
import type { Settings } from '../core/settings.ts';

/** URL segment of a title: `Førstehjelp på jobb` becomes `forstehjelp-pa-jobb`. Never empty. */
export const toSlug = (title: string) => slugify(title, { decamelize: false }) || 'course';

/** URL of a course's page in the public catalog, under its first category; null without a catalog. */
export const catalogUrl = ({ catalogUrl }: Pick<Settings, 'catalogUrl'>, category: string | undefined, slug: string) =>
  catalogUrl === null ? null : [catalogUrl, ...(category === undefined ? [] : [category]), slug].join('/');

/** URL of a school's page in the public catalog; null without a catalog. */
export const schoolCatalogUrl = ({ catalogUrl }: Pick<Settings, 'catalogUrl'>, slug: string) =>
  catalogUrl === null ? null : `${catalogUrl}/schools/${slug}`;
