import cookie from '@fastify/cookie';
import type { FastifyPluginAsync } from 'fastify';
import { serveAsset } from '../../../http/assets.ts';
import { registerErrorHandler } from '../../../http/errors/error-handler.ts';
import type { Services } from '../../../http/auth/authenticate.ts';
import { methodNotAllowed } from '../../../http/errors/method-not-allowed.ts';
import { limitByAddress } from '../../../http/auth/address-limit.ts';
import { hideRoutes, preparePages } from '../prepare-pages.ts';
import { formatErrorsWith } from '../send-page.tsx';
import { authPages } from './auth-pages.tsx';
import { calendarFeed } from './calendar-feed.ts';
import { redirectToHttps, rejectCrossSite } from '../forms.ts';
import { interestPage } from './interest-page.tsx';
import { linkPages } from './link-pages.tsx';
import { personalPages } from './personal.tsx';
import { createPageServices } from './page-context.ts';
import { myStyle } from '../style.ts';
import type { View } from './view.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Language, texts and links for the page. */
    view: View;
  }
  interface FastifyContextConfig {
    /** The route itself limits how often an address calls it. */
    hasOwnLimit?: true;
  }
}

/** The personal pages of course users: rendered on the server, without scripts, never cached. */
export const personalPagesPlugin: FastifyPluginAsync<Services> = async (app, options) => {
  const { settings } = options;
  const services = createPageServices(options);
  await app.register(cookie);
  hideRoutes(app);
  await preparePages(app);
  app.decorateRequest('view');
  app.addHook('onRequest', async (request, reply) => {
    services.openView(request, settings.defaultLanguage);
    reply.header('cache-control', 'no-store').header('vary', 'Accept-Encoding, Accept-Language, Cookie');
  });
  const limit = limitByAddress(options.countRequest);
  app.addHook('onRequest', async (request) => {
    if (!request.routeOptions.config.hasOwnLimit) await limit(request);
  });
  if (options.requireHttps) app.addHook('onRequest', redirectToHttps(settings));
  app.addHook('onRequest', rejectCrossSite(settings));
  registerErrorHandler(
    app,
    formatErrorsWith(services.paths.style, ({ view }) => view),
  );
  const registerMethodNotAllowed = methodNotAllowed(app);

  serveAsset(app, '', myStyle);
  await app.register(authPages, services);
  await app.register(linkPages, services);
  await app.register(interestPage, services);
  await app.register(calendarFeed, services);
  await app.register(personalPages, services);
  registerMethodNotAllowed();
};
