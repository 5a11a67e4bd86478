import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { limitByAddress } from '../../http/auth/address-limit.ts';
import type { Services } from '../../http/auth/authenticate.ts';
import { sanitizeCached } from '../../core/sanitize-html.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { loadDescriptions, loadSummaries } from '../../resources/course-descriptions/service.ts';
import { findCourse, listCourses, schoolOf } from './courses.ts';
import { applyFilter, readFilter } from './dates/filters.ts';
import { getDate } from './dates/service.ts';
import { loadUpcoming, selectComing } from './dates/upcoming.ts';
import { JsonLd, toCourseList } from './feeds/json-ld.tsx';
import { sendPage } from './send-page.tsx';
import { Course } from './views/course.tsx';
import { DatePage } from './views/date.tsx';
import { Start } from './views/start.tsx';

export type ItemRoute = { Params: { item: string } };

const pageSize = 400;
/** The courses that the start page describes to search engines. */
const maxListedCourses = 100;

/** Kept in memory until the school's data change, as lists are. */
export const cachedPage = listRoute.cached(() => ['catalog', 'dates']);

/** The pages that only show: start, course and date. Requests that are not answered from memory are counted by address. */
export const pages: FastifyPluginAsync<Services> = async (app, { countRequest }) => {
  const limit = limitByAddress(countRequest);

  app.get('/', {
    ...cachedPage,
    handler: async (request, reply) => {
      await limit(request);
      const { ctx, view } = request.catalog;
      const query = request.query as Record<string, unknown>;
      const filter = readFilter(query);
      const [all, courses] = await Promise.all([loadUpcoming(ctx), listCourses(ctx)]);
      const coming = new Set(all.map(({ courseId }) => courseId));
      const found = applyFilter(all, filter);
      const others = courses.filter(({ id }) => !coming.has(id));
      const page = Math.max(1, Math.min(Number.parseInt(String(query['page']), 10) || 1, 1_000));
      const description = await sanitizeCached(view.school.description);
      const listed = courses
        .filter(({ id }) => coming.has(id))
        .concat(others)
        .slice(0, maxListedCourses);
      const summaries = await loadSummaries(
        schoolOf(ctx),
        listed.map(({ id }) => id),
      );
      const head = <JsonLd data={toCourseList(view, listed, summaries)} />;
      const props = { view, all, found, filter, page, pageSize, others, description, head };
      return sendPage(reply, 200, <Start {...props} />);
    },
  });

  app.get<ItemRoute>('/courses/:item', {
    ...cachedPage,
    handler: async (request, reply) => {
      await limit(request);
      const { ctx, view } = request.catalog;
      const course = Problem.assertFound(await findCourse(ctx, readId(request)), 'Course');
      const path = view.paths.course(course);
      if (!isAt(request, path)) return redirect(reply, path);
      const [dates, descriptions] = await Promise.all([loadUpcoming(ctx), loadDescriptions(schoolOf(ctx), course.id)]);
      const own = dates.filter(({ courseId }) => courseId === course.id);
      return sendPage(reply, 200, <Course {...{ view, course, dates: own, descriptions }} />);
    },
  });

  app.get<ItemRoute>('/dates/:item', {
    ...cachedPage,
    handler: async (request, reply) => {
      await limit(request);
      const { ctx, view } = request.catalog;
      const date = await getDate(ctx, readId(request));
      const path = view.paths.date(date);
      if (!isAt(request, path)) return redirect(reply, path);
      const descriptions = await loadDescriptions(schoolOf(ctx), date.courseId);
      const isComing = (await selectComing(ctx, [date])).length > 0;
      return sendPage(reply, 200, <DatePage {...{ view, date, descriptions, isComing }} />);
    },
  });
};

/** The id at the end of `<slug>-<id>`; throws not_found without one. */
export function readId({ params }: FastifyRequest<ItemRoute>): number {
  const [, id] = /(?:^|-)(\d{1,15})$/.exec(params.item) ?? [];
  if (id === undefined) throw Problem.notFound('Page');
  return Number(id);
}

const toPathname = (url: string) => new URL(url, 'http://localhost').pathname;

/** False for another slug, or other upper case; a path that a proxy has stripped is no difference. */
export const isAt = ({ url }: Pick<FastifyRequest, 'url'>, path: string) => toPathname(path).endsWith(toPathname(url));

const redirect = (reply: FastifyReply, path: string) => reply.removeHeader('etag').redirect(path, 301);
