import type { FastifyReply, FastifyRequest } from 'fastify';

/** A preHandler: `listRoute.toCtx` reads a snapshot that has the versions of the ETag; without an ETag, the pool. */
export function openListSnapshot(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
  const { openSnapshot, counters } = request.server.listCache;
  const state = request.listCache!;
  if (!openSnapshot || !state.needed) {
    counters.lists += 1;
    done();
    return;
  }
  openSnapshot(state.needed).then((snapshot) => {
    if (snapshot) state.snapshot = snapshot;
    else counters.lists += 1;
    done();
  }, done);
}

/** Releases the connection of a list that was read from a snapshot, and counts it. */
export function closeSnapshot({ listCache, server }: FastifyRequest) {
  if (!listCache?.snapshot) return;
  listCache.snapshot.close();
  server.listCache.counters.lists += 1;
  // An error in a later hook runs the hooks again.
  delete listCache.snapshot;
}
