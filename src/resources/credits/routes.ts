import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';
import { responses } from '../../http/responses.ts';
import { orderSerializer } from '../orders/serializer.ts';
import { CreditBody } from './body-schema.ts';
import { createCredit } from './request-service.ts';

export const creditRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'creditOrder',
      summary: 'Credit an order, or parts of it',
      description:
        'A new order with negative quantities and totals. It lowers what is due, then returns to vouchers; the rest is ' +
        'owed. The order itself stays as it is.',
      tags: ['Orders'],
      profiles: ['full'],
      item: 'Order',
      params: Type.Object({ id: t.Id }),
      body: CreditBody,
      response: responses.created(orderSerializer.schema),
    },
    config: { idempotency: {} },
    handler: async ({ ctx, params, body }, reply) => {
      const created = await createCredit(ctx, params.id, body);
      return reply.created(created.id, created, '/v2/orders');
    },
  });
};
