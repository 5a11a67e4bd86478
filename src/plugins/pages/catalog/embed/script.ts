import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../../../../core/settings.ts';
import { compressOnce, sendContent } from '../../../../http/compression/static-content.ts';

/** Headers of what pages of other sites load. */
export const openHeaders = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

const source = readFileSync(join(import.meta.dirname, 'course-dates.js'), 'utf8');

/** Its name stays, since pages of other sites have it. */
const headers = { type: 'text/javascript; charset=utf-8', cacheControl: 'public, max-age=3600' };

/** Serves the script of `<course-dates>`, which has the address of the catalogs. */
export function serveEmbed(app: FastifyInstance, { publicUrl }: Settings) {
  const content = compressOnce(source.replace(`'{catalogs}'`, () => JSON.stringify(`${publicUrl}/catalog/`)));
  app.get('/course-dates.js', { config: { isOnEveryHost: true } }, (request, reply) =>
    sendContent(request, reply.headers({ ...openHeaders, vary: 'Accept-Encoding' }), content, headers),
  );
}
