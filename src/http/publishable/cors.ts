import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the 405 of paths whose GET a publishable key may call: they answer a preflight. */
    hasPublicGet?: true;
  }
}

const methods = ['GET', 'HEAD'];
const requestHeaders = ['X-API-Key', 'If-None-Match', 'X-Request-Id'];
const rateHeaders = ['Policy', 'Limit', 'Remaining', 'Reset'].map((name) => `RateLimit-${name}`);
const responseHeaders = [
  ...['ETag', 'Link', 'Retry-After', 'X-Updated-Through', 'X-Page-Truncated', 'X-Ignored-Parameters', 'X-Request-Id'],
  ...[...rateHeaders, ...rateHeaders.slice(1).map((name) => `X-${name}`)],
];

/**
 * Lets web pages read with a publishable key from its origins. A preflight has no key: it is answered for every origin,
 * on paths that a publishable key may read. `vary` is the value of responses to other keys, which do not change.
 */
export async function allowOrigins(app: FastifyInstance, vary: string) {
  await app.register(cors, {
    hook: 'preParsing',
    delegator: (request, done) => done(null, toOptions(request)),
  });
  app.addHook('preParsing', async (request, reply) => {
    // The plugin adds Origin to Vary on every response.
    if (originsOf(request) === undefined) reply.header('vary', vary);
    // The plugin's route for OPTIONS of any path.
    if (request.routeOptions.url?.endsWith('*')) throw new Problem('not_found', 'There is nothing at this path');
  });
}

/** Refuses requests from other origins: before the rate limits, so that other pages do not use up the school's. */
export function checkOrigins(app: FastifyInstance) {
  app.addHook('preParsing', async (request) => {
    const { origin } = request.headers;
    if (origin !== undefined && originsOf(request)?.includes(origin) === false)
      throw new Problem('forbidden', 'The key may not be used from this origin');
  });
}

function toOptions(request: FastifyRequest): FastifyCorsOptions {
  const { origin } = request.headers;
  if (!origin) return { origin: false };
  if (request.method === 'OPTIONS')
    return isPreflight(request)
      ? { origin, methods, allowedHeaders: requestHeaders, maxAge: 7_200 }
      : { origin: false };
  const origins = originsOf(request) ?? [];
  return origins.includes(origin) ? { origin, exposedHeaders: responseHeaders } : { origin: false };
}

const isPreflight = ({ headers, routeOptions }: FastifyRequest) =>
  routeOptions.config.hasPublicGet === true && methods.includes(headers['access-control-request-method'] ?? '');

/** Undefined without a publishable key. */
const originsOf = ({ ctx }: Partial<FastifyRequest>) => ctx?.publishableFor?.origins;
