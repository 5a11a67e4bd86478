import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { maxEvents, toCalendarFeed, type PublicCalendarDate } from '../../../../core/calendar.ts';
import { venueLines } from '../../../../core/address-format.ts';
import { Problem } from '../../../../core/errors.ts';
import { toUidHost } from '../../../../core/settings.ts';
import { formatTimestamp } from '../../../../core/timestamps.ts';
import { toInstant } from '../../../../core/zoned-time.ts';
import type { Services } from '../../../../http/auth/authenticate.ts';
import { getSchoolId } from '../../../../database/context.ts';
import { listRoute } from '../../../../http/list-cache/index.ts';
import { withNextGatherings, type DateWithGatherings } from '../../../../domains/courses/gatherings/loaders.ts';
import { findCourse, hasTopics, toSchoolContext } from '../courses.ts';
import { applyFilter } from '../dates/filters.ts';
import type { CatalogDate } from '../dates/model.ts';
import { getDate } from '../dates/service.ts';
import { loadCanceled, loadOfCourse, loadUpcoming } from '../dates/upcoming.ts';
import { cachedPage } from '../cached-page.ts';
import { findId, readId, type ItemRoute } from '../item-route.ts';
import { readTopic } from '../query.ts';
import type { View } from '../view.ts';

/** How often programs should look for changes. */
const refreshSeconds = 3_600;
/** The earliest ones; a course or a topic has a calendar of its own. */
const maxDates = 500;

/** The coming dates of a school, a course or a topic as iCalendar, canceled ones too, and a single date. */
export const calendars: FastifyPluginAsync<Services> = async (app, services) => {
  const cached = cachedPage(services, { toItem: findId });

  app.get('/calendar.ics', {
    ...cachedPage(services, { readParameters: readTopic }),
    handler: async (request, reply) => {
      const topic = readTopic(request.query);
      const isKnown = await hasTopics(listRoute.toCtx(request), topic);
      const dates = isKnown ? applyFilter(await loadAll(request), topic) : [];
      return sendCalendar(request, reply, dates, request.catalog.view.school.title);
    },
  });

  app.get<ItemRoute>('/courses/:item/calendar.ics', {
    ...cached,
    handler: async (request, reply) => {
      const ctx = listRoute.toCtx(request);
      const course = Problem.assertFound(await findCourse(ctx, readId(request)), 'Course');
      const dates = await loadOfCourse(ctx, course.id);
      return sendCalendar(request, reply, dates, `${course.title} – ${request.catalog.view.school.title}`);
    },
  });

  app.get<ItemRoute>('/dates/:item/calendar.ics', {
    ...cached,
    handler: async (request, reply) => {
      const date = await getDate(listRoute.toCtx(request), readId(request));
      reply.header('content-disposition', 'attachment; filename="course.ics"');
      return sendCalendar(request, reply, [date], date.title);
    },
  });
};

async function loadAll(request: FastifyRequest) {
  const ctx = listRoute.toCtx(request);
  const [upcoming, canceled] = await Promise.all([loadUpcoming(ctx), loadCanceled(ctx)]);
  return [...upcoming, ...canceled].sort((a, b) => a.startAt.localeCompare(b.startAt) || a.id - b.id);
}

async function sendCalendar(request: FastifyRequest, reply: FastifyReply, dates: CatalogDate[], name: string) {
  const { view } = request.catalog;
  const ctx = listRoute.toCtx(request);
  const options = {
    providerId: getSchoolId(ctx),
    uidHost: toUidHost(view.school.uidHost, ctx.settings),
    name,
    refreshSeconds,
  };
  const shown = dates.slice(0, maxDates).map((date) => ({ ...date, courseDateId: date.id }));
  const events = await withNextGatherings(toSchoolContext(ctx), shown, maxEvents);
  const all = events.map((date) => toCalendarDate(view, date));
  return reply.type('text/calendar; charset=utf-8').send(await toCalendarFeed(all, options));
}

/** The meeting's link is for participants alone. */
function toCalendarDate({ texts, urls, school }: View, date: DateWithGatherings<CatalogDate>): PublicCalendarDate {
  const { startAt, endAt, startTimeAt, endTimeAt, zone, placeTitle, isOnline } = date;
  // An event has values of its course and places too.
  const changedAtMs = Math.max(...[school.catalog, school.dates].map((at) => Date.parse(formatTimestamp(at))));
  const hasPlace = venueLines({ ...date, placeAdditionalInfo: null }).length > 0;
  return {
    ...date,
    placeTitle: hasPlace || !isOnline ? placeTitle : texts.online,
    startsAtMs: toInstant(`${startAt} ${startTimeAt ?? '00:00:00'}`, zone),
    endsAtMs: toInstant(`${endAt} ${endTimeAt ?? '23:59:59'}`, zone),
    updatedAtMs: changedAtMs,
    gatherings: date.gatherings.map((gathering) => ({ ...gathering, eventUrl: null })),
    pageUrl: urls.date(date),
  };
}
