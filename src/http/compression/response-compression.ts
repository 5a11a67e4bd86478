import type { FastifyInstance, FastifyReply } from 'fastify';
import { compress, negotiateEncoding } from './encodings.ts';

/** Shorter responses fit into one packet anyway. */
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
    const bytes = compressibleBytes(reply, payload);
    const encoding = bytes ? negotiateEncoding(request.raw) : 'identity';
    if (!bytes || encoding === 'identity') {
      done(null, payload);
      return;
    }
    reply.header('content-encoding', encoding).removeHeader('content-length');
    compress(encoding, bytes, 'response').then(
      (compressed) => done(null, compressed),
      (error: unknown) => done(error as Error),
    );
  });
}

const isText = /^(text\/|application\/(json|javascript|yaml))/;

/** Undefined for a payload that is short, of a binary type, or encoded already. */
function compressibleBytes(reply: FastifyReply, payload: unknown): Buffer | undefined {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return undefined;
  if (payload.length < minimumBytes || reply.hasHeader('content-encoding')) return undefined;
  if (!isText.test(String(reply.getHeader('content-type')))) return undefined;
  return typeof payload === 'string' ? Buffer.from(payload) : payload;
}
