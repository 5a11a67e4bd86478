import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import type { FastifyPluginAsync } from 'fastify';
import { registerErrorHandler } from '../http/errors/error-handler.ts';
import type { Services } from '../http/auth/authenticate.ts';
import { methodNotAllowed } from '../http/errors/method-not-allowed.ts';
import { limitByAddress } from '../http/auth/address-limit.ts';
import { checkBody } from '../http/parsing/bodies.ts';
import { preferredLanguage } from '../reference/language.ts';
import { formatPageError } from './send-page.tsx';
import { authStore } from './auth-pages.tsx';
import { fromOwnPages } from './forms.ts';
import { personalPages } from './personal.tsx';
import { pageServices } from './page-context.ts';
import { stylesheet } from './style.ts';
import { viewFor, type View } from './view.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the page that answers is written with. */
    view: View;
  }
}

/** The pages of course users: rendered here, complete without scripts, kept by nobody on the way. */
export const my: FastifyPluginAsync<Services> = async (app, options) => {
  const { settings } = options;
  const services = pageServices(options);
  await app.register(cookie);
  await app.register(helmet, headersFor(settings.publicUrl));
  app.decorateRequest('view');
  app.addHook('onRequest', async (request, reply) => {
    const language = preferredLanguage(request.headers['accept-language'], settings.defaultLanguage);
    request.view = viewFor(language, services.paths, settings);
    reply.header('cache-control', 'no-store').header('vary', 'Accept-Language, Cookie');
  });
  app.addHook('onRequest', fromOwnPages(settings));
  app.addHook('preParsing', limitByAddress(options.countRequest));
  app.addHook('preParsing', checkBody);
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
  registerErrorHandler(app, formatPageError);
  const methodNotAllowedOptions = methodNotAllowed(app);

  app.get(`/${stylesheet.name}`, (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .removeHeader('vary')
      .type('text/css; charset=utf-8')
      .send(stylesheet.text),
  );
  await app.register(authStore, services);
  await app.register(personalPages, services);
  methodNotAllowedOptions();
};

/** Nothing runs, nothing is loaded but the stylesheet, and no other site learns an address, which may hold a token. */
function headersFor(publicUrl: string) {
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' as const },
    // Only this host: what else lives below its name is not ours to decide.
    strictTransportSecurity: publicUrl.startsWith('https:') && { includeSubDomains: false },
    xFrameOptions: { action: 'deny' as const },
  };
}
