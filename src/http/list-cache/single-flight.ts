import type { FastifyReply, FastifyRequest } from 'fastify';
import { acquireSlot } from './list-limiter.ts';
import type { CachedResponse } from './response-cache.ts';

/** Headers of a list response beside those of every response. */
const storedHeaders = [
  ...['etag', 'content-type', 'content-encoding', 'content-disposition'],
  ...['link', 'x-updated-through', 'x-page-truncated'],
];

/** Replies with the cached response, or with the one that another request is computing; else calls `compute`. */
export function serveFromCache(
  request: FastifyRequest,
  reply: FastifyReply,
  { cacheKey, cached }: { cacheKey: string; cached: CachedResponse | undefined },
  compute: (error?: Error) => void,
) {
  const { responses } = request.server.listCache;
  if (!responses) {
    compute();
    return;
  }
  request.listCache!.cacheKey = cacheKey;
  const respond = (response: CachedResponse | null | undefined) => {
    responses.lookups[response ? 'hits' : 'misses'] += 1;
    if (response) void sendResponse(reply, response);
    else compute();
  };
  const pending = cached ? undefined : responses.pending(cacheKey);
  if (pending) pending.then(respond, compute);
  else respond(cached);
}

/** Looks again behind the concurrency limit, and registers the computing request, which onSend or onError settles. */
export function coalesceRequests(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) {
  const { responses } = request.server.listCache;
  const state = request.listCache!;
  if (!responses || state.cacheKey === undefined) {
    done();
    return;
  }
  const response = responses.get(state.cacheKey);
  const pending = responses.pending(state.cacheKey);
  if (response) {
    void sendResponse(reply, response);
  } else if (pending) {
    state.release?.();
    const retry = (error?: Error) => (error ? done(error) : coalesceRequests(request, reply, done));
    pending.then((one) => (one ? void sendResponse(reply, one) : acquireSlot(request, reply, retry)), done);
  } else {
    if (request.method === 'GET') state.settle = responses.start(state.cacheKey);
    done();
  }
}

/** Waiting requests share the error: a retry of each would load an overloaded database further. */
export async function failInFlight(request: FastifyRequest, _reply: FastifyReply, error: Error) {
  request.listCache?.settle?.(error);
}

/** Stores a response with status 200 and passes it to the requests that wait for it. */
export function storeResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
) {
  const settle = request.listCache?.settle;
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
    settle?.(null);
    done(null, payload);
    return;
  }
  // A short text leaves in one write with its headers; a long one would be encoded again for each response.
  const body = typeof payload === 'string' && payload.length >= 8_192 ? Buffer.from(payload) : payload;
  settle?.(reply.statusCode === 200 ? { body, headers: getHeaders(reply) } : null);
  done(null, body);
}

const sendResponse = (reply: FastifyReply, { headers, body }: CachedResponse) => reply.headers(headers).send(body);

function getHeaders(reply: FastifyReply) {
  const values = storedHeaders.map((name) => [name, reply.getHeader(name)] as const);
  return Object.fromEntries(
    values.filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]),
  );
}
