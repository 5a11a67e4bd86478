import type { FastifyReply, FastifyRequest } from 'fastify';
import { itemAt, Problem } from '../../../core/errors.ts';
import { catalogPageUrl } from '../../../core/catalog-urls.ts';
import { preferredLanguage, type Language } from '../../../core/reference/language.ts';
import type { Ctx } from '../../../database/context.ts';
import { limitByAddress } from '../../../http/auth/address-limit.ts';
import type { Services } from '../../../http/auth/authenticate.ts';
import type { CatalogSchool, SchoolLookup } from './find-school.ts';
import { toHostName } from './host-names.ts';
import { readQuery } from './query.ts';
import { texts } from '../texts.ts';
import { createPaths, createUrls } from './view.ts';

export type CatalogOptions = Services & { hasPersonalPages: boolean; lookup: SchoolLookup; isOwnHost: boolean };

/** Finds the catalog by slug, of which a former one redirects, or host name; counts unknown names by address. */
export function openCatalog(options: CatalogOptions) {
  const { database, settings, countRequest, hasPersonalPages, lookup, isOwnHost } = options;
  const limit = limitByAddress(countRequest);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const name = isOwnHost ? toHostName(request.raw) : (request.params as { school: string }).school;
    if (!lookup.isKnown(name)) await limit(request);
    const school = Problem.assertFound(await lookup.find(name), 'Catalog');
    const chosen = readQuery(request.query, ['lang']).lang as Language | undefined;
    const paths = createPaths(settings, school, { isOwnHost, lang: chosen });
    const [path, query] = splitAddress(request.url, isOwnHost);
    // 308 keeps the method and the fields of a form.
    const moved = request.method === 'GET' || request.method === 'HEAD' ? 301 : 308;
    if (!isOwnHost && name !== school.slug) {
      await limit(request);
      return reply.redirect(`${paths.base}${path}${query}`, moved);
    }
    const fallback = school.language ?? settings.defaultLanguage;
    // `?lang=` wins over Accept-Language.
    const language = chosen ?? preferredLanguage(request.headers['accept-language'], fallback);
    request.ctx = createCatalogContext({ database, settings }, school, language, request);
    request.catalog = {
      view: {
        school,
        hasPersonalPages,
        language,
        texts: texts[language],
        paths,
        urls: createUrls(settings, school),
        timezone: settings.timezone,
        path: `${paths.base}${path}` || '/',
        query: readShown(request, chosen) ?? query,
        canonical: `${catalogPageUrl(settings, school)}${path.replace(/\/$/, '')}`,
      },
    };
    return undefined;
  };
}

/** The query of a cached page, without what it ignores; undefined for other pages. */
function readShown({ query, routeOptions: { config } }: FastifyRequest, lang: Language | undefined) {
  const shown = config.readParameters?.(query as Record<string, unknown>);
  return shown && `?${new URLSearchParams({ ...shown, ...(lang && { lang }) }).toString()}`;
}

/** The path below the start page, as sent, and the query with its `?`. */
function splitAddress(url: string, isOwnHost: boolean): [string, string] {
  const path = itemAt(url.split('?', 1));
  const below = isOwnHost ? path : `/${path.split('/').slice(3).join('/')}`;
  // Links that begin with two slashes lead to another host.
  return [below.replace(/^\/+/, '/').replace(/^\/$/, ''), url.slice(path.length)];
}

/** Creates a context that has nothing but public items in scope, as that of a publishable key. */
function createCatalogContext(
  { database, settings }: Pick<Services, 'database' | 'settings'>,
  school: CatalogSchool,
  language: Language,
  { id: reqId }: FastifyRequest,
): Ctx {
  const { providerId: id, quarter, tenantQueueKey, version } = school;
  const unlockedStore = database.unlockedFor({ provider: id, reqId });
  const refuse = () => Promise.reject(new Error('A page of the catalog writes nothing'));
  return {
    providerId: 0,
    publishableFor: { id, isActive: true, origins: [], quarter },
    // The public does not share the turns of the school's own keys.
    tenantQueueKey: -tenantQueueKey,
    version,
    versions: school,
    language,
    settings,
    db: unlockedStore,
    unlockedStore,
    write: refuse,
    writeNewProvider: refuse,
  };
}
