import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { Problem } from '../../../core/errors.ts';
import { todayIn } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import { formatCodedError, registerCodedErrorFormat, reportProblem } from '../../../http/errors/error-handler.ts';
import { prefersProblemDetails, toFaults } from '../../../http/errors/problem-details.ts';
import { isPersonal, tryWithKey, withKey, type KeyedAnswer } from '../../../http/idempotency.ts';
import { responses } from '../../../http/responses.ts';
import type { BookingResult } from './schema.ts';
import { BatchBookingBody, findErrorsOfBatch, toItems, type BatchItem, type ItemError } from './batch-body-schema.ts';
import type { DryRun } from './batch-dry-run-service.ts';
import { BatchResults, type BatchResult } from './batch-schema.ts';
import { bookEach, bookItem, tryBookings, tryItem } from './batch-service.ts';

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
