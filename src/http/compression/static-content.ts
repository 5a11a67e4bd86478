import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { compress, negotiateEncoding, type Encoding } from './encodings.ts';

/** Bytes in each encoding. The ETag is that of the uncompressed bytes, with quotes. */
export type CompressedContent = {
  etag: string;
  /** All by default. */
  encodings?: readonly Encoding[];
  load(encoding: Encoding): Promise<Buffer>;
};

/** Content that is compressed once per encoding. */
export function compressOnce(text: string): CompressedContent {
  const bytes = Buffer.from(text);
  return {
    etag: `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`,
    load: loadOnce((encoding) => compress(encoding, bytes, 'once')),
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
  { etag: identityEtag, encodings, load }: CompressedContent,
  { type, cacheControl }: ContentHeaders,
) {
  const encoding = negotiateEncoding(request.raw, encodings);
  const etag = encoding === 'identity' ? identityEtag : `${identityEtag.slice(0, -1)}-${encoding}"`;
  reply.header('etag', etag).header('cache-control', cacheControl);
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
  const bytes = await load(encoding);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(type).send(bytes);
}

const matches = (ifNoneMatch: string | undefined, etag: string) =>
  ifNoneMatch?.split(',').some((entry) => ['*', etag].includes(entry.trim().replace(/^W\//, ''))) ?? false;
