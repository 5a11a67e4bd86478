import type { FastifyInstance, FastifyReply } from 'fastify';
import { compress, negotiateEncoding } from './encodings.ts';

/** A shorter response fits into one packet, compressed or not. */
const minimumBytes = 1_024;

/**
 * Compresses responses of at least 1 kB. The hook runs before those of routes, so that the response cache stores the
 * compressed bytes.
 */
export function compressResponses(app: FastifyInstance) {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('vary', 'Accept-Encoding');
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const encoding = isCompressible(reply, payload) ? negotiateEncoding(request.raw) : 'identity';
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

const isText = /^(text\/|application\/(json|javascript|yaml))/;

/** False for a payload that is short, a stream, of a binary type, or encoded already. */
const isCompressible = (reply: FastifyReply, payload: unknown) =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) &&
  payload.length >= minimumBytes &&
  !reply.hasHeader('content-encoding') &&
  isText.test(String(reply.getHeader('content-type')));
