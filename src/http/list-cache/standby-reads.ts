import type { FastifyReply, FastifyRequest } from 'fastify';

/** A preHandler that lets the handler read a standby that has all versions which the ETag names. */
export function readFromStandby(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
  const { openSnapshot } = request.server.listCache;
  const state = request.listCache!;
  if (!openSnapshot || !state.needed) {
    done();
    return;
  }
  openSnapshot(state.needed).then((snapshot) => {
    if (snapshot) {
      state.snapshot = snapshot;
      request.ctx = { ...request.ctx, db: snapshot.db };
    }
    done();
  }, done);
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
    listCache.snapshot.close();
    // An error in a later hook runs the hooks again.
    delete listCache.snapshot;
  }
  done(null, payload);
}
