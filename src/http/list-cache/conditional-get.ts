import { hash, createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { getSchoolId, type Ctx, type Versions } from '../../database/context.ts';
import type { Settings } from '../../core/settings.ts';
import type { Area } from '../../database/areas.ts';
import { negotiateEncoding } from '../compression/encodings.ts';
import { getPageHints } from './response-cache.ts';
import { serveFromCache } from './single-flight.ts';
import { projectRoot } from '../../core/project.ts';

/** Hash of the running code, `src` or `dist`, so that a response of one build is never taken for that of another. */
const buildHash = hashFolder(join(projectRoot, relative(projectRoot, import.meta.dirname).split(sep)[0]!));

function hashFolder(folder: string) {
  const all = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/.test(name));
  for (const name of files.sort()) all.update(name).update(readFileSync(join(folder, name)));
  return all.digest('base64url');
}

type Query = Record<string, unknown> & { include?: string[] };

/** Areas that the response to a query depends on, beside the school's own record; undefined for other schools' data. */
export type ReadAreas = (query: { include?: string[] }, isPublishable: boolean) => readonly Area[] | undefined;

/** The parts of the cache key of a document beside its data and language; they replace the URL. */
export type Identify = (request: FastifyRequest) => unknown[];

/**
 * A preHandler that computes a list's ETag before any data is read: a hash of the provider, the versions of the areas
 * that the query reads, the build, the settings, the language and the query. It replies 304 or, unless the list is not
 * stored, from the cache. A list with data of other schools has no ETag.
 */
export const handleConditionalGet =
  (
    readAreas: ReadAreas,
    dependsOnOtherData: (query: Query) => boolean,
    { isStored = true, identify }: { isStored?: boolean; identify?: Identify | undefined } = {},
  ) =>
  (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    const query = request.query as Query;
    const { ctx, server } = request;
    const areas = readAreas(query, ctx.publishableFor !== undefined);
    if (!areas || !ctx.versions) {
      done();
      return;
    }
    const state = `${toReader(ctx, areas)} ${toVersion(ctx.versions, areas)}`;
    const compute = (error?: Error) => {
      // Page hints (totals, cursors) are equal with and without includes.
      if (!error && !dependsOnOtherData({ ...query, include: undefined }))
        request.listCache!.pageHints = getPageHints(server.listCache.pageHints, `${state} ${request.routeOptions.url}`);
      done(error);
    };
    if (dependsOnOtherData(query)) {
      compute();
      return;
    }
    const { version: clock, versions } = ctx;
    request.listCache!.needed = { providerId: getSchoolId(ctx), version: clock, shared: versions.shared };
    const parts = identify?.(request);
    // A list by its URL, not the coerced query: the next page's link repeats ignored parameters.
    const address = parts ? JSON.stringify([request.routeOptions.url, ...parts]) : request.url;
    const cacheKey = `${state} ${ctx.language} ${negotiateEncoding(request.raw)} ${address}`;
    const cached = server.listCache.responses?.get(cacheKey);
    const etag = cached?.headers['etag'] ?? getEtag(request, state, parts);
    reply.header('etag', etag);
    if (matches(request.headers['if-none-match'], etag)) void reply.code(304).send();
    else if (isStored) serveFromCache(request, reply, { cacheKey, cached }, compute);
    else compute();
  };

const matches = (ifNoneMatch: string | undefined, etag: string) =>
  ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^(W\/)?/, 'W/') === etag) ?? false;

/** Replies 304 to `If-None-Match: *`, once the query has turned out to be valid. */
export function matchAnyTag(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
) {
  const isAny = request.headers['if-none-match']?.trim() === '*';
  if (!isAny || reply.statusCode !== 200 || !reply.hasHeader('etag')) {
    done(null, payload);
    return;
  }
  for (const name of ['content-length', 'content-type', 'content-encoding']) reply.removeHeader(name);
  reply.code(304);
  done(null, '');
}

/** Public dates depend on the clock. */
const toReader = ({ providerId, publishableFor }: Ctx, areas: readonly Area[]) =>
  publishableFor ? `public ${publishableFor.id} ${areas.includes('dates') ? publishableFor.quarter : ''}` : providerId;

const toVersion = (versions: Versions, areas: readonly Area[]) =>
  [versions.shared, versions.school, ...areas.map((area) => versions[area])].join(' ');

function getEtag({ ctx, routeOptions, params, query }: FastifyRequest, state: string, document?: unknown[]) {
  const sorted = () => Object.entries(query as Query).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [state, ctx.language, routeOptions.url, ...(document ?? [params, sorted()])];
  return `W/"${hash('sha256', serverKey(ctx.settings) + JSON.stringify(parts), 'base64url').slice(0, 27)}"`;
}

const serverKeys = new WeakMap<Settings, string>();

/** The build and the settings. */
function serverKey(settings: Settings) {
  const key = serverKeys.get(settings) ?? JSON.stringify([buildHash, settings]);
  serverKeys.set(settings, key);
  return key;
}
