import { LRUCache } from 'lru-cache';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    kept: KeptAnswers | null;
  }
  interface FastifyRequest {
    /** The name to keep the answer under, while there is none yet. */
    keepAs: string | null;
  }
}

type Answer = { body: Buffer; headers: Record<string, string> };

/** Answers by the state of the data that they were read from and the question, so that none is ever stale. */
export type KeptAnswers = LRUCache<string, Answer>;

/** As many as fit into that many bytes, the least used ones going first; null keeps none. */
export const keptAnswers = (bytes: number): KeptAnswers | null =>
  bytes === 0
    ? null
    : new LRUCache({
        maxSize: bytes,
        maxEntrySize: Math.ceil(bytes / 8),
        // What a name, the headers and the entry itself take, roughly.
        sizeCalculation: ({ body }, name) => body.length + 2 * name.length + 1_000,
      });

/** What a list's handler says beside the items. */
const ofAnswer = ['content-type', 'link', 'x-updated-through'];

/** Answers from what is kept; else has the answer kept once it is there. */
export function answerKept(request: FastifyRequest, reply: FastifyReply, tag: string): FastifyReply | undefined {
  const { kept } = request.server;
  if (!kept) return undefined;
  // The address too: it may hold ignored parameters, which the link to the next page repeats.
  const name = `${tag} ${request.url}`;
  const answer = kept.get(name);
  if (answer) return reply.headers(answer.headers).send(answer.body);
  if (request.method === 'GET') request.keepAs = name;
  return undefined;
}

/** Keeps a whole answer; in `onSend`, when it has been written out. */
export async function keepAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const { keepAs, server } = request;
  if (keepAs === null || reply.statusCode !== 200 || typeof payload !== 'string') return payload;
  const body = Buffer.from(payload);
  const headers = ofAnswer.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  server.kept?.set(keepAs, { body, headers: Object.fromEntries(headers) });
  return body;
}
