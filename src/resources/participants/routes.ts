import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { answers, revalidated, sendItems } from '../../http/answers.ts';
import { participantList } from './query.ts';

export const participantRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '',
    {
      schema: {
        summary: 'List participants',
        description: 'Deregistered and archived participants are listed too.',
        tags: ['Orders'],
        querystring: participantList.Query,
        response: answers(Type.Array(participantList.View)),
      },
      ...revalidated,
    },
    async (request, reply) => sendItems(request, reply, await participantList.page(request.ctx, request.query)),
  );
};
