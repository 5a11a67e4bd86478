import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import * as t from '../../schema/types.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses, send } from '../../http/responses.ts';
import { CustomerBody, CustomerChange } from './body-schema.ts';
import { customerList, employeeList } from './list.ts';
import { createCustomer, getCustomer, listCustomers, listEmployees, updateCustomer } from './service.ts';

const tags = ['People'];
const params = Type.Object({ id: t.Id });
const CustomerId = Type.Object({ customer_id: Type.Integer() });

export const customerRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List customers',
        description:
          'A customer of the type Private has its `employees` unasked, of more than 100 the first 100 and `employees_truncated`.',
        tags,
        querystring: customerList.Query,
        response: responses.ok(Type.Array(customerList.View)),
      },
      ...listRoute.cached,
    },
    async (request, reply) => send.items(request, reply, await listCustomers(request.ctx, request.query)),
  );

  app.post(
    '',
    {
      schema: {
        summary: 'Create a customer',
        description: 'Customers show inside orders, participants and course users, too.',
        tags,
        body: CustomerBody,
        response: responses.created(CustomerId),
      },
    },
    async ({ ctx, body }, reply) => reply.code(201).send({ customer_id: await createCustomer(ctx, body) }),
  );

  app.get(
    '/:id',
    {
      schema: {
        summary: 'One customer',
        tags,
        params,
        querystring: customerList.ItemQuery,
        response: responses.ok(customerList.View),
      },
    },
    ({ ctx, params, query }) => getCustomer(ctx, params.id, query),
  );

  app.get(
    '/:id/employees',
    {
      schema: {
        summary: 'List the employees of a customer',
        description:
          'The course users that belong to the customer: an array, or with `paginate=true` the envelope with `pagination` and `items`.',
        tags,
        params,
        querystring: employeeList.Query,
        response: responses.ok(responses.listOrEnvelope(employeeList.View)),
      },
      ...listRoute.cached,
    },
    async (request, reply) => {
      const page = await listEmployees(request.ctx, request.params.id, request.query);
      return request.query.paginate ? send.envelope(request, reply, page) : send.items(request, reply, page);
    },
  );

  app.put(
    '/:id',
    {
      schema: {
        summary: 'Update a customer',
        description: 'Only the fields sent change.',
        tags,
        params,
        body: CustomerChange,
        response: responses.ok(CustomerId),
      },
    },
    async ({ ctx, params, body }) => ({ customer_id: await updateCustomer(ctx, params.id, body) }),
  );
};
