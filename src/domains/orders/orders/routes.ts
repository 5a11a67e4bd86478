import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { responses } from '../../../http/responses.ts';
import { orderList, OrderQuery } from './list.ts';
import { getOrder } from './service.ts';

/** The state of a campaign depends on the clock, as does whether somebody still waits for a place. */
const dependsOnTime = ({ include = [], uncredited }: { include?: unknown; uncredited?: unknown }) =>
  uncredited === true || ['campaign', 'invoicing'].some((name) => (include as string[]).includes(name));

const tags = ['Orders'];
const params = Type.Object({ id: t.Id });

export const orderRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(
    app,
    orderList,
    {
      operationId: 'listOrders',
      summary: 'List orders',
      description: 'Exported orders are left out, except with `exported=true` or a filter on `exported_at`.',
      tags,
      profiles: ['full', 'read'],
    },
    dependsOnTime,
  );

  app.get('/:id', {
    schema: {
      operationId: 'getOrder',
      summary: 'Get an order',
      description: 'Exported or not.',
      tags,
      profiles: ['full', 'read'],
      item: 'Order',
      params,
      querystring: OrderQuery,
      response: responses.ok(orderList.View),
    },
    handler: ({ ctx, params, query }) => getOrder(ctx, params.id, query),
  });
};
