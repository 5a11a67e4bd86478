import { LRUCache } from 'lru-cache';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageHintStore, PageHints } from '../../core/context.ts';
import { createPageHints } from '../../lists/paging/page-hints.ts';
import { acquireSlot } from './list-limiter.ts';

declare module 'fastify' {
  interface FastifyInstance {
    stored: ResponseCache | null;
    /** What is known of lists, by the state of the data and the question. */
    known: PageHintCache;
  }
  interface FastifyRequest {
    /** The name its answer is kept under; null for what is not kept. */
    cacheKey: string | null;
    /** Keeps the answer and hands it to who waits for the same, or tells them why there is none; null lets them ask. */
    answered: ((outcome: Answer | Error | null) => void) | null;
  }
}

type Answer = { body: Buffer | string; headers: Record<string, string> };

/** Answers by the state of the data that they were read from and the question, so that none is ever stale. */
export type ResponseCache = {
  answers: LRUCache<string, Answer>;
  /** Those that are being read from the database, for others who ask the same meanwhile. */
  inFlight: Map<string, Promise<Answer | null>>;
};

export type PageHintCache = LRUCache<string, PageHints>;
/** A megabyte at most. */
export const createPageHintCache = (): PageHintCache =>
  new LRUCache({ maxSize: 1_048_576, sizeCalculation: (_known, name) => 2 * name.length + 600 });

/** As many as fit into that many bytes, the least used ones going first; null keeps none. */
export const createResponseCache = (bytes: number): ResponseCache | null =>
  bytes === 0
    ? null
    : {
        answers: new LRUCache({
          maxSize: bytes,
          maxEntrySize: Math.ceil(bytes / 6),
          // What a name, the headers and the entry itself take, roughly.
          sizeCalculation: ({ body }, name) => Buffer.byteLength(body) + 2 * name.length + 1_000,
        }),
        inFlight: new Map(),
      };

/** What is said of a list beside its items. */
const ofAnswer = ['etag', 'content-type', 'link', 'x-updated-through', 'x-page-truncated'];

/** The ETag of the answer kept under that name. */
export const cachedEtag = (stored: ResponseCache | null, name: string) => stored?.answers.get(name)?.headers['etag'];

/**
 * Answers with what is kept, or with what somebody else's same question is just answered; else lets the request go on.
 * `name` tells the provider, the state of the data, the language and the question.
 */
export async function serveFromCache(request: FastifyRequest, reply: FastifyReply, name: string) {
  const { stored } = request.server;
  if (!stored) return undefined;
  request.cacheKey = name;
  const answer = stored.answers.get(name) ?? (await stored.inFlight.get(name));
  return answer ? sendKept(reply, answer) : undefined;
}

/** The same when its turn has come; where nobody is reading it, who asks the same waits for this request from here on. */
export function shareInFlight(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) {
  const { server, method, cacheKey: name } = request;
  if (!server.stored || name === null) {
    done();
    return;
  }
  const { answers, inFlight } = server.stored;
  const answer = answers.get(name);
  const promised = inFlight.get(name);
  if (answer) {
    void sendKept(reply, answer);
  } else if (promised) {
    // Who waits for another's answer reads nothing.
    request.releaseSlot?.();
    const again = (error?: Error) => (error ? done(error) : shareInFlight(request, reply, done));
    promised.then((one) => (one ? void sendKept(reply, one) : acquireSlot(request, reply, again)), done);
  } else {
    if (method === 'GET') announce(server.stored, name, request);
    done();
  }
}

const sendKept = (reply: FastifyReply, { headers, body }: Answer) => reply.headers(headers).send(body);

/** What is known of a list's questions; `state` names the data and the list. */
export const withPageHints = (lists: PageHintCache, state: string): PageHintStore => ({
  find: (queryKey) => lists.get(`${state} ${queryKey}`),
  open(queryKey) {
    const name = `${state} ${queryKey}`;
    const known = lists.get(name) ?? createPageHints();
    lists.set(name, known);
    return known;
  },
});

/** Its client may go: the handler ends all the same, and so `onSend` or `onError` tells those who wait. */
function announce({ answers, inFlight }: ResponseCache, name: string, request: FastifyRequest) {
  const answer = new Promise<Answer | null>((done, failed) => {
    request.answered = (outcome) => {
      request.answered = null;
      inFlight.delete(name);
      if (outcome instanceof Error) {
        failed(outcome);
        return;
      }
      if (outcome) answers.set(name, outcome);
      done(outcome);
    };
  });
  // Nobody may wait for it; who asked is told anyway.
  answer.catch(() => undefined);
  inFlight.set(name, answer);
}

/** Whoever waits shares the failure: asking again for each would keep a database busy that is overloaded. */
export async function failInFlight(request: FastifyRequest, _reply: FastifyReply, error: Error) {
  request.answered?.(error);
}

/** Encodes an answer once, keeps it, and hands it to who waits for it; in `onSend`, when it has been written out. */
export async function storeResponse(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
    request.answered?.(null);
    return payload;
  }
  // A short text leaves in one piece with its headers; a long one would be encoded anew each time.
  const body = typeof payload === 'string' && payload.length >= 8_192 ? Buffer.from(payload) : payload;
  request.answered?.(reply.statusCode === 200 ? { body, headers: getHeaders(reply) } : null);
  return body;
}

function getHeaders(reply: FastifyReply) {
  const headers: Record<string, string> = {};
  for (const name of ofAnswer) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  return headers;
}
