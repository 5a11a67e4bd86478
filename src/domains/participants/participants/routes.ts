import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { itemRoutes } from '../../../http/item-routes.ts';
import { addPageRoute } from '../../../http/page-route.ts';
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

  itemRoutes(app, 'Participant', ['Orders'], participantList.View).get(getParticipant, {
    operationId: 'getParticipant',
    summary: 'Get a participant',
    description: 'With course date, course, booking and course user.',
    profiles: ['full', 'read'],
    querystring: participantList.ItemQuery,
  });
};
