import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { Problem } from '../../core/errors.ts';
import * as t from '../../core/schema/types.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses, send } from '../../http/responses.ts';
import { courseUserList } from './list.ts';
import { getCourseUser, searchCourseUsers } from './service.ts';

export const courseUserRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/:id',
    {
      schema: {
        operationId: 'getCourseUser',
        summary: 'Get a course user',
        description: 'A person who takes part in courses, with addresses and customer.',
        tags: ['People'],
        profiles: ['full', 'read'],
        item: 'Course user',
        params: Type.Object({ id: t.Id }),
        response: responses.ok(courseUserList.View),
      },
    },
    ({ ctx, params }) => getCourseUser(ctx, params.id),
  );
};

export const searchUserRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'searchCourseUsers',
        summary: 'Search course users',
        description:
          'At least one of `email`, `firstname`, `lastname` and `username` is required; all given must match.',
        tags: ['People'],
        profiles: ['full', 'read'],
        querystring: courseUserList.Query,
        invalidSamples: {
          missing: new Problem('invalid', 'Missing field(s): email, firstname, lastname or username'),
        },
        response: responses.ok(Type.Array(courseUserList.View)),
      },
      ...listRoute.cached(courseUserList.readAreas),
    },
    async (request, reply) =>
      send.items(request, reply, await searchCourseUsers(listRoute.toCtx(request), request.query)),
  );
};
