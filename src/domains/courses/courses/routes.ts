import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { itemRoutes } from '../../../http/item-routes.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { CourseBody, CourseChange, inputAliases } from './fields.ts';
import { courseItem, courseList } from './list.ts';
import { CourseReference, Duration, toDurations } from './schema.ts';
import { courseReferences, createCourse, updateCourse, getCourse } from './service.ts';

const tags = ['Courses'];
const courseIncludes = ['products', 'provider'];
const publicCourses = {
  parameters: [
    ...['limit', 'page', 'since_id', 'paginate', 'updated_at_min', 'updated_at_max', 'description_language'],
    ...['tag_ids', 'tag_match', 'order_by', 'order_direction'],
  ],
  includes: courseIncludes,
};
const publicCourse = { parameters: ['description_language'], includes: courseIncludes };

export const courseRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listCourses',
      summary: 'List courses',
      description: 'An array, or with `paginate=true` the envelope with `pagination` and `items`.',
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: publicCourses,
      forbidden: courseList.forbidden,
      querystring: courseList.Query,
      response: responses.ok(responses.listOrEnvelope('CourseList', courseList.View)),
    },
    ...listRoute.cached(courseList.readAreas),
    handler: async (request, reply) => {
      const { paginate = false } = request.query;
      const page = await courseList.page(listRoute.toCtx(request), request.query, { withTotal: paginate });
      return paginate ? send.envelope(request, reply, page) : send.items(request, reply, page);
    },
  });

  app.post('', {
    schema: {
      operationId: 'createCourse',
      summary: 'Create a course',
      description: 'An active course with an equal title is an error. Staff assign categories later.',
      tags,
      profiles: ['full'],
      body: CourseBody,
      response: responses.created(CourseReference),
    },
    config: { idempotency: {}, references: courseReferences },
    handler: async ({ ctx, body }, reply) => {
      const id = await createCourse(ctx, body);
      return reply.created(id, { course_id: id });
    },
  });

  itemRoutes(app, 'Course', tags, courseItem.View).get(getCourse, {
    operationId: 'getCourse',
    summary: 'Get a course',
    description: "A course of the school's own, or a partner's with `include_partners` or `partner_id`.",
    profiles: ['full', 'read', 'booking', 'publishable'],
    publicQuery: publicCourse,
    forbidden: courseItem.forbidden,
    querystring: courseItem.Query,
  });

  itemRoutes(app, 'Course', tags, CourseReference).put(
    async (ctx, id, body) => ({ course_id: await updateCourse(ctx, id, body) }),
    {
      operationId: 'updateCourse',
      summary: 'Update a course',
      description: 'Only the fields sent change, of the main product too. An equal title is an error here too.',
      body: CourseChange,
      config: { inputAliases, references: courseReferences },
    },
  );
};

export const durationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listDurationUnits',
      summary: 'List duration units',
      description: 'The units of the durations of courses.',
      tags: ['Courses'],
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: { parameters: [] },
      response: responses.ok(Type.Array(Duration)),
    },
    ...listRoute.cached(() => []),
    handler: async (request) => toDurations(listRoute.toCtx(request)),
  });
};
