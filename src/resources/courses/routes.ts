import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { t } from '../../core/schema/types.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses, send } from '../../http/responses.ts';
import { CourseBody, CourseChange } from './body-schema.ts';
import { memberNames } from './schema.ts';
import { courseItem, courseList } from './list.ts';
import { getCourse, listCourses } from './query-service.ts';
import { courseReferences, createCourse, deleteCourse, updateCourse } from './service.ts';

const tags = ['Courses'];
const params = Type.Object({ id: t.Id });
const courseIncludes = ['products', 'provider'];
const courseItemIncludes = [...courseIncludes, 'labels'];
const publicCourses = {
  parameters: [
    ...['limit', 'page', 'since_id', 'paginate', 'updated_at_min', 'updated_at_max', 'description_language'],
    ...['tag_ids', 'tag_match'],
  ],
  includes: courseIncludes,
};
const publicCourse = { parameters: ['description_language'], includes: courseIncludes };
const CourseId = t.NamedObject('CourseReference', { course_id: Type.Integer() });

const textInputs: Record<string, string> = Object.fromEntries(
  memberNames.map((name) => [`descriptions.${name}`, `text_${name === 'hotelInfo' ? 'hotel_info' : name}`]),
);
const readBack = {
  read: (ctx: Ctx, { id }: { id: number }) => courseItem.byId(ctx, id, { include: courseItemIncludes }),
  inputs: {
    is_active: 'active',
    level: 'level',
    form_of_teaching: 'form_of_teaching',
    teaching_language: 'teaching_language',
    time_of_day: 'time_of_day',
    'duration.value': 'duration_value',
    'duration.code': 'duration_unit',
    'duration.unit': 'duration_unit',
    'price.value': 'price_value',
    'price.currency': 'price_currency',
    'price.comment': 'price_comment',
    'lead_settings.email_booking': 'email_booking',
    'lead_settings.email_more_info': 'email_more_info',
    ...textInputs,
  },
};

export const courseRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listCourses',
        summary: 'List courses',
        description: 'An array, or with `paginate=true` the envelope with `pagination` and `items`.',
        tags,
        profiles: ['full', 'read', 'booking', 'publishable'],
        publicQuery: publicCourses,
        querystring: courseList.Query,
        response: responses.ok(responses.listOrEnvelope(courseList.View)),
      },
      ...listRoute.cached(courseList.readAreas),
    },
    async (request, reply) => {
      const page = await listCourses(listRoute.toCtx(request), request.query);
      return request.query.paginate ? send.envelope(request, reply, page) : send.items(request, reply, page);
    },
  );

  app.post(
    '',
    {
      schema: {
        operationId: 'createCourse',
        summary: 'Create a course',
        description: 'An active course with an equal title is an error. Staff assign categories later.',
        tags,
        profiles: ['full'],
        body: CourseBody,
        response: responses.created(CourseId),
      },
      config: { references: courseReferences },
    },
    async ({ ctx, body }, reply) => reply.code(201).send({ course_id: await createCourse(ctx, body) }),
  );

  app.get(
    '/:id',
    {
      schema: {
        operationId: 'getCourse',
        summary: 'Get a course',
        description: "A course of the school's own, or a partner's with `include_partners` or `partner_id`.",
        tags,
        profiles: ['full', 'read', 'booking', 'publishable'],
        publicQuery: publicCourse,
        item: 'Course',
        params,
        querystring: courseItem.Query,
        response: responses.ok(courseItem.View),
      },
    },
    ({ ctx, params, query }) => getCourse(ctx, params.id, query),
  );

  app.put(
    '/:id',
    {
      schema: {
        operationId: 'updateCourse',
        summary: 'Update a course',
        description: 'Only the fields sent change, of the main product too. An equal title is an error here too.',
        tags,
        profiles: ['full'],
        item: 'Course',
        params,
        body: CourseChange,
        response: responses.ok(CourseId),
      },
      config: { readBack, references: courseReferences },
    },
    async ({ ctx, params, body }) => ({ course_id: await updateCourse(ctx, params.id, body) }),
  );

  app.delete(
    '/:id',
    {
      schema: {
        operationId: 'deleteCourse',
        summary: 'Delete a course',
        description: 'Its dates without participants are deleted too. Refused while an upcoming date has participants.',
        tags,
        profiles: ['full'],
        item: 'Course',
        params,
        response: responses.ok(CourseId),
      },
    },
    async ({ ctx, params }) => ({ course_id: await deleteCourse(ctx, params.id) }),
  );
};
