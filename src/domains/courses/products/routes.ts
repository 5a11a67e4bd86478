import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { addPageRoute } from '../../../http/page-route.ts';
import { orderProductList } from './list.ts';

export const orderProductRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(app, orderProductList, {
    operationId: 'listOrderProducts',
    summary: 'List products of orders',
    description: 'The products of all courses, with archived ones.',
    tags: ['Orders'],
    profiles: ['full', 'read'],
  });
};
