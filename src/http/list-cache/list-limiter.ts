import type { FastifyReply, FastifyRequest } from 'fastify';
import { createKeyedQueue } from '../../database/keyed-queue.ts';
import { closeSnapshot } from './snapshots.ts';

/** How many lists run at once, and how long others wait before 503. */
export type ListLimits = { atOnce: number; waitMs: number };

/** Null runs all at once. */
export const createListLimiter = (limits: ListLimits | undefined) =>
  limits ? createKeyedQueue({ slots: limits.atOnce, waiting: 1_000, waitMs: limits.waitMs }) : null;

/** Limits concurrent lists, fair by tenant, as a callback hook: V8 would retain rows of pending promises. */
export function acquireSlot(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) {
  const { limiter, scheduler } = request.server.listCache;
  if (!limiter) {
    done();
    return;
  }
  if (reply.raw.destroyed) return;
  // Held until the response is serialized: the statement of an aborted request occupies a connection until then.
  const hold = () =>
    new Promise<void>((release) => {
      request.listCache!.release = release;
      scheduler(() => {
        if (reply.raw.destroyed) release();
        else done();
      });
    });
  limiter([], hold, {
    tenantQueueKey: request.ctx.tenantQueueKey,
    onWait: (cancel) => reply.raw.once('close', cancel),
  }).catch((error: unknown) => {
    if (!reply.raw.destroyed) done(error as Error);
  });
}

/** Runs work in a slot of its own: a part of a list that is sent while it is read. */
export function runInSlot<T>(
  { ctx, server }: FastifyRequest,
  work: () => Promise<T>,
  onWait: (cancel: () => void) => void,
): Promise<T> {
  const { limiter, scheduler } = server.listCache;
  const start = () => new Promise<void>(scheduler).then(work);
  return limiter ? limiter([], start, { tenantQueueKey: ctx.tenantQueueKey, onWait }) : start();
}

/** Releases the slot once the response is serialized, so that a slow client occupies no slot and no connection. */
export function releaseSlot(
  request: FastifyRequest,
  _reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
) {
  closeSnapshot(request);
  request.listCache?.release?.();
  done(null, payload);
}
