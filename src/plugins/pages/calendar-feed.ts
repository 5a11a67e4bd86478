import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { toPersonalCalendar } from '../../core/calendar.ts';
import { chargeAddress } from '../../http/auth/address-limit.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { findFeed, type Feed } from '../../resources/calendar-feeds/service.ts';
import { listCalendarPlaces } from './courses.ts';
import type { PageServices } from './page-context.ts';
import { loadSchool } from './people.ts';

type FileRoute = { Params: { file: string } };
declare module 'fastify' {
  interface FastifyRequest {
    /** Set for a personal calendar. */
    feed: Feed;
  }
}

/** How often programs should look for changes. */
const refreshSeconds = 3_600;
const type = 'text/calendar; charset=utf-8';
/** Of a calendar that is not in memory, beside the request itself. */
const cost = 4;

/** The calendar of a person for programs that subscribe to it, which have no session. */
export const calendarFeed: FastifyPluginAsync<PageServices> = async (app, services) => {
  const { queryable, createVisitorContext, countRequest } = services;
  app.decorateRequest('feed');

  async function openFeed(request: FastifyRequest, reply: FastifyReply) {
    const [, token] = /^(.+)\.ics$/.exec((request.params as FileRoute['Params']).file) ?? [];
    const feed = token === undefined ? undefined : await findFeed(queryable, token);
    if (feed === undefined) {
      const text = `${request.view.texts.calendarGone}\n`;
      return reply.code(404).type('text/plain; charset=utf-8').send(text);
    }
    request.feed = feed;
    request.ctx = { ...(await createVisitorContext(request, feed)), versions: feed };
    // Programs keep a copy, and ask whether it is current.
    reply.header('cache-control', 'private, no-cache').header('vary', 'Accept-Encoding, Accept-Language');
    return undefined;
  }

  app.get<FileRoute>('/calendar/:file', {
    ...listRoute.document({
      areas: ['catalog', 'dates', 'people'],
      identify: ({ feed: { userId, day } }) => [userId, day],
      charge: chargeAddress(countRequest, cost),
    }),
    preParsing: openFeed,
    handler: async (request, reply) => {
      const ctx = listRoute.toCtx(request);
      const { providerId, settings } = ctx;
      const name = `${request.view.texts.courses} – ${(await loadSchool(ctx)).title}`;
      const options = { providerId, publicUrl: settings.publicUrl, name, refreshSeconds };
      const places = await listCalendarPlaces(ctx, request.feed.userId);
      return reply.type(type).send(await toPersonalCalendar(places, options));
    },
  });
};
