import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { courseUserList, courseUserSearch, employeeList } from './list.ts';
import { getCourseUser, listEmployees, missingKeyword, searchCourseUsers } from './service.ts';

const tags = ['People'];
const params = Type.Object({ id: t.Id });
export const courseUserRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(app, courseUserList, {
    operationId: 'listCourseUsers',
    summary: 'List course users',
    description: 'An array, with the customer of each.',
    tags,
    profiles: ['full', 'read'],
  });

  app.get('/:id', {
    schema: {
      operationId: 'getCourseUser',
      summary: 'Get a course user',
      description: 'A person who takes part in courses, with addresses and customer.',
      tags,
      profiles: ['full', 'read'],
      item: 'Course user',
      params,
      response: responses.ok(courseUserList.View),
    },
    handler: ({ ctx, params }) => getCourseUser(ctx, params.id),
  });
};

export const searchUserRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(
    app,
    { ...courseUserSearch, page: searchCourseUsers },
    {
      operationId: 'searchCourseUsers',
      summary: 'Search course users',
      description: 'At least one of `email`, `firstname`, `lastname` and `username` is required; all given must match.',
      tags,
      profiles: ['full', 'read'],
      invalidSamples: { missing: missingKeyword() },
    },
  );
};

export const employeeRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listEmployees',
      summary: 'List the employees of a customer',
      description:
        'The course users that belong to the customer: an array, or with `paginate=true` the envelope with `pagination` and `items`.',
      tags,
      profiles: ['full', 'read'],
      item: 'Customer',
      params,
      querystring: employeeList.Query,
      response: responses.ok(responses.listOrEnvelope('EmployeeList', employeeList.View)),
    },
    ...listRoute.cached(employeeList.readAreas),
    handler: async (request, reply) => {
      const page = await listEmployees(listRoute.toCtx(request), request.params.id, request.query);
      return request.query.paginate ? send.envelope(request, reply, page) : send.items(request, reply, page);
    },
  });
};
