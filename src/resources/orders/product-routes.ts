import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses, send } from '../../http/responses.ts';
import { orderProductList } from './product-list.ts';

export const orderProductRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listOrderProducts',
        summary: 'List products of orders',
        description: 'The products of all courses, with archived ones.',
        tags: ['Orders'],
        profiles: ['full', 'read'],
        querystring: orderProductList.Query,
        response: responses.ok(Type.Array(orderProductList.View)),
      },
      ...listRoute.cached(orderProductList.readAreas),
    },
    async (request, reply) =>
      send.items(request, reply, await orderProductList.page(listRoute.toCtx(request), request.query)),
  );
};
