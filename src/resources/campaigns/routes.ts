import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers } from '../../http/answers.ts';
import { Campaign } from './schema.ts';
import { listCampaigns } from './service.ts';

export const campaignRoutes: FastifyPluginAsyncTypebox = async (app) => {
  // Without an ETag: what is running, waiting or expired depends on the clock.
  app.get(
    '',
    {
      schema: {
        summary: "All of the school's campaigns and agreements",
        tags: ['Orders'],
        response: answers(Type.Array(Campaign)),
      },
    },
    ({ ctx }) => listCampaigns(ctx),
  );
};
