import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import { Problem } from '../../core/errors.ts';
import type { Database } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { providerLimits } from '../../database/tables/providers.ts';
import { toAddressKey } from './address-limit.ts';

/** Token bucket of one school: its size, and the tokens added per second. */
export type Rate = { perSecond: number; burst: number };
/** The bucket of a school and its sub-schools, or what a visitor may take of it; undefined without a limit. */
export type RateBuckets = (tenantQueueKey: number, visitor?: FastifyRequest) => TokenBucket | undefined;
/** The limit of a school and its sub-schools. A publishable key has the negative tenant queue key of its school. */
export type FindRate = (tenantQueueKey: number) => Rate | undefined;
/** The bucket of an address; the purposes have one each. */
export type AddressBuckets = (request: FastifyRequest, purpose: 'read' | 'preflight') => TokenBucket;

/** Buckets start full. Beyond 10,000 the least recently used one is evicted; it is usually full again by then. */
function createBuckets() {
  const buckets = new LRUCache<number | string, TokenBucket>({ max: 10_000 });
  return (key: number | string, { perSecond, burst }: Rate) => {
    const known = buckets.get(key);
    if (known?.tokensPerInterval === perSecond && known.bucketSize === burst) return known;
    const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: perSecond, interval: 'second' });
    bucket.content = burst;
    buckets.set(key, bucket);
    return bucket;
  };
}

export function createRateBuckets(findRate: FindRate): RateBuckets {
  const [getBucket, getShare] = [createBuckets(), createBuckets()];
  return (tenantQueueKey, visitor) => {
    const rate = findRate(tenantQueueKey);
    if (!rate || !visitor) return rate && getBucket(tenantQueueKey, rate);
    const quarter = { perSecond: rate.perSecond / 4, burst: Math.max(1, rate.burst / 4) };
    return getShare(`${tenantQueueKey} ${toAddressKey(visitor.ip)}`, quarter);
  };
}

/** IPv6 addresses count by /64. */
export function createAddressBuckets(rate: Rate): AddressBuckets {
  const getBucket = createBuckets();
  return (request, purpose) => getBucket(`${purpose} ${toAddressKey(request.ip)}`, rate);
}

/** Throws 429 if the bucket of a school is empty. */
function takeToken(bucket: TokenBucket) {
  if (!bucket.tryRemoveTokens(1)) throw new Problem('too_many_requests', 'Too many requests', toRetry(bucket));
}

/** Throws 429 if the bucket of an address is empty. */
export function takeAddressToken(bucket: TokenBucket) {
  if (!bucket.tryRemoveTokens(1))
    throw new Problem('too_many_requests', 'Too many requests from this address', toRetry(bucket));
}

const toRetry = (bucket: TokenBucket) => ({ retryAfter: Math.ceil(bucket.getWaitTime(1) / 1_000) });

/** Less than the time without a byte after which a connection is closed. */
const maxTokenWaitMs = 5_000;

/** Takes a token for the next part of a response. Waits for a half-full bucket first, so that requests find tokens. */
export async function waitForToken(bucket: TokenBucket, signal: AbortSignal) {
  const half = Math.max(1, bucket.bucketSize / 2);
  const end = performance.now() + maxTokenWaitMs;
  for (;;) {
    const [leftMs, waitMs] = [end - performance.now(), bucket.getWaitTime(half)];
    if (waitMs === 0 || leftMs <= 0 || bucket.getWaitTime(1) > leftMs) break;
    await sleep(Math.min(waitMs, leftMs), undefined, { signal });
  }
  takeToken(bucket);
}

/** Share of a token that a 304 response refunds. */
const notModifiedRefund = 0.75;

/** A publishable key is in web pages, so each address has a bucket: one visitor does not use up that of the school. */
export function limitPublishableByAddress(app: FastifyInstance, buckets: AddressBuckets | undefined) {
  if (!buckets) return;
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (contextIn(request)?.publishableFor) takeAddressToken(buckets(request, 'read'));
    done();
  });
}

/** Takes a token for each request, with a publishable key from at most a quarter of them, or responds 429. */
export function limitRate(app: FastifyInstance, buckets: RateBuckets) {
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const ctx = contextIn(request);
    const share = ctx?.publishableFor && buckets(ctx.tenantQueueKey, request);
    if (share) takeAddressToken(share);
    const bucket = ctx && buckets(ctx.tenantQueueKey);
    if (bucket) takeToken(bucket);
    done();
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const ctx = contextIn(request);
    const bucket = ctx && buckets(ctx.tenantQueueKey);
    if (bucket) {
      if (reply.statusCode === 304) bucket.content += notModifiedRefund;
      bucket.drip();
      reply.headers(getHeaders(bucket));
    }
    done(null, payload);
  });
}

/** Undefined without a valid key. */
const contextIn = (request: Partial<FastifyRequest>): Ctx | undefined => request.ctx;

/** RateLimit headers of the IETF draft (version 6, which clients read) and their older X- names; times in seconds. */
function getHeaders({ content, bucketSize, tokensPerInterval }: TokenBucket) {
  const remaining = Math.floor(content);
  const reset = Math.ceil((bucketSize - content) / tokensPerInterval);
  return {
    'ratelimit-policy': `${bucketSize};w=${Math.ceil(bucketSize / tokensPerInterval)}`,
    'ratelimit-limit': bucketSize,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': reset,
    'x-ratelimit-limit': bucketSize,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': reset,
  };
}

/** The limits of single providers, which replace `defaultRate`; read again by `load`. */
export function createProviderLimits(defaultRate: Rate | undefined) {
  let limits = new Map<number, Rate>();
  const findRate: FindRate = (tenantQueueKey) => limits.get(Math.abs(tenantQueueKey)) ?? defaultRate;
  return {
    findRate,
    async load({ db }: Pick<Database, 'db'>) {
      const rows = await db.select().from(providerLimits);
      limits = new Map(rows.map(({ providerId, ...rate }) => [providerId, rate]));
    },
  };
}

export type ProviderLimits = ReturnType<typeof createProviderLimits>;
