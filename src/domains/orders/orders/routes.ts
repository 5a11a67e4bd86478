import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { itemRoutes } from '../../../http/item-routes.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { responses } from '../../../http/responses.ts';
import { OrderExportBody } from './body-schema.ts';
import { OrderChange } from './fields.ts';
import { orderList, OrderQuery } from './list.ts';
import { orderSerializer } from './serializer.ts';
import { exportOrder, updateOrder, getOrder } from './service.ts';

/** The state of a campaign depends on the clock, as does whether somebody still waits for a place. */
const dependsOnTime = ({ include = [], uncredited }: { include?: string[]; uncredited?: boolean }) =>
  uncredited === true || ['campaign', 'invoicing'].some((name) => include.includes(name));

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

  itemRoutes(app, 'Order', tags, orderList.View).get(getOrder, {
    operationId: 'getOrder',
    summary: 'Get an order',
    description: 'Exported or not.',
    profiles: ['full', 'read'],
    querystring: OrderQuery,
  });

  itemRoutes(app, 'Order', tags, orderSerializer.schema).put(updateOrder, {
    operationId: 'updateOrder',
    summary: 'Update an order',
    description:
      'Only the fields sent change. After the export the reference and the invoice address are `order_exported`.',
    body: OrderChange,
  });

  app.post('/:id/export', {
    schema: {
      operationId: 'exportOrder',
      summary: 'Mark an order as exported',
      description:
        'Sets `exported_at` and fixes the prices and discounts of the lines at invoice and at export. ' +
        'A second call changes nothing.',
      tags: ['Orders'],
      profiles: ['full'],
      item: 'Order',
      params,
      querystring: DryRunQuery,
      body: OrderExportBody,
      response: responses.ok(orderSerializer.schema),
    },
    config: { refusesUnknown: true },
    handler: (request) => exportOrder(request.ctx, request.params.id, isDryRun(request)),
  });
};
