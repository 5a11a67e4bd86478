import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { compress, negotiateEncoding } from './encodings.ts';

/** A shorter response fits into one packet, compressed or not. */
const minimumBytes = 1_024;

/**
 * Compresses responses of at least 1 kB. The hook runs before those of routes, so that the response cache stores the
 * compressed bytes.
 */
export function compressResponses(app: FastifyInstance) {
  app.addHook('onSend', (request, reply, payload, done) => {
    const encoding = isCompressible(request, reply, payload) ? negotiateEncoding(request.raw) : 'identity';
    if (encoding === 'identity') {
      done(null, payload);
      return;
    }
    reply.header('content-encoding', encoding).removeHeader('content-length');
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : (payload as Buffer);
    compress(encoding, bytes, 'response').then(
      (compressed) => done(null, compressed),
      (error: unknown) => done(error as Error),
    );
  });
}

const isText = /^(text\/|application\/((problem\+)?json|javascript|yaml))/;

/** False without Accept-Encoding, and for a payload that is short, a stream, of a binary type, or encoded already. */
const isCompressible = (request: FastifyRequest, reply: FastifyReply, payload: unknown) =>
  request.headers['accept-encoding'] !== undefined &&
  (typeof payload === 'string' || Buffer.isBuffer(payload)) &&
  payload.length >= minimumBytes &&
  !reply.hasHeader('content-encoding') &&
  isText.test(String(reply.getHeader('content-type')));
