import rateLimit from '@fastify/rate-limit';
import Fastify, { LogController, type FastifyBaseLogger } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { compileCheck } from './schema/validator.ts';
import { Problem } from './core/errors.ts';
import { allGuards, type Guards, type Settings } from './core/context.ts';
import type { Database } from './database/client.ts';
import { bodies } from './http/parsing/bodies.ts';
import { closeIdleSocket } from './http/idle-sockets.ts';
import { toBasePath, docs } from './http/openapi/docs.ts';
import { healthRoutes, type ShutdownState } from './http/health.ts';
import { registerErrorHandler, formatV2Error } from './http/errors/error-handler.ts';
import { createResponseCache, createPageHintCache } from './http/list-cache/response-cache.ts';
import { assertQueryIsRead, parseQuery } from './http/parsing/query-string.ts';
import { createRateBuckets, type Rate } from './http/auth/rate-limit.ts';
import { createListLimiter, type ListLimiter } from './http/list-cache/list-limiter.ts';
import { handleClientError, handleFrameworkError } from './http/errors/raw-error-handlers.ts';
import { legacyCourses, legacySchools } from './interfaces/legacy.ts';
import { readable } from './pages/address.ts';
import { my } from './pages/my.tsx';
import { serializeLargeItems, compileSerializer } from './http/list-serializer.ts';
import { v2 } from './interfaces/v2.ts';

export type Limits = {
  bodyBytes: number;
  headersMs: number;
  requestMs: number;
  keepAliveMs: number;
  wrongKeysPerMinute: number;
  /** Requests of one address to what needs no key; 600 unless given. */
  publicRequestsPerMinute?: number;
  /** Of each provider's requests; not limited unless given. */
  rate?: Rate | undefined;
  /** How many bytes of answers are kept; none unless given. */
  keptBytes?: number;
  /** Of lists; all are read at once unless given. */
  lists?: ListLimiter;
};

export type AppOptions = {
  database: Database;
  settings: Settings;
  version: string;
  limits: Limits;
  trustProxy?: string[];
  logger?: FastifyBaseLogger;
  isShuttingDown?: ShutdownState;
  /** For tests that prove a guard is needed; the server never passes it. */
  guards?: Guards;
};

const maxHeaders = 100;

/** The application on one page. */
export async function buildApp({
  database,
  settings,
  version,
  limits,
  trustProxy = [],
  logger,
  isShuttingDown = { now: false },
  guards = allGuards,
}: AppOptions) {
  const app = Fastify({
    ...(logger ? { loggerInstance: logger } : {}),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    // A little longer, so that a client that stalls is told before it is cut off.
    connectionTimeout: limits.requestMs + 3_000,
    keepAliveTimeout: limits.keepAliveMs,
    http: { headersTimeout: limits.headersMs, connectionsCheckingInterval: 2_000 },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId,
    rewriteUrl: ({ url = '/' }) => readable(url),
    frameworkErrors: handleFrameworkError,
    clientErrorHandler: handleClientError,
    // What is too long to be an id is none: its route says so, once it knows who asks.
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQuery, maxParamLength: 16_384 },
  });

  app.addHook('onRequest', async (request, reply) => {
    reply.raw.on('timeout', closeIdleSocket);
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    if (isShuttingDown.now) reply.header('connection', 'close');
  });
  // Later than what the pages need to word a problem. Names and values come one after the other.
  app.addHook('preParsing', async ({ raw, query }) => {
    assertQueryIsRead(query);
    if (raw.rawHeaders.length > 2 * maxHeaders)
      throw new Problem('headers_too_large', `There are more than ${maxHeaders} headers`);
  });
  app.setValidatorCompiler(({ schema }) => compileCheck(schema as object));
  // Typed as a text; bytes are sent as they are.
  app.setSerializerCompiler(({ schema, method }) =>
    compileSerializer(schema as object, { isRead: method === 'GET' || method === 'HEAD' }),
  );
  app.addHook('preSerialization', serializeLargeItems);
  registerErrorHandler(app, formatV2Error);

  await app.register(rateLimit, { global: false, cache: 10_000 });
  const countRequest = app.createRateLimit({ max: limits.publicRequestsPerMinute ?? 600, timeWindow: '1 minute' });
  await app.register(docs, { version, publicUrl: settings.publicUrl, countRequest });
  const countInvalidKey = app.createRateLimit({ max: limits.wrongKeysPerMinute, timeWindow: '1 minute' });
  app.decorate('stored', createResponseCache(limits.keptBytes ?? 0));
  app.decorate('known', createPageHintCache());
  app.decorateRequest('cacheKey', null);
  app.decorateRequest('answered', null);
  app.decorate('turns', createListLimiter(limits.lists));
  app.decorateRequest('releaseSlot', null);
  const buckets = limits.rate && createRateBuckets(limits.rate);
  const services = { database, settings, guards, countInvalidKey, countRequest, buckets };

  await app.register(async (scope) =>
    healthRoutes(scope, { database, timezone: settings.timezone, isShuttingDown, countRequest }),
  );
  app.get('/', { schema: { hide: true } }, (_request, reply) =>
    reply.redirect(`${toBasePath(settings.publicUrl)}/docs`),
  );

  await app.register(bodies);
  await app.register(v2, { prefix: '/v2', ...services });
  await app.register(legacySchools, { prefix: '/schools', ...services });
  await app.register(legacyCourses, { prefix: '/courses', ...services });
  await app.register(my, { prefix: '/my', ...services });
  return app;
}

/** The caller's own id for the request, when it is a sane one. */
function genReqId({ headers }: IncomingMessage) {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(sent) ? sent : randomUUID();
}

export type App = Awaited<ReturnType<typeof buildApp>> & { server: Server };
