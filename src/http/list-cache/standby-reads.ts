import type { FastifyReply, FastifyRequest } from 'fastify';

/** A preHandler that lets `listRoute.toCtx` read a standby that has all versions which the ETag names. */
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

/** A preHandler of a list that only the primary answers. */
export function readFromPrimary(request: FastifyRequest, _reply: FastifyReply, done: () => void) {
  request.server.listCache.sources.primary += 1;
  done();
}

/** In onSend, once the response is serialized. */
export function closeSnapshot(
  request: FastifyRequest,
  _reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
) {
  const { listCache } = request;
  if (listCache?.snapshot) {
    request.server.listCache.sources[listCache.snapshot.close()] += 1;
    // An error in a later hook runs the hooks again.
    delete listCache.snapshot;
  }
  done(null, payload);
}
