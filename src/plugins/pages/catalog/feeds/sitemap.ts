import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '../../../../core/errors.ts';
import { formatTimestamp } from '../../../../core/timestamps.ts';
import type { Ctx } from '../../../../database/context.ts';
import type { Services } from '../../../../http/auth/authenticate.ts';
import { listRoute } from '../../../../http/list-cache/index.ts';
import { listCourses } from '../courses.ts';
import { listComingDates } from '../dates/service.ts';
import { cachedPage } from '../cached-page.ts';
import { createVersionedCache } from '../../../../database/versioned-cache.ts';
import type { View } from '../view.ts';
import { element, toDocument } from './xml.ts';

const maxDates = 30_000;
const urlsPerTurn = 500;

/** A large sitemap would fill the cache of responses. */
const sitemaps = createVersionedCache<Buffer>(16_000_000);

/** The pages that search engines may show: at most 40,001, where a sitemap may have 50,000. */
export const sitemap: FastifyPluginAsync<Services & { isOwnHost: boolean }> = async (app, services) => {
  const cached = cachedPage(services);

  app.get('/sitemap.xml', {
    ...cached,
    handler: async (request, reply) => {
      const { view } = request.catalog;
      const ctx = listRoute.toCtx(request);
      const { school, urls } = view;
      if (!school.isIndexed) throw Problem.notFound('Sitemap');
      const content = await sitemaps(ctx, '', () => writeSitemap(ctx, urls));
      return reply.type('application/xml; charset=utf-8').send(content);
    },
  });

  // Crawlers read it at the root of a host alone.
  if (services.isOwnHost)
    app.get('/robots.txt', ({ catalog: { view } }, reply) =>
      sendRobots(reply, view.school.isIndexed ? [`Sitemap: ${view.urls.start}/sitemap.xml`] : undefined),
    );
};

/** Yields to the event loop. */
async function writeSitemap(ctx: Ctx, urls: View['urls']) {
  const [courses, dates] = await Promise.all([listCourses(ctx), listComingDates(ctx, maxDates)]);
  const pages = [
    () => toUrl(urls.start),
    ...courses.map((course) => () => toUrl(urls.course(course), formatTimestamp(course.updatedAt))),
    ...dates.map((date) => () => toUrl(urls.date(date))),
  ];
  const written: string[] = [];
  for (const toPage of pages) if (written.push(toPage().xml) % urlsPerTurn === 0) await nextTurn();
  const namespace = { xmlns: 'http://www.sitemaps.org/schemas/sitemap/0.9' };
  return Buffer.from(toDocument(element('urlset', namespace, { xml: written.join('') })));
}

/** Bookings change a date, and their times are not public: its page has no time of a change. */
const toUrl = (url: string, changedAt?: string) =>
  element('url', {}, element('loc', {}, url), ...(changedAt === undefined ? [] : [element('lastmod', {}, changedAt)]));

/** Everything may be read, unless `lines` is undefined. */
export const sendRobots = (reply: FastifyReply, lines: string[] | undefined) =>
  reply
    .type('text/plain; charset=utf-8')
    .header('cache-control', 'public, max-age=3600')
    .send(`${['User-agent: *', ...(lines ? ['Allow: /', ...lines] : ['Disallow: /'])].join('\n')}\n`);
