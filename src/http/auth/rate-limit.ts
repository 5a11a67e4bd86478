import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Ctx } from '../../core/context.ts';
import { Problem } from '../../core/errors.ts';

/** How many requests of one provider are answered at once, and how many more each second. */
export type Rate = { perSecond: number; burst: number };
/** The bucket of a school and its sub-schools, which the interfaces share. */
export type RateBuckets = (fairnessKey: number) => TokenBucket;

/** Full at first. The least lately used one is forgotten when there are too many; it is full again by then, as a rule. */
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

/** The share of a token that an answer 304 gives back. */
const notModifiedRefund = 0.75;

/** Each request takes a token from its provider's bucket, and is answered 429 where there is none. */
export function limitRate(app: FastifyInstance, buckets: RateBuckets) {
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

/**
 * What the bucket holds and when it is full again, in seconds: as the IETF's draft on RateLimit fields has it (up to its
 * sixth version, which is what clients read), and under the older names. Who keeps to the policy is never refused.
 */
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
