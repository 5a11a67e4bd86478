import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { CreditDryRun } from '../../orders/credits/schema.ts';
import { orderSerializer } from '../../orders/orders/serializer.ts';
import { CreditBody } from './body-schema.ts';
import { createCredit } from './service.ts';

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
      querystring: DryRunQuery,
      body: CreditBody,
      response: { 200: CreditDryRun, ...responses.created(orderSerializer.schema) },
    },
    config: { refusesUnknown: true, idempotency: {} },
    handler: async (request, reply) => {
      const { ctx, params, body } = request;
      const created = await createCredit(ctx, params.id, { ...body, dry_run: isDryRun(request) });
      return 'dry_run' in created ? created : reply.created(created.id, created, '/v2/orders');
    },
  });
};
