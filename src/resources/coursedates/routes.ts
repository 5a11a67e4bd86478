import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { Id } from '../../schema/types.ts';
import {
  answers,
  created,
  Envelope,
  inTurn,
  revalidatedUnless,
  sendEnvelope,
  sendItems,
} from '../../http/responses.ts';
import { withBodyFaults } from '../../http/parsing/body-errors.ts';
import { CourseDateBody, CourseDateChange } from './body-schema.ts';
import { batchCourseDateList, courseDateList, datesOfCourseList, nextCourseDateList } from './list.ts';
import { CourseDateWritten } from './schema.ts';
import {
  courseDateFaults,
  createCourseDate,
  deleteCourseDate,
  getCourseDate,
  listCourseDates,
  listCourseDatesOf,
  listDatesOfCourse,
  listNextCourseDates,
  updateCourseDate,
} from './service.ts';

const tags = ['Course dates'];
const CourseDates = Envelope(courseDateList.View);

/** `now`, and whether a gathering is still to come. */
const dependsOnTheClock = ({ include, ...query }: Record<string, unknown>) =>
  (Array.isArray(include) && include.includes('gatherings')) ||
  ['start_date_at_min', 'start_date_at_max', 'end_date_at_min', 'end_date_at_max'].some(
    (name) => query[name] === 'now',
  );

export const courseDateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List course dates',
        description: 'Always the envelope with `pagination` and `items`.',
        tags,
        querystring: courseDateList.Query,
        response: answers(CourseDates),
      },
      ...revalidatedUnless(dependsOnTheClock),
    },
    async (request, reply) => sendEnvelope(request, reply, await listCourseDates(request.ctx, request.query)),
  );
};

export const nextCourseDateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List the next course dates',
        description:
          'By start, from today on: visible, not canceled, of an active course. Course, location, place, gatherings, ' +
          'teaching language and status are embedded without being asked for.',
        tags,
        querystring: nextCourseDateList.Query,
        response: answers(Type.Array(nextCourseDateList.View)),
      },
      ...inTurn,
    },
    async (request, reply) => sendItems(request, reply, await listNextCourseDates(request.ctx, request.query)),
  );
};

const OfCourse = Type.Object({ course_id: Id });
const OneOfCourse = Type.Object({ course_id: Id, id: Id });

export const datesOfCourseRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List the dates of a course',
        description:
          'An array. Place, location, teaching language, gatherings, course and status are embedded unasked.',
        tags,
        params: OfCourse,
        querystring: datesOfCourseList.Query,
        response: answers(Type.Array(datesOfCourseList.View)),
      },
      ...inTurn,
    },
    async (request, reply) =>
      sendItems(request, reply, await listDatesOfCourse(request.ctx, request.params.course_id, request.query)),
  );

  app.get(
    '/:id',
    {
      schema: {
        summary: 'Read a course date',
        tags,
        params: OneOfCourse,
        querystring: courseDateList.ItemQuery,
        response: answers(courseDateList.View),
      },
    },
    ({ ctx, params, query }) => getCourseDate(ctx, params.course_id, params.id, query),
  );

  app.post(
    '',
    {
      schema: {
        summary: 'Create a course date',
        description: 'It ends after it starts, in its own time zone, and its deadline is not after its end.',
        tags,
        params: OfCourse,
        body: CourseDateBody,
        response: created(CourseDateWritten),
      },
      ...withBodyFaults(courseDateFaults),
    },
    async ({ ctx, params, body }, reply) => reply.code(201).send(await createCourseDate(ctx, params.course_id, body)),
  );

  app.put(
    '/:id',
    {
      schema: {
        summary: 'Update a course date',
        description:
          'Only the fields sent change; `gatherings` replace the ones there were, `custom_properties` merge.',
        tags,
        params: OneOfCourse,
        body: CourseDateChange,
        response: answers(CourseDateWritten),
      },
      ...withBodyFaults(courseDateFaults),
    },
    ({ ctx, params, body }) => updateCourseDate(ctx, params.course_id, params.id, body),
  );

  app.delete(
    '/:id',
    {
      schema: {
        summary: 'Delete a course date',
        description: 'With its children. Refused while participants hold seats.',
        tags,
        params: OneOfCourse,
        response: answers(CourseDateWritten),
      },
    },
    ({ ctx, params }) => deleteCourseDate(ctx, params.course_id, params.id),
  );
};

export const batchCourseDateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List the dates of several courses',
        tags,
        querystring: batchCourseDateList.Query,
        response: answers(Type.Array(batchCourseDateList.View)),
      },
      ...revalidatedUnless(dependsOnTheClock),
    },
    async (request, reply) => sendItems(request, reply, await listCourseDatesOf(request.ctx, request.query)),
  );
};
