import rateLimit from '@fastify/rate-limit';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { readConfig } from './core/config.ts';
import { compileValidator } from './core/schema/validator.ts';
import { Problem } from './core/errors.ts';
import type { Settings } from './core/settings.ts';
import type { Database } from './database/client.ts';
import { bodies } from './http/parsing/bodies.ts';
import { compressResponses } from './http/compression/encodings.ts';
import { closeIdleSocket } from './http/idle-sockets.ts';
import { description } from './http/openapi/description.ts';
import { countedMessages, yieldBetweenRequests } from './http/pipelining.ts';
import { logRequests, type RequestLogMode } from './http/request-log.ts';
import { healthRoutes, type ShutdownState } from './http/health.ts';
import { registerErrorHandler, formatV2Error } from './http/errors/error-handler.ts';
import { decorateListCache } from './http/list-cache/index.ts';
import { assertParameterCount, parseQuery, escapeInvalidPath, isBelow } from './http/parsing/query-string.ts';
import { limitUnknownPaths, limitUnroutable } from './http/auth/address-limit.ts';
import { createBacklogScheduler } from './http/backlog-scheduler.ts';
import { createKeyLookup } from './http/auth/key-lookup.ts';
import {
  createProviderLimits,
  type ProviderLimits,
  createAddressBuckets,
  createRateBuckets,
  type Rate,
} from './http/auth/rate-limit.ts';
import type { ListLimits } from './http/list-cache/index.ts';
import { createClientErrorHandler, createFrameworkErrorHandler } from './http/errors/raw-error-handlers.ts';
import { legacy } from './interfaces/legacy.ts';
import { compileSerializer, serializeLargeItems } from './http/list-serializer.ts';
import { v2 } from './interfaces/v2.ts';
import { findDocsPath, type Plugin, type PluginConfig, type ServerPart } from './interfaces/plugin/define-plugin.ts';
import { plugins as allPlugins } from './plugins.ts';

type Limits = {
  bodyBytes: number;
  requestMs: number;
  keepAliveMs: number;
  /** Invalid API keys per address. */
  invalidKeysPerMinute: number;
  /** Requests without a key per address; default 600. */
  publicRequestsPerMinute?: number;
  /** Requests per provider; default unlimited. */
  rate?: Rate | undefined;
  /** Requests per second of an address with a publishable key; default unlimited. */
  publishablePerAddress?: number;
  /** Size of the response cache in bytes; default 0, which disables it. */
  responseCacheBytes?: number;
  /** Concurrent lists; default unlimited. */
  lists?: ListLimits;
};

export type AppOptions = {
  database: Database;
  settings: Settings;
  /** Default that of an empty environment. */
  config?: PluginConfig;
  version: string;
  limits: Limits;
  trustProxy?: string[];
  /** Refuses API keys, and forms of the pages, that were sent over plain http; default false. */
  requireHttps?: boolean;
  logger?: FastifyBaseLogger;
  isShuttingDown?: ShutdownState;
  /** Which requests are logged; default off. */
  requestLog?: RequestLogMode;
  /** Limits of single providers; default none. */
  providerLimits?: ProviderLimits | undefined;
  /** Default all. */
  plugins?: readonly Plugin[];
  /** The plugins' parts of a running server. */
  parts?: ServerPart[];
};

const maxHeaders = 100;

