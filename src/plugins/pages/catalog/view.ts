import { catalogItemPath, catalogPageUrl, toSlug } from '../../../core/catalog-urls.ts';
import { toBasePath, type Settings } from '../../../core/settings.ts';
import type { Language } from '../../../core/reference/language.ts';
import type { PageView } from '../layout.tsx';
import type { CatalogSchool } from './find-school.ts';
import { catalogStyle } from '../style.ts';
import { getTheme } from './theme.ts';

/** The data that every page of a catalog shows beside its own. */
export type View = PageView & {
  school: CatalogSchool;
  /** False: nothing leads to `/my`. */
  hasPersonalPages: boolean;
  paths: Paths;
  /** The addresses for feeds and search engines, without a chosen language. */
  urls: Links;
  /** The public path of the page, and its query with the `?`, for the link to the other language. */
  path: string;
  query: string;
  /** The address of the page that search engines index. */
  canonical: string;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for every page of a catalog, from preParsing on. */
    catalog: { view: View };
  }
}

type Titled = { id: number; title: string };

/** The pages and feeds below a path or an address; `query` is that of the chosen language. */
function linksBelow(base: string, query: string) {
  const course = ({ id, title }: Titled) => `${base}${catalogItemPath('courses', toSlug(title), id)}`;
  const date = ({ id, title }: Titled) => `${base}${catalogItemPath('dates', toSlug(title), id)}`;
  return {
    course: (one: Titled) => `${course(one)}${query}`,
    date: (one: Titled) => `${date(one)}${query}`,
    booking: (one: Titled) => `${date(one)}/book${query}`,
    booked: (key: string) => `${base}/booked/${key}${query}`,
    calendar: `${base}/calendar.ics${query}`,
    interest: (one: Titled) => `${course(one)}/interest${query}`,
    interested: (one: Titled) => `${course(one)}/interested${query}`,
    courseCalendar: (one: Titled) => `${course(one)}/calendar.ics${query}`,
    dateCalendar: (one: Titled) => `${date(one)}/calendar.ics${query}`,
    feed: `${base}/feed.atom${query}`,
  };
}
type Links = { start: string } & ReturnType<typeof linksBelow>;

/** Creates addresses with the scheme, on the host name that the catalog has. */
export function createUrls(settings: Settings, school: CatalogSchool): Links {
  const start = catalogPageUrl(settings, school);
  return { start, ...linksBelow(start, '') };
}

/** Paths of a catalog, below that of PUBLIC_URL or at a host name of its own, with the `lang` that was chosen. */
export function createPaths(
  settings: Settings,
  school: CatalogSchool,
  { isOwnHost, lang }: { isOwnHost: boolean; lang: Language | undefined },
) {
  const publicPath = toBasePath(settings.publicUrl);
  const base = isOwnHost ? '' : `${publicPath}/catalog/${school.slug}`;
  const query = lang === undefined ? '' : `?lang=${lang}`;
  return {
    base,
    /** Language for hidden fields of forms that send a query. */
    lang,
    start: `${base || '/'}${query}`,
    filtered: (filter: Record<string, string>) => {
      const parameters = new URLSearchParams({ ...filter, ...(lang && { lang }) }).toString();
      return `${base || '/'}${parameters && `?${parameters}`}`;
    },
    ...linksBelow(base, query),
    style: `${isOwnHost ? '' : publicPath}/catalog/${catalogStyle.name}`,
    theme: `${base}/${getTheme(school.theme).name}`,
  };
}
export type Paths = ReturnType<typeof createPaths>;
