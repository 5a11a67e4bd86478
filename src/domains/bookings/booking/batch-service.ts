import { Problem } from '../../../core/errors.ts';
import type { Ctx } from '../../../database/context.ts';
import type { BookingResult } from './schema.ts';
import { bookingProblem } from '../../../core/booking-errors.ts';
import { assertPairLimit, book, toResponse } from './service.ts';
import { previewQuote } from './quote-service.ts';
import type { BatchItem } from './batch-body-schema.ts';
import { createDryRun, type DryRun } from './batch-dry-run-service.ts';
import type { BatchResult } from './batch-schema.ts';

export const bookItem = (ctx: Ctx, { input, errors }: BatchItem) => book(ctx, input, errors);

type AnswerItem = (item: BatchItem) => Promise<BatchResult>;

/** Books each item in a transaction of its own. After a failure of the server the rest gets `notTried`. */
export async function bookEach(items: BatchItem[], answerItem: AnswerItem, notTried: BatchResult) {
  const results: BatchResult[] = [];
  for (const item of items) {
    const hasFailed = results.some(({ status }) => status >= 500);
    results.push(hasFailed ? notTried : await answerItem(item));
  }
  return results;
}

/** Limits the time of a dry run. */
const maxPersons = 2_000;

/** Quotes all items without the lock, each after those before it, and books none. */
export async function tryBookings(
  items: BatchItem[],
  answerItem: (item: BatchItem, dryRun: DryRun) => Promise<BatchResult>,
) {
  assertPersonLimit(items);
  const dryRun = createDryRun();
  const results: BatchResult[] = [];
  for (const item of items) {
    const result = await answerItem(item, dryRun);
    if (result.status >= 500) throw Problem.unavailable('The dry run could not be finished');
    results.push(withoutIds(result));
  }
  return results;
}

export async function tryItem(ctx: Ctx, { input, errors }: BatchItem, dryRun: DryRun): Promise<BookingResult> {
  assertPairLimit(input);
  const quote = await previewQuote(ctx, input, errors, dryRun.adjust);
  dryRun.add(quote);
  return toResponse(quote, { orderId: 0, bookingId: 0, participantIds: [] });
}

function assertPersonLimit(items: BatchItem[]) {
  const persons = items.reduce((sum, { input }) => sum + (input.participants?.length ?? input.places ?? 0), 0);
  const message = 'A dry run has at most 2,000 participants and places in all';
  if (persons > maxPersons) throw bookingProblem([{ code: 'participant_count_invalid', message, field: 'bookings' }]);
}

function withoutIds({ summary, ...result }: BatchResult): BatchResult {
  if (summary === undefined) return result;
  const participants = summary.participants.map(({ status_id }) => ({ status_id }));
  return { ...result, summary: { ...summary, order_id: undefined, booking_id: undefined, participants } };
}
