import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { itemRoutes } from '../../../http/item-routes.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { nameIgnored } from '../../../http/parsing/known-fields.ts';
import { responses, send } from '../../../http/responses.ts';
import { CourseUser, CourseUserBody, CourseUserChange, inputAliases } from './fields.ts';
import { courseUserList, courseUserSearch, employeeList } from './list.ts';
import {
  courseUserReferences,
  createCourseUser,
  updateCourseUser,
  getCourseUser,
  listEmployees,
  missingKeyword,
  searchCourseUsers,
} from './service.ts';

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

  itemRoutes(app, 'Course user', tags, courseUserList.View).get(getCourseUser, {
    operationId: 'getCourseUser',
    summary: 'Get a course user',
    description: 'A person who takes part in courses, with addresses and customer.',
    profiles: ['full', 'read'],
  });

  app.post('', {
    schema: {
      operationId: 'createCourseUser',
      summary: 'Create a course user',
      description:
        'A person with an equal e-mail and equal names is returned unchanged, with 200, and the fields with other ' +
        'values in `X-Ignored-Parameters`. The username is one as by a booking unless sent; no password is set.',
      tags,
      profiles: ['full'],
      body: CourseUserBody,
      response: { 200: CourseUser, ...responses.created(CourseUser) },
    },
    config: { idempotency: {}, references: courseUserReferences },
    handler: async ({ ctx, body }, reply) => {
      const { user, isNew, ignored } = await createCourseUser(ctx, body);
      if (isNew) return reply.created(user.id, user);
      nameIgnored(reply, ignored);
      return user;
    },
  });

  itemRoutes(app, 'Course user', tags, CourseUser).put(updateCourseUser, {
    operationId: 'updateCourseUser',
    summary: 'Update a course user',
    description:
      'Only the fields sent change. The username stays unless sent; a new e-mail ends the links that were mailed. ' +
      'An e-mail and names of another course user are refused: merge them.',
    body: CourseUserChange,
    config: { inputAliases, references: courseUserReferences },
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
