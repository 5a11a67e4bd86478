import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { t } from '../../core/schema/types.ts';
import { responses } from '../../http/responses.ts';
import { orderSerializer } from '../orders/serializer.ts';
import { OrderChange } from './body-schema.ts';
import { readOrder, updateOrder } from './service.ts';

const readBack = {
  read: (ctx: Ctx, { id }: { id: number }, names: string[]) => readOrder(ctx, id, names),
};

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
    config: { readBack },
    handler: ({ ctx, params, body }) => updateOrder(ctx, params.id, body),
  });
};
