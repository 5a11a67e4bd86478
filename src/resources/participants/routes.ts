import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { t } from '../../core/schema/types.ts';
import { addPageRoute } from '../../http/page-route.ts';
import { responses } from '../../http/responses.ts';
import { ParticipantChange } from './body-schema.ts';
import { participantList } from './list.ts';
import { getParticipant, updateParticipant } from './service.ts';

const readBack = {
  read: (ctx: Ctx, { id }: { id: number }) => participantList.byId(ctx, id, { include: ['attendance'] }),
  inputs: { paid: 'idPaid', status: 'idStatus', user: 'user' },
};

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
  app.put('/:id', {
    schema: {
      operationId: 'updateParticipant',
      summary: 'Update a participant',
      description:
        'Only the fields sent change. A status that holds a seat takes one as a booking does, and is ' +
        'refused without a free seat; 4 and 8 free the seat for the waiting list.',
      tags: ['Orders'],
      profiles: ['full'],
      item: 'Participant',
      params: Type.Object({ id: t.Id }),
      body: ParticipantChange,
      response: responses.ok(participantList.View),
    },
    config: { readBack },
    handler: ({ ctx, params, body }) => updateParticipant(ctx, params.id, body),
  });
};