/** Builds the application without listening. */
export async function buildApp(options: AppOptions) {
  const {
    database,
    settings,
    version,
    limits,
    isShuttingDown = { now: false },
    plugins = allPlugins,
    parts = [],
    config = readConfig({}, plugins),
  } = options;
  const app = createServer(options);
  const { findKey, isKnown } = createKeyLookup(database);
  yieldBetweenRequests(app.server, isKnown);
  for (const { instrumentation } of parts) if (instrumentation) await app.register(instrumentation);
  addHooks(app, isShuttingDown, strictTransport(settings.publicUrl));
  observeRequests(app, options, parts);
  app.decorate('errorFormats', []);
  const routes = plugins.flatMap((plugin) => plugin.routes?.(config) ?? []);
  const repaired = routes.flatMap(({ prefix, repairsPaths }) => (repairsPaths ? (prefix ?? []) : []));
  app.decorate('pathRepairs', [(_request, path) => repaired.some((prefix) => isBelow(prefix, path))]);
  registerErrorHandler(app, formatV2Error);

  await app.register(rateLimit, { global: false, cache: 10_000 });
  const countRequest = app.createRateLimit({ max: limits.publicRequestsPerMinute ?? 600, timeWindow: '1 minute' });
  app.decorate('countRequest', countRequest);
  const countInvalidKey = app.createRateLimit({ max: limits.invalidKeysPerMinute, timeWindow: '1 minute' });
  const { findRate } = options.providerLimits ?? createProviderLimits(limits.rate);
  const { publishablePerAddress: perSecond = 0 } = limits;
  const addressBuckets = perSecond > 0 ? createAddressBuckets({ perSecond, burst: 2 * perSecond }) : undefined;
  decorateListCache(app, {
    bytes: limits.responseCacheBytes ?? 0,
    limits: limits.lists,
    openSnapshot: database.openSnapshot,
    counters: database.counters,
    scheduler: createBacklogScheduler(app.server),
  });
  const services = {
    ...{ database, settings, findKey, countInvalidKey, countRequest, findRate, addressBuckets },
    ...{ buckets: createRateBuckets(findRate), version, requireHttps: options.requireHttps ?? false },
  };

  const docsPath = findDocsPath(plugins);
  const operations = await Promise.all(plugins.flatMap((plugin) => plugin.operations?.(config) ?? []));
  const sent = operations.flatMap(({ messages }) => messages ?? []);
  const messages = sent.length > 0 ? (Object.assign({}, ...sent) as object) : undefined;
  await app.register(description, { version, publicUrl: settings.publicUrl, docsPath, messages });
  await app.register(async (scope) =>
    healthRoutes(scope, { database, timezone: settings.timezone, isShuttingDown, countRequest }),
  );
  limitUnknownPaths(app, countRequest);
  await app.register(bodies);
  await app.register(v2, { prefix: '/v2', ...services, groups: operations.flatMap(({ groups }) => groups) });
  await app.register(legacy, services);
  for (const { prefix = '', load } of routes) await app.register(await load(), { ...services, plugins, prefix });
  for (const part of parts) part.routes?.(app, services);
  return app;
}

function createServer({ limits, trustProxy = [], logger, settings }: AppOptions) {
  const hsts = strictTransport(settings.publicUrl);
  return Fastify({
    ...(logger ? { loggerInstance: logger } : {}),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    // Longer than requestTimeout, so that a stalled client gets a 408 before the socket is closed.
    connectionTimeout: limits.requestMs + 3_000,
    keepAliveTimeout: limits.keepAliveMs,
    http: { headersTimeout: limits.requestMs, connectionsCheckingInterval: 2_000, ...countedMessages },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId,
    rewriteUrl(request) {
      return escapeInvalidPath(request, this.pathRepairs);
    },
    frameworkErrors: createFrameworkErrorHandler(hsts, limitUnroutable(trustProxy)),
    clientErrorHandler: createClientErrorHandler(hsts),
    // Long ids reach their route, which authenticates the request before it responds 404.
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQuery, maxParamLength: 16_384 },
  });
}

function addHooks(app: FastifyInstance, isShuttingDown: ShutdownState, hsts: string | undefined) {
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.on('timeout', closeIdleSocket);
    reply.header('vary', 'Accept-Encoding');
    if (hsts !== undefined) reply.header('strict-transport-security', hsts);
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    if (isShuttingDown.now) reply.header('connection', 'close');
    done();
  });
  compressResponses(app);
  // In preParsing: error pages need `request.view`, set in onRequest.
  app.addHook('preParsing', ({ raw, query }, _reply, _payload, done) => {
    assertParameterCount(query);
    // rawHeaders alternates names and values.
    if (raw.rawHeaders.length > 2 * maxHeaders)
      throw new Problem('headers_too_large', `There are more than ${maxHeaders} headers`);
    done();
  });
  app.setValidatorCompiler(({ schema }) => compileValidator(schema as object));
  app.setSerializerCompiler(({ schema, method }) =>
    compileSerializer(schema as object, { isRead: method === 'GET' || method === 'HEAD' }),
  );
  app.addHook('preSerialization', serializeLargeItems);
}

function observeRequests(app: FastifyInstance, { requestLog = 'off', settings }: AppOptions, parts: ServerPart[]) {
  app.decorate('requestLog', requestLog);
  app.decorateRequest('problem', null);
  logRequests(app, requestLog);
  for (const { observe } of parts) observe?.(app, settings);
}

/** Uses the client's request id if it is well formed. */
function genReqId({ headers }: IncomingMessage) {
  const requestId = headers['x-request-id'];
  return typeof requestId === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(requestId) ? requestId : randomUUID();
}

export type App = Awaited<ReturnType<typeof buildApp>> & { server: Server };

/** Strict-Transport-Security for a year; undefined over plain http. Subdomains may belong to other services. */
const strictTransport = (publicUrl: string) => (publicUrl.startsWith('https:') ? 'max-age=31536000' : undefined);
