import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { courseItem, courseList } from './list.ts';
import { getCourse } from './query-service.ts';

const tags = ['Courses'];
const params = Type.Object({ id: t.Id });
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
};

export const courseItemRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'getCourse',
      summary: 'Get a course',
      description: "A course of the school's own, or a partner's with `include_partners` or `partner_id`.",
      tags,
      profiles: ['full', 'read', 'booking', 'publishable'],
      publicQuery: publicCourse,
      forbidden: courseItem.forbidden,
      item: 'Course',
      params,
      querystring: courseItem.Query,
      response: responses.ok(courseItem.View),
    },
    handler: ({ ctx, params, query }) => getCourse(ctx, params.id, query),
  });
};
