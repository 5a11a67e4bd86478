import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { schoolOf, type Ctx, type Settings, type Versions } from '../../core/context.ts';
import type { Area } from '../../database/areas.ts';
import { negotiateEncoding } from '../compression/encodings.ts';
import { buildHash } from '../../lib/build-hash.ts';
import { getPageHints } from './page-hint-cache.ts';
import { serveFromCache } from './single-flight.ts';

type Query = Record<string, unknown> & { include?: string[] };

/** Areas that the response to a query depends on, beside the school's own record. */
export type ReadAreas = (query: { include?: string[] }, isPublishable: boolean) => readonly Area[];

/**
 * A preHandler that computes a list's ETag before any data is read: a hash of the provider, the versions of the areas
 * that the query reads, the build, the settings, the language and the query. It replies 304 or, unless the list is not
 * stored, from the cache. A list with partners has no ETag.
 */
export const handleConditionalGet =
  (readAreas: ReadAreas, dependsOnOtherData: (query: Query) => boolean, { isStored = true } = {}) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const query = request.query as Query;
    if (query['include_partners'] || query['partner_id'] !== undefined) return;
    const { ctx, routeOptions, server } = request;
    if (!ctx.versions) return;
    const areas = readAreas(query, ctx.publishableFor !== undefined);
    const version = toVersion(ctx.versions, areas);
    const reader = toReader(ctx, areas);
    // Page hints (totals, cursors) are equal with and without includes.
    if (!dependsOnOtherData({ ...query, include: undefined })) {
      const prefix = `${reader} ${version} ${routeOptions.url}`;
      ctx.pageHints = getPageHints(server.listCache.pageHints, prefix);
    }
    if (dependsOnOtherData(query)) return;
    const { version: clock, versions } = ctx;
    request.listCache!.needed = { providerId: schoolOf(ctx), version: clock, shared: versions.shared };
    // By the URL, not the coerced query: the next page's link repeats ignored parameters.
    const cacheKey = `${reader} ${version} ${ctx.language} ${negotiateEncoding(request.raw)} ${request.url}`;
    const etag = server.listCache.responses?.get(cacheKey)?.headers['etag'] ?? getEtag(request, reader, version);
    reply.header('etag', etag);
    const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^(W\/)?/, 'W/'));
    if (known?.includes(etag)) return reply.code(304).send();
    return isStored ? serveFromCache(request, reply, cacheKey) : undefined;
  };

/** Replies 304 to `If-None-Match: *`, once the query has turned out to be valid. */
export async function matchAnyTag(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const isAny = request.headers['if-none-match']?.trim() === '*';
  if (!isAny || reply.statusCode !== 200 || !reply.hasHeader('etag')) return payload;
  for (const name of ['content-length', 'content-type', 'content-encoding']) reply.removeHeader(name);
  reply.code(304);
  return '';
}

/** Public dates depend on the clock. */
const toReader = ({ providerId, publishableFor }: Ctx, areas: readonly Area[]) =>
  publishableFor ? `public ${publishableFor.id} ${areas.includes('dates') ? publishableFor.quarter : ''}` : providerId;

const toVersion = (versions: Versions, areas: readonly Area[]) =>
  [versions.shared, versions.school, ...areas.map((area) => versions[area])].join(' ');

function getEtag({ ctx, routeOptions, params, query }: FastifyRequest, reader: number | string, version: string) {
  const sorted = Object.entries(query as Query).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [reader, version, ctx.language, routeOptions.url, params, sorted];
  return `W/"${hash('sha256', serverKey(ctx.settings) + JSON.stringify(parts), 'base64url').slice(0, 27)}"`;
}

const serverKeys = new WeakMap<Settings, string>();

/** The build and the settings. */
function serverKey(settings: Settings) {
  const key = serverKeys.get(settings) ?? JSON.stringify([buildHash, settings]);
  serverKeys.set(settings, key);
  return key;
}
