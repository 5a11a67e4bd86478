import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

export type Encoding = 'identity' | 'gzip' | 'br';
const encodings: Encoding[] = ['br', 'gzip', 'identity'];

/** Bytes in each encoding. The ETag is that of the uncompressed bytes, with quotes. */
export type CompressedContent = { etag: string; load(encoding: Encoding): Promise<Buffer> };

const compressors: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  identity: async (bytes) => bytes,
  gzip: promisify(gzip),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
};

/** Content that is compressed once per encoding. */
export function compressOnce(text: string): CompressedContent {
  const bytes = Buffer.from(text);
  return {
    etag: `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`,
    load: loadOnce((encoding) => compressors[encoding](bytes)),
  };
}

/** Loads each encoding once, so that all responses share one buffer; a failed load is repeated by the next request. */
export function loadOnce(load: CompressedContent['load']): CompressedContent['load'] {
  const variants = new Map<Encoding, Promise<Buffer>>();
  return (encoding) => {
    const variant =
      variants.get(encoding) ??
      load(encoding).catch((error: unknown) => {
        variants.delete(encoding);
        throw error;
      });
    variants.set(encoding, variant);
    return variant;
  };
}

type ContentHeaders = { type: string; cacheControl: string };

/** Sends content in the encoding that the client prefers, with a strong ETag per encoding, or 304. */
export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag: identityEtag, load }: CompressedContent,
  { type, cacheControl }: ContentHeaders,
) {
  const encoding = (new Negotiator(request.raw).encoding(encodings) ?? 'identity') as Encoding;
  const etag = encoding === 'identity' ? identityEtag : `${identityEtag.slice(0, -1)}-${encoding}"`;
  reply.header('etag', etag).header('vary', 'Accept-Encoding').header('cache-control', cacheControl);
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
  const bytes = await load(encoding);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(type).send(bytes);
}

const matches = (ifNoneMatch: string | undefined, etag: string) =>
  ifNoneMatch?.split(',').some((entry) => ['*', etag].includes(entry.trim().replace(/^W\//, ''))) ?? false;
