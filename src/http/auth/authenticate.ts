import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Ctx, Guards, Settings } from '../../core/context.ts';
import { Problem } from '../../core/errors.ts';
import type { Database, Doing } from '../../database/client.ts';
import { preferredLanguage } from '../../reference/language.ts';
import { createKeyLookup, type FoundKey } from './key-lookup.ts';
import { getRoute } from '../errors/error-handler.ts';
import { limitRate, type RateBuckets } from './rate-limit.ts';
import type { CountRequest } from './address-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    ctx: Ctx;
    /**
     * Names the state of the provider's data and of what all share. With the rows' transactions and the server's start
     * beside their clocks, so that a restored database never names another state by the same words.
     */
    dataVersion: string;
  }
}

export type Services = {
  database: Database;
  settings: Settings;
  guards: Guards;
  /** Counts a wrong key against the address it came from (IPv6 by /64). */
  countInvalidKey: CountRequest;
  /** Counts a request without a key against its address. */
  countRequest: CountRequest;
  /** Of the providers' requests; none where they are not limited. */
  buckets?: RateBuckets | undefined;
};

/** Lets in who has a key, as often as the provider may ask. In `preParsing`: after anything cheap, and before a stranger's body is read. */
export function authenticate(app: FastifyInstance, { database, settings, guards, countInvalidKey, buckets }: Services) {
  const findKey = createKeyLookup(database);
  app.addHook('preParsing', async (request, reply) => {
    reply.header('cache-control', 'private, no-cache').header('vary', 'Accept-Language, X-API-Key');
    // A browser's preflight carries no key; the path answers 404 or 405.
    if (request.method === 'OPTIONS') {
      if (request.is404) throw new Problem('not_found', 'There is nothing at this path');
      return;
    }
    const key = request.headers['x-api-key'];
    const found = await findKey(key);
    if (!found) {
      reply.header('www-authenticate', 'ApiKey header="X-API-Key"');
      throw await unauthorizedError(request);
    }
    // In a turn of its own: what is asked in this one is answered together.
    if (found.stale) setImmediate(noteUse, database, found, request);
    request.dataVersion = found.data_version;
    let audited: Database | undefined;
    const writers = () =>
      (audited ??= database.withAudit(auditContextOf(request, found.key_id)).queuedAs(found.fairness_key));
    request.ctx = {
      providerId: found.provider_id,
      fairnessKey: found.fairness_key,
      version: found.version,
      language: preferredLanguage(request.headers['accept-language'], settings.defaultLanguage),
      settings,
      guards,
      db: database.db,
      authStore: { $client: database.pool },
      write: (work) => writers().write([found.provider_id], work),
      writeNewProvider: (work) => writers().writeNewProvider(found.provider_id, work),
    };
  });
  if (buckets) limitRate(app, buckets);

  /** Only wrong keys are counted, so a right one always passes. */
  async function unauthorizedError(request: FastifyRequest) {
    const limit = await countInvalidKey(request);
    return !limit.isAllowed && limit.isExceeded
      ? new Problem('too_many_requests', 'Too many wrong API keys', { retryAfter: limit.ttlInSeconds })
      : new Problem('unauthenticated', 'Wrong API Key');
  }
}

/** Once the path is read: only what is an id in it is told. */
const auditContextOf = (request: FastifyRequest, keyId: number): Doing => ({
  actor: 'key',
  actorId: keyId,
  action: getRoute(request),
  itemIds: Object.values(request.params as object).filter((value): value is number => typeof value === 'number'),
});

/** Keys whose use is just being written, so that a burst of requests writes it once. */
const beingNoted = new Set<number>();

/** At most once a minute; nobody waits for it, and it takes no lock. */
function noteUse({ pool }: Database, { provider_id, key_id }: FoundKey, request: FastifyRequest) {
  if (beingNoted.has(key_id)) return;
  beingNoted.add(key_id);
  pool
    .query({
      text: `update api_keys set last_used_at = now() where provider_id = $1 and id = $2
        and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
      values: [provider_id, key_id],
    })
    .catch(() => request.log.debug("a key's last use was not noted"))
    .finally(() => beingNoted.delete(key_id));
}
