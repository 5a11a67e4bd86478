import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { cachedList } from '../../http/list-cache/index.ts';
import { okResponses, sendItems } from '../../http/responses.ts';
import { orderProductList } from './product-list.ts';

export const orderProductRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listOrderProducts',
        summary: 'List products',
        description: 'The products of all courses, with archived ones.',
        tags: ['Orders'],
        querystring: orderProductList.Query,
        response: okResponses(Type.Array(orderProductList.View)),
      },
      ...cachedList,
    },
    async (request, reply) => sendItems(request, reply, await orderProductList.page(request.ctx, request.query)),
  );
};
