import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import type { Fault } from '../../core/errors.ts';
import * as t from '../../schema/types.ts';
import { bookingErrorResponses } from '../../http/responses.ts';
import { registerErrorHandler, formatBookingError } from '../../http/errors/error-handler.ts';
import { participantShape } from '../participants/serializer.ts';
import { BookingBody, DeregisterBody, collectValidationErrors, type Refusal } from './body-schema.ts';
import { BookingAnswer, DeregisterAnswer, fieldFault, refused } from './schema.ts';
import { book, deregister } from './service.ts';

const tags = ['Booking'];
const headers = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Any text of 1 to 255 characters. For 24 hours the same request with it gets the first answer again and books ' +
        'nothing; another one is refused.',
    }),
  ),
});

export const bookingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerErrorHandler(app, formatBookingError);

  app.post(
    '',
    {
      schema: {
        summary: 'Book a course date',
        description: 'All of it or nothing. A refusal names everything that is wrong at once.',
        tags,
        headers,
        body: BookingBody,
        response: { 201: BookingAnswer, ...bookingErrorResponses },
      },
      attachValidation: true,
    },
    async (request, reply) => {
      const { validationError } = request;
      // It could not be checked at all.
      if (validationError && !validationError.validation) throw validationError;
      const refusals = (validationError?.validation ?? []) as Refusal[];
      const { rest, wrong } = collectValidationErrors(request.body, refusals);
      const answer = await book(request.ctx, rest, [...wrongKey(request), ...wrong], getKey(request));
      return reply.code(201).send(answer);
    },
  );

  app.put(
    '/:id/deregister',
    {
      schema: {
        summary: 'Deregister all participants of a booking',
        description: 'Frees their seats for who is next in line. A second call changes nothing; the order stays.',
        tags,
        params: Type.Object({ id: t.Id }),
        headers,
        body: DeregisterBody,
        response: { 200: DeregisterAnswer(participantShape.schema), ...bookingErrorResponses },
      },
    },
    async (request) => {
      const wrong = wrongKey(request);
      if (wrong.length > 0) throw refused(wrong);
      return deregister(request.ctx, request.params.id, request.body, getKey(request));
    },
  );
};

type Keyed = { headers: { 'idempotency-key'?: string } };

/** Of a request as it was read, with nothing set aside; undefined without a key. */
function getKey({ headers, method, routeOptions, params, body }: Keyed & Omit<FastifyRequest, 'headers'>) {
  const key = headers['idempotency-key'];
  return key === undefined ? undefined : { key, requested: { method, route: routeOptions.url, params, body } };
}

function wrongKey({ headers }: Keyed): Fault[] {
  const length = headers['idempotency-key']?.length ?? 1;
  return length >= 1 && length <= 255 ? [] : [fieldFault('Idempotency-Key')];
}
