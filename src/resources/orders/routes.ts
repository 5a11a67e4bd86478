import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { DryRunQuery, isDryRun } from '../../core/schema/dry-run.ts';
import { t } from '../../core/schema/types.ts';
import { addPageRoute } from '../../http/page-route.ts';
import { responses } from '../../http/responses.ts';
import { OrderExportBody } from './body-schema.ts';
import { orderList, OrderQuery } from './list.ts';
import { exportOrder, getOrder } from './service.ts';

/** The state of a campaign depends on the clock. */
const includesCampaigns = ({ include }: { include?: unknown }) =>
  Array.isArray(include) && include.includes('campaign');

const tags = ['Orders'];
const params = Type.Object({ id: t.Id });

const OrderExport = t.NamedObject('OrderExport', {
  ...orderList.View.properties,
  ...t.member.financial.all({
    dry_run: Type.Optional(Type.Boolean({ description: 'Only true: nothing has changed' })),
  }),
});

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
    includesCampaigns,
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

  app.post('/:id/export', {
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
      querystring: DryRunQuery,
      body: OrderExportBody,
      response: responses.ok(OrderExport),
    },
    config: { refusesUnknown: true },
    handler: async (request) => {
      const dry_run = isDryRun(request);
      const order = await exportOrder(request.ctx, request.params.id, dry_run);
      return dry_run ? { ...order, dry_run } : order;
    },
  });
};
