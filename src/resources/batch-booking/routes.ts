import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { DryRunQuery, isDryRun } from '../../core/schema/dry-run.ts';
import { Problem } from '../../core/errors.ts';
import { todayIn } from '../../core/timestamps.ts';
import type { Ctx } from '../../database/context.ts';
import { formatCodedError, registerCodedErrorFormat, reportProblem } from '../../http/errors/error-handler.ts';
import { isPersonal, withKey } from '../../http/idempotency.ts';
import { responses } from '../../http/responses.ts';
import { BatchBookingBody, findErrorsOfBatch, toItems, type BatchItem, type ItemError } from './body-schema.ts';
import { BatchResults, type BatchResult } from './schema.ts';
import { bookEach, bookItem, tryBookings } from './service.ts';

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
    config: { auditsEachWrite: true },
    handler: async (request) => {
      const { ctx, body, validationError } = request;
      const found = (validationError?.validation ?? []) as ItemError[];
      const ofBatch = findErrorsOfBatch(found);
      if (validationError && (ofBatch.length > 0 || found.length === 0))
        throw Object.assign(validationError, validationError.validation && { validation: ofBatch });
      const items = toItems(body.bookings, found, todayIn(ctx.settings.timezone));
      const answer = (on: Ctx, item: BatchItem) => answerItem(on, item, request);
      const results = isDryRun(request)
        ? tryBookings(ctx, items, answer)
        : bookEach(ctx, items, answer, toRefusal(notTried));
      return { results: await results };
    },
  });
};

const toRefusal = (problem: Problem) => ({ status: problem.status, ...formatCodedError(problem) }) as BatchResult;
const notTried = Problem.unavailable('Not tried after the failure of a booking before it');

async function answerItem(ctx: Ctx, item: BatchItem, request: FastifyRequest): Promise<BatchResult> {
  const { key, body } = item;
  const keyed = { method: 'POST', route: '/v2/booking', params: {}, body, isShared: true };
  const replay: Pick<BatchResult, 'idempotent_replayed'> = {};
  const options = { hasPerson: isPersonal(BatchResults), onReplay: () => void (replay.idempotent_replayed = true) };
  const write: Ctx['write'] = (areas, work) =>
    ctx.write(areas, key === undefined ? work : withKey(ctx, { ...keyed, key }, options, work));
  try {
    const booked = await bookItem({ ...ctx, write }, item);
    return { status: 201, ...replay, ...booked };
  } catch (error) {
    return toRefusal(reportProblem(error as Problem, request));
  }
}
