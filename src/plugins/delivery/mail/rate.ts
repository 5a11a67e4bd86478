import { TokenBucket } from 'limiter';

/** Mails per minute, spread evenly; 0 is no limit. */
export function createRate(perMinute: number) {
  if (perMinute === 0) return { free: () => Infinity, take: () => undefined, waitMs: () => 0 };
  // Mails of a tenth of a second may leave at once, so that a late timer does not slow the others.
  const burst = 1 + Math.floor(perMinute / 600);
  const tokensPerInterval = perMinute - burst + 1;
  const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval, interval: 'minute' });
  bucket.content = 1;
  return {
    /** How many mails may be sent now. */
    free() {
      bucket.drip();
      return Math.floor(bucket.content);
    },
    take: () => void bucket.tryRemoveTokens(1),
    /** Until the next mail may be sent. */
    waitMs: () => bucket.getWaitTime(1),
  };
}
