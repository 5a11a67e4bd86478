import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { batchCourseDateList, courseDateList, datesOfCourseList, nextCourseDateList } from './list.ts';
import { getCourseDate, listDatesOfCourse } from './query-service.ts';

const tags = ['Course dates'];
const CourseParams = Type.Object({ course_id: t.Id });
const CourseDateParams = Type.Object({ course_id: t.Id, id: { ...t.Id, description: 'Id of the course date' } });
const CourseDates = responses.envelope('CourseDateList', courseDateList.View);

const includes = [
  ...['course', 'course.products', 'location', 'gatherings', 'place', 'teaching_language', 'status', 'instructors'],
  ...['subinstances', 'bundle', 'provider', 'bookable'],
];
const publicFilters = [
  ...['limit', 'page', 'since_id', 'updated_at_min', 'updated_at_max', 'tag_ids', 'tag_match', 'order_by'],
  ...['order_direction', 'start_date_at_min', 'start_date_at_max', 'end_date_at_min', 'end_date_at_max'],
  ...['course_id', 'coursedate_id', 'status_id'],
];
const publicDates = { parameters: publicFilters, includes };
const publicList = { parameters: [...publicFilters, 'format', 'delimiter', 'spreadsheet'], includes };
const publicBatch = { parameters: ['course_ids', ...publicFilters], includes };
const publicCalendar = { parameters: ['limit', 'page', 'tag_ids', 'tag_match'], includes };
const publicDate = { parameters: [], includes };

/** True for queries with `now`, and with `bookable` or gatherings, which show `is_future`. */
const dependsOnClock = ({ include, ...query }: Record<string, unknown>) =>
  (Array.isArray(include) && include.some((name) => name === 'gatherings' || name === 'bookable')) ||
  ['start_date_at_min', 'start_date_at_max', 'end_date_at_min', 'end_date_at_max'].some(
    (name) => query[name] === 'now',
  );

export const courseDateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listCourseDates',
      summary: 'List course dates',
      description: 'Always the envelope with `pagination` and `items`.',
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: publicList,
      forbidden: courseDateList.forbidden,
      querystring: courseDateList.Query,
      response: responses.ok(CourseDates),
    },
    ...listRoute.cached(courseDateList.readAreas, dependsOnClock, courseDateList),
    handler: async (request, reply) => {
      const page = await courseDateList.page(listRoute.toCtx(request), request.query, { withTotal: true });
      return send.envelope(request, reply, page);
    },
  });
};

export const nextCourseDateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listNextCourseDates',
      summary: 'List the next course dates',
      description:
        'Sorted by start, from today on: visible dates, not canceled, of an active course. `course`, ' +
        '`location`, `place`, `gatherings`, `teaching_language` and `status` are always embedded.',
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: publicCalendar,
      forbidden: nextCourseDateList.forbidden,
      querystring: nextCourseDateList.Query,
      response: responses.ok(Type.Array(nextCourseDateList.View)),
    },
    ...listRoute.limited,
    handler: async (request, reply) =>
      send.items(request, reply, await nextCourseDateList.page(request.ctx, request.query)),
  });
};

export const datesOfCourseRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listDatesOfCourse',
      summary: 'List the dates of a course',
      description:
        'An array. `course`, `location`, `place`, `gatherings`, `teaching_language` and `status` are ' +
        'always embedded.',
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: publicDates,
      forbidden: datesOfCourseList.forbidden,
      item: 'Course',
      params: CourseParams,
      querystring: datesOfCourseList.Query,
      response: responses.ok(Type.Array(datesOfCourseList.View)),
    },
    ...listRoute.limited,
    handler: async (request, reply) =>
      send.items(request, reply, await listDatesOfCourse(request.ctx, request.params.course_id, request.query)),
  });

  app.get('/:id', {
    schema: {
      operationId: 'getCourseDate',
      summary: 'Get a course date',
      description: "A date of one of the school's own courses.",
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: publicDate,
      item: 'Course',
      params: CourseDateParams,
      querystring: courseDateList.ItemQuery,
      response: responses.ok(courseDateList.View),
    },
    handler: ({ ctx, params, query }) => getCourseDate(ctx, params.course_id, params.id, query),
  });
};

export const batchCourseDateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'batchListCourseDates',
      summary: 'List the dates of several courses',
      description: 'The dates of the courses named by `course_ids[]`, in one request.',
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: publicBatch,
      forbidden: batchCourseDateList.forbidden,
      querystring: batchCourseDateList.Query,
      response: responses.ok(Type.Array(batchCourseDateList.View)),
    },
    ...listRoute.cached(batchCourseDateList.readAreas, dependsOnClock),
    handler: async (request, reply) =>
      send.items(request, reply, await batchCourseDateList.page(listRoute.toCtx(request), request.query)),
  });
};
