import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { limitByAddress } from '../../http/auth/address-limit.ts';
import type { Services } from '../../http/auth/authenticate.ts';
import { methodNotAllowed } from '../../http/errors/method-not-allowed.ts';
import type { Plugin } from '../../interfaces/plugin/define-plugin.ts';
import { toBasePath } from '../../core/public-url.ts';
import { guideRoutes } from './guide-routes.ts';
import { findReferenceBundle, referenceRoutes } from './reference-routes.ts';

/** Serves the API reference at /docs, to which / leads, the guides at /docs/guides, /llms.txt, and the workflows. */
export const docsRoutes: FastifyPluginAsync<Services & { plugins: readonly Plugin[] }> = async (
  app,
  { settings: { publicUrl }, countRequest, plugins },
) => {
  const pages = new Set(plugins.flatMap(({ docs }) => docs?.pages ?? []));
  const basePath = toBasePath(publicUrl);
  app.addHook('preParsing', limitByAddress(countRequest));
  hideRoutes(app);
  app.get('/', (_request, reply) => reply.redirect(`${basePath}/docs`));
  const addMethodNotAllowed = methodNotAllowed(app);
  for (const path of ['/docs/json', '/docs/yaml'])
    app.get(path, (_request, reply) => reply.redirect(`${basePath}/openapi.json`, 308));
  await app.register(referenceRoutes, { publicUrl, basePath, bundle: findReferenceBundle() });
  await app.register(guideRoutes, { publicUrl, basePath, pages });
  addMethodNotAllowed();
};

function hideRoutes(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}
