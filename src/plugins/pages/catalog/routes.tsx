import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { Problem } from '../../../core/errors.ts';
import { preferredLanguage } from '../../../core/reference/language.ts';
import { toBasePath } from '../../../core/settings.ts';
import { serveAsset } from '../../../http/assets.ts';
import { limitByAddress } from '../../../http/auth/address-limit.ts';
import type { Services } from '../../../http/auth/authenticate.ts';
import { sendContent } from '../../../http/compression/static-content.ts';
import { setErrorFormat } from '../../../http/errors/error-handler.ts';
import { methodNotAllowed } from '../../../http/errors/method-not-allowed.ts';
import { hideRoutes, preparePages } from '../prepare-pages.ts';
import { serveEmbed } from './embed/script.ts';
import { atomFeed } from './feeds/atom.ts';
import { calendars } from './feeds/calendars.ts';
import { datesJson } from './feeds/dates-json.ts';
import { sendRobots, sitemap } from './feeds/sitemap.ts';
import { bookingPages } from './booking/routes.tsx';
import { protectForms } from './forms.ts';
import { interestPages } from './interests/routes.tsx';
import { createSchoolLookup } from './find-school.ts';
import { addHostConstraint, ownHost, type HostNames } from './host-names.ts';
import { openCatalog, type CatalogOptions } from './open-catalog.ts';
import { pages } from './pages.tsx';
import { formatErrorsWith } from '../send-page.tsx';
import { catalogStyle } from '../style.ts';
import { getTheme } from './theme.ts';
import { Notice } from './views/notice.tsx';

/** The catalogs below `/catalog/<slug>`. */
export const createCatalogPlugin =
  (hasPersonalPages: boolean): FastifyPluginAsync<Services> =>
  async (app, services) => {
    hideRoutes(app);
    setErrorFormat(app, formatErrors(services.settings, toStylePath(services)));
    serveAsset(app, '', catalogStyle);
    serveEmbed(app, services.settings);
    app.setNotFoundHandler(refuseUnknown(services));
    const lookup = createSchoolLookup(services.database.unlocked);
    const options = { ...services, hasPersonalPages, lookup, isOwnHost: false };
    await app.register(schoolPages, { ...options, prefix: '/:school' });
  };

type OwnHostServices = Services & { hostNames: HostNames; hasPersonalPages: boolean };

/** The catalogs at the root of their own host names. */
export const ownHostPlugin: FastifyPluginAsync<OwnHostServices> = async (app, services) => {
  hideRoutes(app);
  setErrorFormat(app, formatOwnHost(services.settings));
  app.get('/robots.txt', (_request, reply) => sendRobots(reply, []));
  const { unlocked } = services.database;
  addHostConstraint(app, services.hostNames);
  services.hostNames.keepCurrent(app, unlocked, services.settings.publicUrl);
  app.addHook('onRoute', (route) => {
    route.constraints = ownHost;
    route.config = { ...route.config, isOnEveryHost: true };
  });
  await app.register(schoolPages, { ...services, lookup: createSchoolLookup(unlocked), isOwnHost: true });
};

export const formatOwnHost = (settings: Services['settings']) =>
  formatErrors(settings, `/catalog/${catalogStyle.name}`);

/** Formats errors in the frame of the school where it is known. */
const formatErrors = ({ defaultLanguage }: Services['settings'], stylePath: string) =>
  formatErrorsWith(stylePath, ({ catalog, headers }: Partial<FastifyRequest>) => {
    const view = catalog?.view;
    if (!view) return { language: preferredLanguage(headers?.['accept-language'], defaultLanguage) };
    return { language: view.language, frame: (content) => <Notice view={view} {...content} /> };
  });

const schoolPages: FastifyPluginAsync<CatalogOptions> = async (app, options) => {
  await preparePages(app);
  app.decorateRequest('catalog');
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'public, no-cache').header('vary', 'Accept-Encoding, Accept-Language');
    done();
  });
  app.addHook('preParsing', openCatalog(options));
  const addMethodNotAllowed = methodNotAllowed(app);
  const sendNotFound = refuseUnknown(options);

  app.get<{ Params: { theme: string } }>('/theme-:theme.css', (request, reply) => {
    const { name, content } = getTheme(request.catalog.view.school.theme);
    if (`theme-${request.params.theme}.css` !== name) return sendNotFound(request);
    return sendContent(request, reply, content, styleHeaders);
  });
  for (const part of [pages, datesJson, calendars, atomFeed, sitemap, formPages])
    await app.register(part, { ...options, prefix: '' });
  addMethodNotAllowed();
  app.all('/*', sendNotFound);
};

/** Refuses paths that no page has; counted by address. */
function refuseUnknown({ countRequest }: Services) {
  const limit = limitByAddress(countRequest);
  return async (request: FastifyRequest) => {
    await limit(request);
    throw Problem.notFound('Page');
  };
}

/** Never cached. */
const formPages: FastifyPluginAsync<Services & { isOwnHost: boolean }> = async (app, options) => {
  protectForms(app, options);
  await app.register(bookingPages, { ...options, prefix: '' });
  await app.register(interestPages, { ...options, prefix: '' });
};

const styleHeaders = { type: 'text/css; charset=utf-8', cacheControl: 'public, max-age=31536000, immutable' };

const toStylePath = ({ settings }: Services) => `${toBasePath(settings.publicUrl)}/catalog/${catalogStyle.name}`;
