import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { Problem } from '../../../core/errors.ts';
import type { Services } from '../../../http/auth/authenticate.ts';
import { sanitizeCached } from '../../../core/sanitize-html.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { loadDescriptions, loadSummaries } from '../../../domains/courses/courses/description-service.ts';
import { findCourse, hasTopics, listCourses, toSchoolContext } from './courses.ts';
import { applyFilter, filterCourses } from './dates/filters.ts';
import { findDatedCourses, getDate } from './dates/service.ts';
import { isHeld, loadOfCourse, loadUpcoming, selectComing } from './dates/upcoming.ts';
import { JsonLd, toCourseList } from './feeds/json-ld.tsx';
import { cachedPage } from './cached-page.ts';
import { acceptsInterests } from './interests/switch.ts';
import { isAt, readId, type ItemRoute } from './item-route.ts';
import { pageSize, readSearch } from './query.ts';
import { sendPage } from '../send-page.tsx';
import { Course } from './views/course.tsx';
import { DatePage } from './views/date.tsx';
import { Start } from './views/start.tsx';

/** The courses that the start page describes to search engines. */
const maxListedCourses = 100;

/** The read-only pages: start, course and date. Cache misses are counted by address. */
export const pages: FastifyPluginAsync<Services> = async (app, services) => {
  const cached = cachedPage(services, { weight: 1 });

  app.get('/', {
    ...cachedPage(services, { readParameters: readSearch }),
    handler: async (request, reply) => {
      const { view } = request.catalog;
      const ctx = listRoute.toCtx(request);
      const { page: requestedPage = '1', ...filter } = readSearch(request.query);
      const isKnown = await hasTopics(ctx, filter);
      const [all, courses, coming] = isKnown
        ? await Promise.all([loadUpcoming(ctx), listCourses(ctx), findDatedCourses(ctx)])
        : [undefined, [], new Set()];
      const found = applyFilter(all ?? [], filter);
      const others = courses.filter(({ id }) => !coming.has(id));
      const last = Math.max(1, Math.ceil(found.length / pageSize));
      const requested = Number(requestedPage);
      const page = Math.min(requested, last);
      const props = { view, all, found, others: page > 1 ? [] : filterCourses(others, filter), filter, page, pageSize };
      if (Object.keys(filter).length > 0 || requested > 1) return sendPage(reply, 200, <Start {...props} />);
      const description = await sanitizeCached(view.school.description);
      const listed = courses
        .filter(({ id }) => coming.has(id))
        .concat(others)
        .slice(0, maxListedCourses);
      const ids = listed.map(({ id }) => id);
      const summaries = await loadSummaries(toSchoolContext(ctx), ids);
      const head = <JsonLd data={toCourseList(view, listed, summaries)} />;
      return sendPage(reply, 200, <Start {...props} first={{ description, head }} />);
    },
  });

  app.get<ItemRoute>('/courses/:item', {
    ...cached,
    handler: async (request, reply) => {
      const { view } = request.catalog;
      const ctx = listRoute.toCtx(request);
      const course = Problem.assertFound(await findCourse(ctx, readId(request)), 'Course');
      const path = view.paths.course(course);
      if (!isAt(request, path)) return redirect(reply, path);
      const [dates, descriptions] = await Promise.all([
        loadOfCourse(ctx, course.id),
        loadDescriptions(toSchoolContext(ctx), course.id),
      ]);
      const own = dates.filter(isHeld);
      const isAwaited = own.length === 0 && (await acceptsInterests(ctx, view));
      return sendPage(reply, 200, <Course {...{ view, course, dates: own, descriptions, isAwaited }} />);
    },
  });

  app.get<ItemRoute>('/dates/:item', {
    ...cached,
    handler: async (request, reply) => {
      const { view } = request.catalog;
      const ctx = listRoute.toCtx(request);
      const date = await getDate(ctx, readId(request));
      const path = view.paths.date(date);
      if (!isAt(request, path)) return redirect(reply, path);
      const descriptions = await loadDescriptions(toSchoolContext(ctx), date.courseId);
      const isComing = (await selectComing(ctx, [date])).length > 0;
      return sendPage(reply, 200, <DatePage {...{ view, date, descriptions, isComing }} />);
    },
  });
};

const redirect = (reply: FastifyReply, path: string) => reply.removeHeader('etag').redirect(path, 301);
