import slugify from '@sindresorhus/slugify';
import type { Settings } from './context.ts';

/** The part of an address that a title makes: `Førstehjelp på jobb` is `forstehjelp-pa-jobb`. Never empty. */
export const toSlug = (title: string) => slugify(title, { decamelize: false }) || 'course';

/** A course's page on the public catalog, under its first category when it has one; null without a catalog. */
export const catalogUrl = ({ catalogUrl }: Pick<Settings, 'catalogUrl'>, category: string | undefined, slug: string) =>
  catalogUrl === null ? null : [catalogUrl, ...(category === undefined ? [] : [category]), slug].join('/');

/** A school's own page on the public catalog. */
export const schoolCatalogUrl = ({ catalogUrl }: Pick<Settings, 'catalogUrl'>, slug: string) =>
  catalogUrl === null ? null : `${catalogUrl}/schools/${slug}`;
