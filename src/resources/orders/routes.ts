import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, revalidatedUnless, sendItems } from '../../http/answers.ts';
import { orderList } from './query.ts';

/** Whether a campaign is running depends on the clock. */
const asksForCampaigns = ({ include }: { include?: unknown }) => Array.isArray(include) && include.includes('campaign');

export const orderRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List orders',
        description: 'Exported orders are left out unless `exported=true` or a filter on `exported_at` asks for them.',
        tags: ['Orders'],
        querystring: orderList.Query,
        response: answers(Type.Array(orderList.View)),
      },
      ...revalidatedUnless(asksForCampaigns),
    },
    async (request, reply) => sendItems(request, reply, await orderList.page(request.ctx, request.query)),
  );
};
