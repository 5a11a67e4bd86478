import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { addVary } from '../accept.ts';

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

/** Lets web pages read with a publishable key from its origins; preflights, without a key, are answered for all. */
export function allowOrigins(app: FastifyInstance) {
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const origins = findOrigins(request);
    if (origins !== undefined) {
      addVary(reply, 'Origin');
      const { origin } = request.headers;
      if (origin && origins.includes(origin))
        reply
          .header('access-control-allow-origin', origin)
          .header('access-control-expose-headers', responseHeaders.join(', '));
    } else if (request.method === 'OPTIONS' && isPreflight(request)) {
      answerPreflight(request, addVary(reply, 'Origin'));
      return;
    }
    done();
  });
}

/** Refuses requests from other origins: before the rate limits, so that other pages do not use up the school's. */
export function checkOrigins(app: FastifyInstance) {
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const { origin } = request.headers;
    if (origin !== undefined && findOrigins(request)?.includes(origin) === false)
      throw new Problem('forbidden', 'The key may not be used from this origin');
    done();
  });
}

function isPreflight({ headers, routeOptions }: FastifyRequest) {
  const requested = headers['access-control-request-method'] ?? '';
  return Boolean(headers.origin) && methods.includes(requested) && routeOptions.config.hasPublicGet === true;
}

function answerPreflight({ headers }: FastifyRequest, reply: FastifyReply) {
  const requestsPrefer = /\bprefer\b/i.test(headers['access-control-request-headers'] ?? '');
  void reply
    .header('access-control-allow-origin', headers.origin)
    .header('access-control-allow-methods', methods.join(', '))
    .header('access-control-allow-headers', [...requestHeaders, ...(requestsPrefer ? ['Prefer'] : [])].join(', '))
    .header('access-control-max-age', '7200')
    .header('content-length', '0')
    .code(204)
    .send();
}

/** Undefined without a publishable key. */
const findOrigins = ({ ctx }: Partial<FastifyRequest>) => ctx?.publishableFor?.origins;
