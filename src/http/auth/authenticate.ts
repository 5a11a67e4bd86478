import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Ctx } from '../../database/context.ts';
import type { Settings } from '../../core/settings.ts';
import { Problem } from '../../core/errors.ts';
import type { Database, AuditContext } from '../../database/client.ts';
import { statement } from '../../database/statement.ts';
import { preferredLanguage } from '../../core/reference/language.ts';
import { withIdempotency } from '../idempotency.ts';
import { getRoute } from '../route-name.ts';
import { countByAddress, limitByAddress, type CountRequest } from './address-limit.ts';
import type { FoundKey, KeyLookup } from './key-lookup.ts';
import { takeAddressToken, type AddressBuckets, type FindRate, type RateBuckets } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for every route behind `authenticate`, from its preParsing hook on. */
    ctx: Ctx;
  }
  interface FastifyContextConfig {
    /** Each write of a request has an audit entry, not only the first. */
    auditsEachWrite?: boolean;
  }
}

export type Services = {
  database: Database;
  settings: Settings;
  findKey: KeyLookup['findKey'];
  /** Counts an invalid key of an address (IPv6: of a /64). */
  countInvalidKey: CountRequest;
  /** Counts a request without a key of an address. */
  countRequest: CountRequest;
  /** Rate limit of each school. */
  buckets: RateBuckets;
  findRate: FindRate;
  /** Rate limit of each address that uses a publishable key; none unless given. */
  addressBuckets?: AddressBuckets | undefined;
  /** The version in the OpenAPI document. */
  version: string;
  /** Refuses keys that were sent over plain http. */
  requireHttps?: boolean;
};

/** Headers that a response depends on, beside the content encoding. */
const vary = 'Accept-Encoding, Accept-Language, X-API-Key';

/** Requires an API key, in `preParsing`: before the body of a client without one is read. */
export function authenticate(app: FastifyInstance, services: Services) {
  const { findKey, countInvalidKey, addressBuckets, requireHttps } = services;
  const limitPreflight = addressBuckets
    ? async (request: FastifyRequest) => takeAddressToken(addressBuckets(request, 'preflight'))
    : limitByAddress(services.countRequest);
  app.addHook('preParsing', async (request, reply) => {
    reply.header('cache-control', 'private, no-cache').header('vary', vary);
    // A CORS preflight carries no key; the route answers 405.
    if (request.method === 'OPTIONS') {
      await limitPreflight(request);
      if (request.is404) throw new Problem('not_found', 'There is nothing at this path');
      return;
    }
    const key = await findKey(request.headers['x-api-key'], request.ip);
    if (!key) {
      reply.header('www-authenticate', 'ApiKey header="X-API-Key"');
      throw await unauthorizedError(countInvalidKey, request);
    }
    if (requireHttps && request.protocol !== 'https') throw plainHttpError(key, request);
    // In a later turn, since the queries of one turn share a connection: the update would delay those of this request.
    if (key.stale) setImmediate(recordUse, services.database, key, request);
    request.ctx = createRequestContext(services, key, request, reply);
  });
}

function createRequestContext(
  { database, settings }: Services,
  key: FoundKey,
  request: FastifyRequest,
  reply: FastifyReply,
): Ctx {
  let audited: Database | undefined;
  // Once the route is known, on the first write.
  const writers = () => {
    if (request.routeOptions.config.auditsEachWrite) audited = undefined;
    return (audited ??= database.withAudit(toAuditContext(request, key.key_id)).queuedAs(key.tenant_queue_key));
  };
  const isPublishable = key.profile === 'publishable';
  const { provider_id: id, is_active: isActive, origins, quarter } = key;
  // No getters: V8 keeps the hidden class that each of them gets, and so the request, until a major collection.
  const unlockedStore = database.unlockedFor({ provider: id, reqId: request.id });
  return {
    providerId: isPublishable ? 0 : id,
    ...(isPublishable && { publishableFor: { id, isActive, origins: origins ?? [], quarter } }),
    key: { id: key.key_id, profile: key.profile },
    // Anyone can copy a publishable key, so its requests take no share of the school's own programs.
    tenantQueueKey: isPublishable ? -key.tenant_queue_key : key.tenant_queue_key,
    version: key.version,
    versions: key,
    language: preferredLanguage(request.headers['accept-language'], settings.defaultLanguage),
    settings,
    db: unlockedStore,
    unlockedStore,
    write(areas, work) {
      const keyed = withIdempotency(request, reply, work);
      return writers().write([id], areas, (w) => keyed({ ...this, ...w }));
    },
    writeNewProvider: (work) => writers().writeNewProvider(id, work),
  };
}

/** Only invalid keys are counted, so a valid one always passes. */
async function unauthorizedError(countInvalidKey: CountRequest, request: FastifyRequest) {
  const retryAfter = await countByAddress(countInvalidKey, request);
  return retryAfter !== null
    ? new Problem('too_many_requests', 'Too many wrong API keys', { retryAfter })
    : new Problem('unauthenticated', 'Wrong API Key');
}

/** Names the key in the log: it may have been read on its way. */
function plainHttpError({ provider_id: provider, key_id: key }: FoundKey, request: FastifyRequest) {
  if (!reportedKeys.has(key)) {
    reportedKeys.set(key, true);
    request.log.warn({ provider, key, address: request.ip }, 'An API key was sent over plain http: rotate it');
  }
  return new Problem('forbidden', 'Use https: an API key must not be sent over plain http');
}
/** A line for each key and minute. */
const reportedKeys = new LRUCache<number, true>({ max: 1_000, ttl: 60_000 });

const toAuditContext = (request: FastifyRequest, keyId: number): AuditContext => ({
  actor: 'key',
  actorId: keyId,
  action: getRoute(request),
  requestId: request.id,
  itemIds: Object.values(request.params as object).filter((value): value is number => typeof value === 'number'),
});

// Text: an insert beside many requests.
const storeUse = statement(
  'store_key_use',
  { takes: { providerId: 'int', keyId: 'int' } },
  `insert into api_key_uses (provider_id, key_id, last_used_at) values (:providerId, :keyId, now())
    on conflict (provider_id, key_id) do update set last_used_at = excluded.last_used_at`,
);

/** Keys whose use is being recorded, so that a burst of requests records it once. */
const pendingKeys = new Set<number>();

/** Stores the use at most once a minute, without a lock; no request waits for it. */
function recordUse({ unlocked }: Database, { provider_id, key_id }: FoundKey, request: FastifyRequest) {
  if (pendingKeys.has(key_id)) return;
  pendingKeys.add(key_id);
  storeUse(unlocked, { providerId: provider_id, keyId: key_id })
    .catch(() => request.log.debug("a key's last use was not noted"))
    .finally(() => pendingKeys.delete(key_id));
}
