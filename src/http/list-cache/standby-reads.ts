import type { FastifyReply, FastifyRequest } from 'fastify';

/** A preHandler: `listRoute.toCtx` reads a standby that has the versions of the ETag; without an ETag, the primary. */
export function readFromStandby(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
  const { openSnapshot, sources } = request.server.listCache;
  const state = request.listCache!;
  if (!openSnapshot || !state.needed) {
    sources.primary += 1;
    done();
    return;
  }
  openSnapshot(state.needed).then((snapshot) => {
    if (snapshot) state.snapshot = snapshot;
    else sources.primary += 1;
    done();
  }, done);
}

/** Releases the connection of a list and counts the server that it was read from. */
export function closeSnapshot({ listCache, server }: FastifyRequest) {
  if (!listCache?.snapshot) return;
  server.listCache.sources[listCache.snapshot.close()] += 1;
  // An error in a later hook runs the hooks again.
  delete listCache.snapshot;
}
