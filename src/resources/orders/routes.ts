import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import * as t from '../../core/schema/types.ts';
import { listRoute } from '../../http/list-cache/index.ts';
import { responses, send } from '../../http/responses.ts';
import { orderList, OrderQuery } from './list.ts';
import { exportOrder, getOrder } from './service.ts';

/** The state of a campaign depends on the clock. */
const includesCampaigns = ({ include }: { include?: unknown }) =>
  Array.isArray(include) && include.includes('campaign');

const tags = ['Orders'];
const params = Type.Object({ id: t.Id });

export const orderRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listOrders',
        summary: 'List orders',
        description: 'Exported orders are left out, except with `exported=true` or a filter on `exported_at`.',
        tags,
        profiles: ['full', 'read'],
        querystring: orderList.Query,
        response: responses.ok(Type.Array(orderList.View)),
      },
      ...listRoute.cached(orderList.readAreas, includesCampaigns),
    },
    async (request, reply) => send.items(request, reply, await orderList.page(listRoute.toCtx(request), request.query)),
  );

  app.get(
    '/:id',
    {
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
    },
    ({ ctx, params, query }) => getOrder(ctx, params.id, query),
  );

  app.post(
    '/:id/export',
    {
      schema: {
        operationId: 'exportOrder',
        summary: 'Mark an order as exported',
        description:
          'Sets `exported_at` and fixes the prices and discounts of the lines at invoice and at export. ' +
          'A second call changes nothing.',
        tags,
        profiles: ['full'],
        item: 'Order',
        params,
        response: responses.ok(orderList.View),
      },
    },
    ({ ctx, params }) => exportOrder(ctx, params.id),
  );
};
