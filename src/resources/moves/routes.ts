import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';
import { registerCodedErrorFormat } from '../../http/errors/error-handler.ts';
import { responses } from '../../http/responses.ts';
import { participantSerializer } from '../participants/serializer.ts';
import { MoveBody } from './body-schema.ts';
import { moveParticipant } from './service.ts';

export const moveRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  app.post('', {
    schema: {
      operationId: 'moveParticipant',
      summary: 'Move a participant to another course date',
      description:
        'The participant keeps its id, and is booked by the rules of booking; the place that becomes free goes to the ' +
        'waiting list. It keeps its price, or gets that of the other course.',
      tags: ['Orders'],
      profiles: ['full'],
      item: 'Participant',
      params: Type.Object({ id: t.Id }),
      body: MoveBody,
      response: { 200: participantSerializer.schema, ...responses.codedErrors },
    },
    config: { idempotency: {} },
    handler: ({ ctx, params, body }) => moveParticipant(ctx, params.id, body),
  });
};
