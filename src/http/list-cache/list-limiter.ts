import type { FastifyReply, FastifyRequest } from 'fastify';
import { createKeyedQueue } from '../../database/keyed-queue.ts';

declare module 'fastify' {
  interface FastifyInstance {
    turns: Turns | null;
  }
  interface FastifyRequest {
    /** Lets the next one in; null for who has no turn. */
    releaseSlot: (() => void) | null;
  }
}

/** How many lists are read and written at once, how long the others wait for their turn before 503, and how many of them may. */
export type ListLimiter = { atOnce: number; waitMs: number; waiting?: number };
type Turns = ReturnType<typeof createKeyedQueue>;

/** Null lets all in at once. */
export const createListLimiter = (turning: ListLimiter | undefined): Turns | null =>
  turning
    ? createKeyedQueue({ slots: turning.atOnce, waiting: turning.waiting ?? 1_000, waitMs: turning.waitMs })
    : null;

/**
 * Lets a list be read when it is its turn: the first of the provider of whom the fewest are read. No promise of the
 * handler's exists while it waits: V8 would take that for long-lived, and then keep what it told, a page's rows and
 * items, as long. Who has gone gets none.
 */
export function acquireSlot(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) {
  const { turns } = request.server;
  if (!turns) {
    done();
    return;
  }
  if (reply.raw.destroyed) return;
  // Until it is written out: who goes meanwhile leaves a statement behind, which holds its connection until then.
  const itsTurn = () =>
    new Promise<void>((leave) => {
      request.releaseSlot = leave;
      if (reply.raw.destroyed) leave();
      else done();
    });
  turns([], itsTurn, {
    fairnessKey: request.ctx.fairnessKey,
    onWait: (giveUp) => reply.raw.once('close', giveUp),
  }).catch((error: unknown) => {
    if (!reply.raw.destroyed) done(error as Error);
  });
}

/** Its page is written out; how long the client takes to receive it is nobody's wait. In `onSend`. */
export function releaseSlot(
  request: FastifyRequest,
  _reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
) {
  request.releaseSlot?.();
  done(null, payload);
}
