import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { bookingProblem, fieldError, participantError } from '../../../core/booking-errors.ts';
import { type CodedError, Problem } from '../../../core/errors.ts';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';
import { todayIn } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import { registerCodedErrorFormat, formatCodedError, reportProblem } from '../../../http/errors/error-handler.ts';
import { prefersProblemDetails, toFaults } from '../../../http/errors/problem-details.ts';
import { isValidKey, isPersonal, tryWithKey, withKey, type KeyedAnswer } from '../../../http/idempotency.ts';
import { responses } from '../../../http/responses.ts';
import { BatchBookingBody, findErrorsOfBatch, toItems, type BatchItem, type ItemError } from './batch-body-schema.ts';
import { type DryRun, bookEach, bookItem, tryBookings, tryItem } from './batch-service.ts';
import { BatchResults, type BatchResult, BookingResult, BookingQuery, StoredBooking } from './schema.ts';
import { BookingBody, collectValidationErrors, type ValidationError } from './body-schema.ts';
import { book, getBooking } from './service.ts';

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

export const batchBookingRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  app.post('', {
    schema: {
      operationId: 'createBookings',
      summary: 'Book up to 200 bookings',
      description: 'Each is booked or refused on its own, and has its answer of `POST /v2/booking` in the results.',
      tags: ['Booking'],
      profiles: ['full', 'booking'],
      querystring: DryRunQuery,
      body: BatchBookingBody,
      response: { 200: BatchResults, ...responses.codedErrors },
    },
    attachValidation: true,
    config: { refusesUnknown: true, auditsEachWrite: true },
    handler: async (request) => {
      const { ctx, body, validationError } = request;
      const found = (validationError?.validation ?? []) as ItemError[];
      const ofBatch = findErrorsOfBatch(found);
      if (validationError && (ofBatch.length > 0 || found.length === 0))
        throw Object.assign(validationError, validationError.validation && { validation: ofBatch });
      const items = toItems(body.bookings, found, todayIn(ctx.settings.timezone));
      const answers = new Map<string, KeyedAnswer>();
      const results = isDryRun(request)
        ? tryBookings(items, (item, dryRun) => answerItem(request, tryKeyed(ctx, item, dryRun, answers)))
        : bookEach(items, (item) => answerItem(request, bookKeyed(ctx, item)), toRefusal(request, notTried));
      return { results: await results };
    },
  });
};

const toRefusal = (request: FastifyRequest, problem: Problem) =>
  ({
    ...{ status: problem.status, ...formatCodedError(problem) },
    ...(prefersProblemDetails(request) && toFaults(problem)),
  }) as BatchResult;
const notTried = Problem.unavailable('Not tried after the failure of a booking before it');

type Answer = (onReplay: () => void) => Promise<BookingResult>;

async function answerItem(request: FastifyRequest, answer: Answer): Promise<BatchResult> {
  const replay: Pick<BatchResult, 'idempotent_replayed'> = {};
  try {
    const booked = await answer(() => void (replay.idempotent_replayed = true));
    return { status: 201, ...replay, ...booked };
  } catch (error) {
    return toRefusal(request, reportProblem(error as Problem, request));
  }
}

const toKeyed = (key: string, { body }: BatchItem) => ({
  ...{ method: 'POST', route: '/v2/booking', params: {}, body, key, isShared: true },
});

const hasCourseUser = isPersonal(BatchResults);

const bookKeyed =
  (ctx: Ctx, item: BatchItem): Answer =>
  (onReplay) => {
    const { key } = item;
    if (key === undefined) return bookItem(ctx, item);
    const options = { hasCourseUser, onReplay };
    const write: Ctx['write'] = (areas, work) => ctx.write(areas, withKey(ctx, toKeyed(key, item), options, work));
    return bookItem({ ...ctx, write }, item);
  };

const tryKeyed =
  (ctx: Ctx, item: BatchItem, dryRun: DryRun, known: Map<string, KeyedAnswer>): Answer =>
  (onReplay) => {
    const work = () => tryItem(ctx, item, dryRun);
    return item.key === undefined ? work() : tryWithKey(ctx, toKeyed(item.key, item), known, onReplay, work);
  };

export const bookingSummaryRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  app.get('', {
    schema: {
      operationId: 'getBooking',
      summary: 'Get a booking',
      description:
        'Its summary, with all participants and their current statuses. The totals are those agreed with the booking.',
      tags: ['Booking'],
      profiles: ['full', 'read', 'booking'],
      item: 'Booking',
      params: Type.Object({ id: t.Id }),
      querystring: BookingQuery,
      response: { 200: StoredBooking, ...responses.codedErrors },
    },
    handler: ({ ctx, params, query }) => getBooking(ctx, params.id, query),
  });
};
