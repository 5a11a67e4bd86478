import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';

export type CountRequest = ReturnType<FastifyInstance['createRateLimit']>;

/** A preParsing hook: limits how often one address (IPv6: one /64) may call routes without a key. */
export const limitByAddress = (countRequest: CountRequest) => async (request: FastifyRequest) => {
  const limit = await countRequest(request);
  if (limit.isAllowed || !limit.isExceeded) return;
  throw new Problem('too_many_requests', 'Too many requests from this address', { retryAfter: limit.ttlInSeconds });
};
