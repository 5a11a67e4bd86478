import { LRUCache } from 'lru-cache';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Knowledge, Known } from '../../core/context.ts';
import { nothingKnown } from '../../lists/paging/page-hints.ts';
import { takeTurn } from './list-limiter.ts';

declare module 'fastify' {
  interface FastifyInstance {
    kept: KeptAnswers | null;
    /** What is known of lists, by the state of the data and the question. */
    known: KnownLists;
  }
  interface FastifyRequest {
    /** The name its answer is kept under; null for what is not kept. */
    answerName: string | null;
    /** Keeps the answer and hands it to who waits for the same, or tells them why there is none; null lets them ask. */
    answered: ((outcome: Answer | Error | null) => void) | null;
  }
}

type Answer = { body: Buffer | string; headers: Record<string, string> };

/** Answers by the state of the data that they were read from and the question, so that none is ever stale. */
export type KeptAnswers = {
  answers: LRUCache<string, Answer>;
  /** Those that are being read from the database, for others who ask the same meanwhile. */
  coming: Map<string, Promise<Answer | null>>;
};

export type KnownLists = LRUCache<string, Known>;
/** A megabyte at most. */
export const knownLists = (): KnownLists =>
  new LRUCache({ maxSize: 1_048_576, sizeCalculation: (_known, name) => 2 * name.length + 600 });

/** As many as fit into that many bytes, the least used ones going first; null keeps none. */
export const keptAnswers = (bytes: number): KeptAnswers | null =>
  bytes === 0
    ? null
    : {
        answers: new LRUCache({
          maxSize: bytes,
          maxEntrySize: Math.ceil(bytes / 6),
          // What a name, the headers and the entry itself take, roughly.
          sizeCalculation: ({ body }, name) => Buffer.byteLength(body) + 2 * name.length + 1_000,
        }),
        coming: new Map(),
      };

/** What is said of a list beside its items. */
const ofAnswer = ['etag', 'content-type', 'link', 'x-updated-through', 'x-page-truncated'];

/** The ETag of the answer kept under that name. */
export const tagOfKept = (kept: KeptAnswers | null, name: string) => kept?.answers.get(name)?.headers['etag'];

/**
 * Answers with what is kept, or with what somebody else's same question is just answered; else lets the request go on.
 * `name` tells the provider, the state of the data, the language and the question.
 */
export async function answerKept(request: FastifyRequest, reply: FastifyReply, name: string) {
  const { kept } = request.server;
  if (!kept) return undefined;
  request.answerName = name;
  const answer = kept.answers.get(name) ?? (await kept.coming.get(name));
  return answer ? sendKept(reply, answer) : undefined;
}

/** The same when its turn has come; where nobody is reading it, who asks the same waits for this request from here on. */
export function shareAnswer(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) {
  const { server, method, answerName: name } = request;
  if (!server.kept || name === null) {
    done();
    return;
  }
  const { answers, coming } = server.kept;
  const answer = answers.get(name);
  const promised = coming.get(name);
  if (answer) {
    void sendKept(reply, answer);
  } else if (promised) {
    // Who waits for another's answer reads nothing.
    request.leaveTurn?.();
    const again = (error?: Error) => (error ? done(error) : shareAnswer(request, reply, done));
    promised.then((one) => (one ? void sendKept(reply, one) : takeTurn(request, reply, again)), done);
  } else {
    if (method === 'GET') announce(server.kept, name, request);
    done();
  }
}

const sendKept = (reply: FastifyReply, { headers, body }: Answer) => reply.headers(headers).send(body);

/** What is known of a list's questions; `state` names the data and the list. */
export const knowing = (lists: KnownLists, state: string): Knowledge => ({
  find: (question) => lists.get(`${state} ${question}`),
  open(question) {
    const name = `${state} ${question}`;
    const known = lists.get(name) ?? nothingKnown();
    lists.set(name, known);
    return known;
  },
});

/** Its client may go: the handler ends all the same, and so `onSend` or `onError` tells those who wait. */
function announce({ answers, coming }: KeptAnswers, name: string, request: FastifyRequest) {
  const answer = new Promise<Answer | null>((done, failed) => {
    request.answered = (outcome) => {
      request.answered = null;
      coming.delete(name);
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
  coming.set(name, answer);
}

/** Whoever waits shares the failure: asking again for each would keep a database busy that is overloaded. */
export async function failAnswer(request: FastifyRequest, _reply: FastifyReply, error: Error) {
  request.answered?.(error);
}

/** Encodes an answer once, keeps it, and hands it to who waits for it; in `onSend`, when it has been written out. */
export async function keepAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
    request.answered?.(null);
    return payload;
  }
  // A short text leaves in one piece with its headers; a long one would be encoded anew each time.
  const body = typeof payload === 'string' && payload.length >= 8_192 ? Buffer.from(payload) : payload;
  request.answered?.(reply.statusCode === 200 ? { body, headers: headersOf(reply) } : null);
  return body;
}

function headersOf(reply: FastifyReply) {
  const headers: Record<string, string> = {};
  for (const name of ofAnswer) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  return headers;
}
