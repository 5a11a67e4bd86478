import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import type { CodedError } from '../../core/errors.ts';
import { t } from '../../core/schema/types.ts';
import { isValidKey } from '../../http/idempotency.ts';
import { responses } from '../../http/responses.ts';
import { registerCodedErrorFormat } from '../../http/errors/error-handler.ts';
import { participantSerializer } from '../participants/serializer.ts';
import { todayIn } from '../../core/timestamps.ts';
import { BookingBody, DeregisterBody, collectValidationErrors, type ValidationError } from './body-schema.ts';
import { BookingResult, DeregistrationResult, bookingProblem, fieldError, participantError } from './schema.ts';
import { book, deregister, deregistrationReferences } from './service.ts';

const tags = ['Booking'];
const idempotency = { space: 'booking' } as const;

export const bookingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  app.post('', {
    schema: {
      operationId: 'createBooking',
      summary: 'Book a course date',
      description: 'All participants are booked, or none. The error response lists every error at once.',
      tags,
      profiles: ['full', 'booking'],
      body: BookingBody,
      invalidSamples: { no_seats_available: bookingProblem([participantError(0, 'no_seats_available')]) },
      response: { 201: BookingResult, ...responses.codedErrors },
    },
    attachValidation: true,
    config: { idempotency, countsRefusals: true },
    handler: async (request, reply) => {
      const { validationError } = request;
      // Other errors than the schema's, such as an unreadable body.
      if (validationError && !validationError.validation) throw validationError;
      const validationErrors = (validationError?.validation ?? []) as ValidationError[];
      const { rest, errors } = collectValidationErrors(
        request.body,
        validationErrors,
        todayIn(request.ctx.settings.timezone),
      );
      const response = await book(request.ctx, rest, [...checkKey(request), ...errors]);
      return reply.created(response.summary.booking_id, response);
    },
  });

  app.put('/:id/deregister', {
    schema: {
      operationId: 'deregisterBooking',
      summary: 'Deregister the participants of a booking, or those named',
      description:
        'Their seats are freed and given to the waiting list. A second call changes nothing; the order stays.',
      tags,
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
    config: { idempotency, references: deregistrationReferences },
    handler: async (request) => {
      const errors = checkKey(request);
      if (errors.length > 0) throw bookingProblem(errors);
      return deregister(request.ctx, request.params.id, request.body);
    },
  });
};

const checkKey = ({ headers }: Pick<FastifyRequest, 'headers'>): CodedError[] =>
  isValidKey(headers['idempotency-key']) ? [] : [fieldError('Idempotency-Key')];
