import proxyAddr from '@fastify/proxy-addr';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a request without a key of an address. */
    countRequest: CountRequest;
  }
}

export type CountRequest = ReturnType<FastifyInstance['createRateLimit']>;

/** Requests whose connection is closed have no address, so that they share one counter. */
const closed = 'closed connection';
const withAddress = (request: FastifyRequest): FastifyRequest =>
  (request.ip as string | undefined) === undefined
    ? (Object.create(request, { ip: { value: closed } }) as FastifyRequest)
    : request;

/** The key that an address is counted by: of IPv6 its network of 64 bits. */
export const toAddressKey = (ip: string | undefined) => (ip === undefined ? closed : normalizeIP(ip));

/** Returns the seconds after which the address may call again, null if it may do so now. */
export async function countByAddress(count: CountRequest, request: FastifyRequest): Promise<number | null> {
  const limit = await count(withAddress(request));
  return !limit.isAllowed && limit.isExceeded ? limit.ttlInSeconds : null;
}

/** A hook of onRequest or preParsing: limits how often one address (IPv6: one /64) may call routes without a key. */
export const limitByAddress = (countRequest: CountRequest) => async (request: FastifyRequest) => {
  const retryAfter = await countByAddress(countRequest, request);
  if (retryAfter !== null)
    throw new Problem('too_many_requests', 'Too many requests from this address', { retryAfter });
};

/** A later hook: counts a request that was let through as so many more. */
export const countMore = (countRequest: CountRequest, more: number) => async (request: FastifyRequest) => {
  for (let n = 0; n < more; n += 1) await countByAddress(countRequest, request);
};

/** Limits requests to paths that no interface has. */
export function limitUnknownPaths(app: FastifyInstance, countRequest: CountRequest) {
  const limit = limitByAddress(countRequest);
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (!request.is404 || request.server.prefix !== '') {
      done();
      return;
    }
    limit(request).then(() => done(), done);
  });
}

/** `limitByAddress` for a request that Fastify refuses before any hook; its `ip` is that of the last proxy. */
export function limitUnroutable(trustProxy: string[]) {
  const isTrusted = proxyAddr.compile(trustProxy);
  return async (request: FastifyRequest) => {
    const ip = { value: proxyAddr(request.raw, isTrusted) };
    await limitByAddress(request.server.countRequest)(Object.create(request, { ip }) as FastifyRequest);
  };
}

/** `limitByAddress` for health checks, whose refusal would restart the server: it closes the connection instead. */
export const closeByAddress = (countRequest: CountRequest) => async (request: FastifyRequest, reply: FastifyReply) => {
  if ((await countByAddress(countRequest, request)) !== null) reply.header('connection', 'close');
};
