import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { bookingProblem, fieldError } from '../../../core/booking-errors.ts';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { registerCodedErrorFormat } from '../../../http/errors/error-handler.ts';
import { isValidKey } from '../../../http/idempotency.ts';
import { findKept, nameIgnored } from '../../../http/parsing/known-fields.ts';
import { responses } from '../../../http/responses.ts';
import { ResultingOrder } from '../../orders/credits/schema.ts';
import { participantSerializer } from '../../participants/participants/serializer.ts';
import type { CourseUser } from '../../people/users/fields.ts';
import { ParticipantChange, MoveBody, DeregisterBody } from './body-schema.ts';
import { deregister, deregistrationReferences } from './deregistration-service.ts';
import { updateParticipant } from './editing-service.ts';
import { moveParticipant } from './move-service.ts';
import { DeregistrationResult } from './schema.ts';

const inputAliases = { idStatus: ['status.id'], idPaid: ['paid.id'] };

/** Fields that do not change a known person. */
const personFields = ['firstname', 'lastname', 'email', 'phone', 'company', 'position', 'date_of_birth'] as const;

export const participantEditingRoutes: FastifyPluginAsyncTypebox = async (app) => {
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
      response: responses.ok(participantSerializer.schema),
    },
    config: { inputAliases },
    handler: async ({ ctx, params, body }, reply) => {
      const participant = await updateParticipant(ctx, params.id, body);
      const { user } = participant as typeof participant & { user: CourseUser };
      const kept = findKept(body.user ?? {}, user, personFields).map((name) => `user.${name}`);
      nameIgnored(reply, kept);
      return participant;
    },
  });
};

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

/** A misspelt `participants` would deregister all of them. */
const refusesUnknown = (name: string, { participants }: { participants?: unknown }) =>
  participants === undefined && !name.startsWith('config.');

export const deregistrationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  app.put('', {
    schema: {
      operationId: 'deregisterBooking',
      summary: 'Deregister the participants of a booking, or those named',
      description:
        'Their seats are freed and given to the waiting list. A second call changes nothing; the order stays.',
      tags: ['Booking'],
      profiles: ['full', 'booking'],
      item: 'Booking',
      params: Type.Object({ id: t.Id }),
      headers: Type.Object({
        'idempotency-key': Type.Optional(
          Type.String({
            description:
              'A key that was used for a booking is refused. No response is stored; the request can be repeated without a key.',
          }),
        ),
      }),
      body: DeregisterBody,
      response: { 200: DeregistrationResult(participantSerializer.schema), ...responses.codedErrors },
    },
    config: { refusesUnknown, idempotency: { space: 'booking' }, references: deregistrationReferences },
    handler: async (request) => {
      if (!isValidKey(request.headers['idempotency-key'])) throw bookingProblem([fieldError('Idempotency-Key')]);
      return deregister(request.ctx, request.params.id, request.body);
    },
  });
};
