import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { toCalendarFeed } from '../../../core/calendar.ts';
import { toUidHost } from '../../../core/settings.ts';
import { limitByAddress } from '../../../http/auth/address-limit.ts';
import type { Ctx } from '../../../database/context.ts';
import { createVersionedCache } from '../../../database/versioned-cache.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { findFeed, type Feed } from './feeds.ts';
import { listCalendarPlaces } from './courses.ts';
import type { PageServices } from './page-context.ts';
import { loadSchool } from './people.ts';
import type { Texts } from '../texts.ts';

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
/** Requests of one calendar: calendar services read those of many persons from one address. */
const requestsPerMinute = 30;

const areas = ['catalog', 'dates', 'people'] as const;
const calendars = createVersionedCache<string>(8_000_000, areas);

const toFile = ({ params }: FastifyRequest) => (params as FileRoute['Params']).file;

/** The calendar of a person for programs that subscribe to it, which have no session. */
export const calendarFeed: FastifyPluginAsync<PageServices> = async (app, services) => {
  const { unlockedStore, createVisitorContext, countRequest } = services;
  const known = new LRUCache<string, true>({ max: 10_000 });
  const countKnown = app.createRateLimit({ max: requestsPerMinute, timeWindow: '1 minute', keyGenerator: toFile });
  const [limitUnknown, limitKnown] = [limitByAddress(countRequest), limitByAddress(countKnown)];
  app.decorateRequest('feed');

  async function openFeed(request: FastifyRequest, reply: FastifyReply) {
    const file = toFile(request);
    await (known.has(file) ? limitKnown : limitUnknown)(request);
    const [, token] = /^(.+)\.ics$/.exec(file) ?? [];
    const feed = token === undefined ? undefined : await findFeed(unlockedStore, token);
    if (feed === undefined) {
      known.delete(file);
      const text = `${request.view.texts.calendarGone}\n`;
      return reply.code(404).type('text/plain; charset=utf-8').send(text);
    }
    known.set(file, true);
    request.feed = feed;
    request.ctx = { ...(await createVisitorContext(request, feed)), versions: feed };
    // Programs keep a copy, and ask whether it is current.
    reply.header('cache-control', 'private, no-cache').header('vary', 'Accept-Encoding, Accept-Language');
    return undefined;
  }

  const conditional = listRoute.conditional(
    () => areas,
    ({ feed: { userId, day } }) => [userId, day],
  );
  app.get<FileRoute>('/calendar/:file', {
    ...conditional,
    config: { ...conditional.config, hasOwnLimit: true },
    preParsing: openFeed,
    handler: async (request, reply) => {
      const ctx = listRoute.toCtx(request);
      const { userId, day } = request.feed;
      const content = await calendars(ctx, `${userId} ${day}`, () => writeCalendar(ctx, userId, request.view.texts));
      return reply.type(type).send(content);
    },
  });
};

async function writeCalendar(ctx: Ctx, userId: number, texts: Texts) {
  const { providerId, settings } = ctx;
  const { title, uidHost } = await loadSchool(ctx);
  const name = `${texts.courses} – ${title}`;
  const options = { providerId, uidHost: toUidHost(uidHost, settings), name, refreshSeconds };
  return toCalendarFeed(await listCalendarPlaces(ctx, userId), options);
}
