import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import { checkBody } from '../../http/parsing/bodies.ts';

/** Headers of pages with forms: no scripts, only style sheets of the same origin, no frames, no referrer. */
const securityHeaders = {
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
  // Set for every response.
  strictTransportSecurity: false,
  xFrameOptions: { action: 'deny' as const },
};

/** The largest body of a form, in bytes: its fields with their `maxLength` fit. */
const maxFormBytes = 65_536;

/** Leaves the routes of an area out of the OpenAPI document. */
export function hideRoutes(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}

/** Sets the headers of the routes of an area, and limits of bodies. */
export async function preparePages(app: FastifyInstance) {
  await app.register(helmet, securityHeaders);
  app.addHook('onRoute', (route) => {
    route.bodyLimit = maxFormBytes;
  });
  app.addHook('preParsing', checkBody);
}
