import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import type { CodedError } from '../../../core/errors.ts';
import { isValidKey } from '../../../http/idempotency.ts';
import { responses } from '../../../http/responses.ts';
import { registerCodedErrorFormat } from '../../../http/errors/error-handler.ts';
import { todayIn } from '../../../core/timestamps.ts';
import { BookingBody, collectValidationErrors, type ValidationError } from './body-schema.ts';
import { BookingResult } from './schema.ts';
import { bookingProblem, fieldError, participantError } from '../../../core/booking-errors.ts';
import { book } from './service.ts';

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
      invalidSamples: {
        no_seats_available: bookingProblem([
          { ...participantError(0, 'no_seats_available'), concerns: 'participants[0]' },
        ]),
      },
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
      // Not the first response to a key, whose request is equal in what is known.
      if (errors.some(({ unknown }) => unknown)) throw bookingProblem(errors);
      const response = await book(request.ctx, rest, [...checkKey(request), ...errors]);
      return reply.created(response.summary.booking_id, response);
    },
  });
};

const checkKey = ({ headers }: Pick<FastifyRequest, 'headers'>): CodedError[] =>
  isValidKey(headers['idempotency-key']) ? [] : [fieldError('Idempotency-Key')];
