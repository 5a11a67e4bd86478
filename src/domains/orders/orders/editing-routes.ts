import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { orderSerializer } from './serializer.ts';
import { OrderChange, OrderExportBody } from './body-schema.ts';
import { exportOrder, updateOrder } from './editing-service.ts';

export const orderEditingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.put('/:id', {
    schema: {
      operationId: 'updateOrder',
      summary: 'Update an order',
      description:
        'Only the fields sent change. After the export the reference and the invoice address are `order_exported`.',
      tags: ['Orders'],
      profiles: ['full'],
      item: 'Order',
      params: Type.Object({ id: t.Id }),
      body: OrderChange,
      response: responses.ok(orderSerializer.schema),
    },
    handler: ({ ctx, params, body }) => updateOrder(ctx, params.id, body),
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
      params: Type.Object({ id: t.Id }),
      querystring: DryRunQuery,
      body: OrderExportBody,
      response: responses.ok(orderSerializer.schema),
    },
    config: { refusesUnknown: true },
    handler: (request) => exportOrder(request.ctx, request.params.id, isDryRun(request)),
  });
};
