import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { ResultingOrder } from '../../orders/credits/schema.ts';
import { participantSerializer } from '../../participants/participants/serializer.ts';
import { MoveBody } from './body-schema.ts';
import { moveParticipant } from './move-service.ts';

const MovedParticipant = t.NamedObject('MovedParticipant', {
  ...participantSerializer.schema.properties,
  ...t.member.financial.all({
    dry_run: Type.Optional(Type.Boolean({ description: 'Only true: nothing has changed' })),
    orders: Type.Optional(
      Type.Array(ResultingOrder, {
        description: 'Only of a move that makes some: credits, or the order of a higher price',
      }),
    ),
  }),
});

export const moveRoutes: FastifyPluginAsyncTypebox = async (app) => {
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
      querystring: DryRunQuery,
      body: MoveBody,
      response: responses.ok(MovedParticipant),
    },
    config: { refusesUnknown: true, idempotency: {} },
    handler: (request) =>
      moveParticipant(request.ctx, request.params.id, { ...request.body, dry_run: isDryRun(request) }),
  });
};
