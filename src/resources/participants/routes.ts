import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { Id } from '../../core/schema.ts';
import { answers, revalidated, sendItems } from '../../http/answers.ts';
import { participantList } from './query.ts';
import { getParticipant } from './service.ts';

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

  app.get(
    '/:id',
    {
      schema: {
        summary: 'One participant',
        tags: ['Orders'],
        params: Type.Object({ id: Id }),
        querystring: participantList.ItemQuery,
        response: answers(participantList.View),
      },
    },
    ({ ctx, params, query }) => getParticipant(ctx, params.id, query),
  );
};
