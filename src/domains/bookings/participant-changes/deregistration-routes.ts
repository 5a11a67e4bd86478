import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { registerCodedErrorFormat } from '../../../http/errors/error-handler.ts';
import { isValidKey } from '../../../http/idempotency.ts';
import { responses } from '../../../http/responses.ts';
import { bookingProblem, fieldError } from '../../../core/booking-errors.ts';
import { participantSerializer } from '../../participants/participants/serializer.ts';
import { DeregisterBody } from './body-schema.ts';
import { DeregistrationResult } from './schema.ts';
import { deregister, deregistrationReferences } from './deregistration-service.ts';

/** Without `participants` a misspelt one would deregister all of them. */
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
