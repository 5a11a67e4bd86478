import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Ctx, Guards, Settings } from '../core/context.ts';
import { Problem } from '../core/problem.ts';
import type { Database, Doing } from '../database/client.ts';
import { KeyRefused } from '../database/locks.ts';
import { preferredLanguage } from '../reference/language.ts';
import { findingKeys, forgetContext, rememberingKeys, type Found } from './keys.ts';
import { routeOf } from './problems.ts';
import { limitRate, type Buckets } from './rate.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** See `keyCheckedByLock`. */
    isKeyCheckedByLock?: true;
  }
  interface FastifyRequest {
    ctx: Ctx;
    /** Looks the key up where nothing has checked it since the request came, or throws what else is to be answered; else null. */
    checkKey: (() => Promise<void>) | null;
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
  countWrongKey: ReturnType<FastifyInstance['createRateLimit']>;
  /** Of the providers' requests; none where they are not limited. */
  buckets?: Buckets | undefined;
};

/**
 * Route options of what writes in one transaction: who was let in here by the same key seconds ago is let in by what is
 * remembered of it, and the lock checks the key. So the database is not waited for once more. Nothing is answered before the key
 * has been checked by that or by a look-up; of errors only that the service is busy. For routes that answer an object, write
 * through no door, and use no version, which is as old as what is remembered.
 */
export const keyCheckedByLock = {
  config: { isKeyCheckedByLock: true as const },
  preSerialization: async ({ checkKey }: FastifyRequest, _reply: unknown, payload: unknown) => {
    await checkKey?.();
    return payload;
  },
};

/** Lets in who has a key, as often as the provider may ask. In `preParsing`: after anything cheap, and before a stranger's body is read. */
export function authenticate(app: FastifyInstance, { database, settings, guards, countWrongKey, buckets }: Services) {
  const findKey = findingKeys(database);
  const remembering = rememberingKeys(findKey);
  app.addHook('preParsing', async (request, reply) => {
    reply.header('cache-control', 'private, no-cache').header('vary', 'Accept-Language, X-API-Key');
    const key = request.headers['x-api-key'];
    const isByLock = request.routeOptions.config.isKeyCheckedByLock === true;
    const recent = isByLock ? remembering.recent(key) : undefined;
    const found = recent ?? (await (isByLock ? remembering.find : findKey)(key));
    if (!found) throw await refusal(request);
    // In a turn of its own: what is asked in this one is answered together.
    if (found.stale) setImmediate(noteUse, database, found, request);
    request.dataVersion = found.data_version;
    let told: Database | undefined;
    const lockKey = recent && { id: recent.key_id, hash: recent.hash };
    const writers = () => (told ??= database.by(doingOf(request, found.key_id), lockKey));
    const ctx: Ctx = {
      providerId: found.provider_id,
      version: found.version,
      language: preferredLanguage(request.headers['accept-language'], settings.defaultLanguage),
      settings,
      guards,
      db: database.db,
      doors: { $client: database.pool },
      write: (work) => writers().write([found.provider_id], work),
      writeAtOnce: (...piece) => writers().writeAtOnce(found.provider_id, ...piece),
      writeNewProvider: (work) => writers().writeNewProvider(found.provider_id, work),
    };
    request.ctx = recent ? checkedLate(request, ctx) : ctx;
  });
  if (buckets) limitRate(app, buckets);

  /** Its key is checked by the first lock that is taken, or by `checkKey`. */
  function checkedLate(request: FastifyRequest, ctx: Ctx): Ctx {
    async function check() {
      // Nobody's request until then.
      const asked = request.ctx;
      forgetContext(request);
      try {
        const found = await remembering.find(request.headers['x-api-key']);
        if (found?.stale) setImmediate(noteUse, database, found, request);
        if (found && found.provider_id !== ctx.providerId) throw new KeyRefused('the key opens another provider');
        if (!found) throw await refusal(request);
        request.ctx = asked;
      } finally {
        request.checkKey = null;
      }
    }
    let checking: Promise<void> | undefined;
    request.checkKey = () => (checking ??= check());
    const locked = async <T>(written: Promise<T>) => {
      const answer = await written;
      request.checkKey = null;
      return answer;
    };
    return {
      ...ctx,
      write: (work) => locked(ctx.write(work)),
      writeAtOnce: (...piece) => locked(ctx.writeAtOnce(...piece)),
      writeNewProvider: (work) => locked(ctx.writeNewProvider(work)),
    };
  }

  /** Only wrong keys are counted, so a right one always passes. */
  async function refusal(request: FastifyRequest) {
    const limit = await countWrongKey(request);
    return !limit.isAllowed && limit.isExceeded
      ? new Problem('too_many_requests', 'Too many wrong API keys', { retryAfter: limit.ttlInSeconds })
      : new Problem('unauthenticated', 'Wrong API Key');
  }
}

/** Once the path is read: only what is an id in it is told. */
const doingOf = (request: FastifyRequest, keyId: number): Doing => ({
  actor: 'key',
  actorId: keyId,
  action: routeOf(request),
  itemIds: Object.values(request.params as object).filter((value): value is number => typeof value === 'number'),
});

/** Keys whose use is just being written, so that a burst of requests writes it once. */
const beingNoted = new Set<number>();

/** At most once a minute; nobody waits for it, and it takes no lock. */
function noteUse({ pool }: Database, { provider_id, key_id }: Found, request: FastifyRequest) {
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
