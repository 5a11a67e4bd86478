import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Ctx } from '../../core/context.ts';
import { Problem } from '../../core/errors.ts';

/** Token bucket of one school: its size, and the tokens added per second. */
export type Rate = { perSecond: number; burst: number };
/** The bucket of a school and its sub-schools, for both interfaces. */
export type RateBuckets = (fairnessKey: number) => TokenBucket;

/** Buckets start full. Beyond 10,000 the least recently used one is evicted; it is usually full again by then. */
export function createRateBuckets({ perSecond, burst }: Rate): RateBuckets {
  const buckets = new LRUCache<number, TokenBucket>({ max: 10_000 });
  return (fairnessKey) => {
    const known = buckets.get(fairnessKey);
    if (known) return known;
    const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: perSecond, interval: 'second' });
    bucket.content = burst;
    buckets.set(fairnessKey, bucket);
    return bucket;
  };
}

/** Share of a token that a 304 response refunds. */
const notModifiedRefund = 0.75;

/** Each request takes a token of its school's bucket; without one it gets 429. Without buckets there is no limit. */
export function limitRate(app: FastifyInstance, buckets: RateBuckets | undefined) {
  if (!buckets) return;
  app.addHook('preParsing', async (request) => {
    const ctx = contextIn(request);
    if (ctx === undefined) return;
    const bucket = buckets(ctx.fairnessKey);
    if (bucket.tryRemoveTokens(1)) return;
    const retryAfter = Math.ceil(bucket.getWaitTime(1) / 1_000);
    throw new Problem('too_many_requests', 'Too many requests', { retryAfter });
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const ctx = contextIn(request);
    if (ctx === undefined) return payload;
    const bucket = buckets(ctx.fairnessKey);
    if (reply.statusCode === 304) bucket.content += notModifiedRefund;
    bucket.drip();
    reply.headers(getHeaders(bucket));
    return payload;
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
