import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { responses } from '../../../http/responses.ts';
import { participantList } from './list.ts';
import { getParticipant } from './service.ts';

export const participantRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(app, participantList, {
    operationId: 'listParticipants',
    summary: 'List participants',
    description: 'With deregistered and archived participants.',
    tags: ['Orders'],
    profiles: ['full', 'read'],
  });

  app.get('/:id', {
    schema: {
      operationId: 'getParticipant',
      summary: 'Get a participant',
      description: 'With course date, course, booking and course user.',
      tags: ['Orders'],
      profiles: ['full', 'read'],
      item: 'Participant',
      params: Type.Object({ id: t.Id }),
      querystring: participantList.ItemQuery,
      response: responses.ok(participantList.View),
    },
    handler: ({ ctx, params, query }) => getParticipant(ctx, params.id, query),
  });
};
