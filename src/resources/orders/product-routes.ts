import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, revalidated, sendItems } from '../../http/responses.ts';
import { orderProductList } from './product-list.ts';

export const orderProductRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List what orders sell',
        description: 'The products of all courses, archived ones too.',
        tags: ['Orders'],
        querystring: orderProductList.Query,
        response: answers(Type.Array(orderProductList.View)),
      },
      ...revalidated,
    },
    async (request, reply) => sendItems(request, reply, await orderProductList.page(request.ctx, request.query)),
  );
};
