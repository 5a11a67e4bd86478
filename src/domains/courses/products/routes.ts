import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { products } from '../../../database/tables/courses.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { defineList } from '../../../lists/define-list.ts';
import { filter } from '../../../lists/filters.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { OrderProduct, toOrderProduct, type OrderProductRow } from './fields.ts';

export const orderProductRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(app, orderProductList, {
    operationId: 'listOrderProducts',
    summary: 'List products of orders',
    description: 'The products of all courses, with archived ones.',
    tags: ['Orders'],
    profiles: ['full', 'read'],
  });
};

/** Archived products stay listed: lines of older orders name them. */
const orderProductList = defineList({
  table: products,
  serializer: defineSerializer<OrderProductRow>()({
    reads: ['catalog'],
    responseSchema: OrderProduct,
    toResponse: toOrderProduct,
  }),
  filters: {
    ...filter.timestamps(products),
  },
});
