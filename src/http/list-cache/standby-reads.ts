import type { FastifyReply, FastifyRequest } from 'fastify';

/** A preHandler that lets `listRoute.toCtx` read a standby that has all versions which the ETag names, if there are such. */
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

/** Gives the connection back that the list was read by. */
export function closeSnapshot({ listCache, server }: FastifyRequest) {
  if (!listCache?.snapshot) return;
  server.listCache.sources[listCache.snapshot.close()] += 1;
  // An error in a later hook runs the hooks again.
  delete listCache.snapshot;
}
