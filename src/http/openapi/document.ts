import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { addExamples } from './examples.ts';

type Encoding = 'identity' | 'gzip' | 'br';
type Variant = { etag: string; bytes: Buffer };
const encodings: Encoding[] = ['br', 'gzip', 'identity'];

const compressors: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  identity: async (bytes) => bytes,
  gzip: promisify(gzip),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
};

/** Serves the OpenAPI document, generated once and compressed once per encoding, with a strong ETag per encoding. */
export function serveOpenapi(app: FastifyInstance) {
  let document: Promise<Variant> | undefined;
  const variants = new Map<Encoding, Promise<Variant>>();

  async function getVariant(encoding: Encoding) {
    const { bytes, etag: identityEtag } = await (document ??= renderDocument(app));
    const etag = encoding === 'identity' ? identityEtag : `${identityEtag.slice(0, -1)}-${encoding}"`;
    const variant =
      variants.get(encoding) ?? compressors[encoding](bytes).then((compressed) => ({ etag, bytes: compressed }));
    variants.set(encoding, variant);
    return variant;
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const encoding = (new Negotiator(request.raw).encoding(encodings) ?? 'identity') as Encoding;
    const { etag, bytes } = await getVariant(encoding);
    reply.header('etag', etag).header('vary', 'Accept-Encoding').header('cache-control', 'public, max-age=300');
    if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.type('application/json; charset=utf-8').send(bytes);
  };
}

async function renderDocument(app: FastifyInstance): Promise<Variant> {
  const bytes = Buffer.from(JSON.stringify(await addExamples(app.swagger())));
  return { etag: `"${hash('sha256', bytes, 'base64url').slice(0, 27)}"`, bytes };
}

const matches = (ifNoneMatch: string | undefined, etag: string) =>
  ifNoneMatch?.split(',').some((entry) => ['*', etag].includes(entry.trim().replace(/^W\//, ''))) ?? false;
