import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { itemRoutes } from '../../../http/item-routes.ts';
import { responses } from '../../../http/responses.ts';
import { CustomerBody, CustomerChange, inputAliases } from '../customers/fields.ts';
import { customerList } from './list.ts';
import { createCustomer, customerReferences, getCustomer, updateCustomer } from './service.ts';

const tags = ['People'];
const CustomerId = t.NamedObject('CustomerReference', { customer_id: Type.Integer() });

export const customerRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(app, customerList, {
    operationId: 'listCustomers',
    summary: 'List customers',
    description:
      'A customer of the type Private has its `employees`: at most 100, and `employees_truncated` if ' +
      'there are more.',
    tags,
    profiles: ['full', 'read'],
  });

  app.post('', {
    schema: {
      operationId: 'createCustomer',
      summary: 'Create a customer',
      description: 'Customers are embedded in orders, participants and course users.',
      tags,
      profiles: ['full'],
      body: CustomerBody,
      response: responses.created(CustomerId),
    },
    config: { idempotency: {}, references: customerReferences },
    handler: async ({ ctx, body }, reply) => {
      const created: { customer_id?: number } = await createCustomer(ctx, body);
      // A stored response of the version before is the id.
      const { customer_id = Number(created) } = created;
      return reply.created(customer_id, { customer_id });
    },
  });

  itemRoutes(app, 'Customer', tags, customerList.View).get(getCustomer, {
    operationId: 'getCustomer',
    summary: 'Get a customer',
    description: 'A customer of the type Private has its `employees`.',
    profiles: ['full', 'read'],
    querystring: customerList.ItemQuery,
  });

  itemRoutes(app, 'Customer', tags, CustomerId).put(updateCustomer, {
    operationId: 'updateCustomer',
    summary: 'Update a customer',
    description: 'Only the fields sent change.',
    body: CustomerChange,
    config: { inputAliases, references: customerReferences },
  });
};
