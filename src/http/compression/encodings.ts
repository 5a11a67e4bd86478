import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { truncateHeaderList } from '../../core/text.ts';

export type Encoding = 'identity' | 'gzip' | 'br';

/** Effort for content that is compressed once, or for a response that a client waits for. */
type Effort = 'once' | 'response';
type Compress = (bytes: Buffer, effort: Effort) => Promise<Buffer>;

const { constants } = zlib;
/** Output of most lists fits into one chunk, so that a compression is one task of the thread pool. */
const chunkSize = 65_536;

const gzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);
const brotli = promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);

const compressors: Partial<Record<Encoding, Compress>> = {
  br: (bytes, effort) =>
    brotli(bytes, { chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: effort === 'once' ? 9 : 4 } }),
  gzip: (bytes, effort) => gzip(bytes, { chunkSize, level: effort === 'once' ? 9 : 3 }),
};

const allEncodings = Object.keys(compressors);

/** The encoding of these that a client prefers; the first one in its header between equal ones. */
export function negotiateEncoding({ headers }: IncomingMessage, encodings: readonly string[] = allEncodings): Encoding {
  const sent = truncateHeaderList(headers['accept-encoding']);
  if (sent === undefined) return 'identity';
  const accepted = { 'accept-encoding': sent };
  return (new Negotiator({ headers: accepted }).encoding([...encodings, 'identity']) ?? 'identity') as Encoding;
}

/** Compresses in the thread pool. */
export const compress = (encoding: Encoding, bytes: Buffer, effort: Effort): Promise<Buffer> =>
  compressors[encoding]?.(bytes, effort) ?? Promise.resolve(bytes);

/** A shorter response fits into one packet, compressed or not. */
const minimumBytes = 1_024;

/** Compresses responses of at least 1 kB, before the hooks of routes, so that the cache stores compressed bytes. */
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
