import type { FastifyPluginAsync } from 'fastify';
import { toCalendar } from '../../core/calendar.ts';
import { compressOnce, sendContent } from '../../http/compression/static-content.ts';
import { findFeed } from '../../resources/calendar-feeds/service.ts';
import { listCalendarPlaces } from './courses.ts';
import type { PageServices } from './page-context.ts';
import { loadSchool } from './people.ts';

type FileRoute = { Params: { file: string } };

/** How often programs should look for changes. */
const refreshSeconds = 3_600;
/** Programs keep a copy, and ask whether it is current. */
const headers = { type: 'text/calendar; charset=utf-8', cacheControl: 'private, no-cache' };

/** The calendar of a person for programs that subscribe to it, which have no session. */
export const calendarFeed: FastifyPluginAsync<PageServices> = async (app, { queryable, createVisitorContext }) => {
  app.get<FileRoute>('/calendar/:file', async (request, reply) => {
    const { courses, calendarGone } = request.view.texts;
    const [, token] = /^(.+)\.ics$/.exec(request.params.file) ?? [];
    const owner = token === undefined ? undefined : await findFeed(queryable, token);
    if (owner === undefined) return reply.code(404).type('text/plain; charset=utf-8').send(`${calendarGone}\n`);

    const ctx = await createVisitorContext(request, owner);
    const { providerId, settings } = ctx;
    const name = `${courses} – ${(await loadSchool(ctx)).title}`;
    const options = { providerId, publicUrl: settings.publicUrl, name, refreshSeconds };
    const calendar = toCalendar(await listCalendarPlaces(ctx, owner.userId), options);
    reply.header('vary', 'Accept-Encoding, Accept-Language');
    return sendContent(request, reply, compressOnce(calendar), headers);
  });
};
