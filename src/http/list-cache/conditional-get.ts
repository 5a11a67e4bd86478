import { createHash, hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../core/context.ts';
import { serveFromCache, withPageHints, cachedEtag } from './response-cache.ts';

type Query = Record<string, unknown>;

/**
 * The answer to a list depends on the provider's data, what all share, the build, the settings, the language and the
 * question: a hash of these is its ETag, known before any data is read. Anything with partners depends on more, and so
 * does a question of which `dependsOnMore` says so, such as one with the clock in it.
 */
export const handleConditionalGet =
  (dependsOnMore: (query: Query) => boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
    const query = request.query as Query;
    if (query['include_partners'] || query['partner_id'] !== undefined) return;
    const { ctx, dataVersion, routeOptions, server } = request;
    // Neither how many there are nor where a page ends depends on what is embedded.
    if (!dependsOnMore({ ...query, include: undefined })) {
      ctx.pageHints = withPageHints(server.known, `${ctx.providerId} ${dataVersion} ${routeOptions.url}`);
    }
    if (dependsOnMore(query)) return;
    // The address too: it may hold ignored parameters, which the link to the next page repeats.
    const name = `${ctx.providerId} ${dataVersion} ${ctx.language} ${request.url}`;
    const tag = cachedEtag(server.stored, name) ?? toEtag(request);
    reply.header('etag', tag);
    const input = request.headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^(W\/)?/, 'W/'));
    if (input?.includes(tag)) return reply.code(304).send();
    return serveFromCache(request, reply, name);
  };

function toEtag({ ctx, dataVersion, routeOptions, params, query }: FastifyRequest) {
  const queryKey = Object.entries(query as Query).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [ctx.providerId, dataVersion, ctx.language, routeOptions.url, params, queryKey];
  return `W/"${hash('sha256', sameIn(ctx.settings) + JSON.stringify(parts), 'base64url').slice(0, 27)}"`;
}

/** What two answers can only be the same in: the build and the settings. */
function sameIn(settings: Settings) {
  let same = builds.get(settings);
  if (same === undefined) builds.set(settings, (same = JSON.stringify([build, settings])));
  return same;
}
const builds = new WeakMap<Settings, string>();

/** Names this build: another one may word the same data differently. */
const build = hashOfFiles(join(import.meta.dirname, '..'));

function hashOfFiles(folder: string) {
  const all = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/.test(name));
  for (const name of files.sort()) all.update(name).update(readFileSync(join(folder, name)));
  return all.digest('base64url');
}
