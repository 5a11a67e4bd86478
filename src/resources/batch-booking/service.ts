import { Problem } from '../../core/errors.ts';
import { createAudited } from '../../database/audit-log.ts';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { bookingProblem } from '../booking/schema.ts';
import { book } from '../booking/service.ts';
import type { BatchItem } from './body-schema.ts';
import type { BatchResult } from './schema.ts';

export const bookItem = (ctx: Ctx, { input, errors }: BatchItem) => book(ctx, input, errors);

type AnswerItem = (ctx: Ctx, item: BatchItem) => Promise<BatchResult>;

/** Books each item in a transaction of its own. After a failure of the server the rest gets `notTried`. */
export async function bookEach(ctx: Ctx, items: BatchItem[], answerItem: AnswerItem, notTried: BatchResult) {
  const results: BatchResult[] = [];
  for (const item of items) {
    const hasFailed = results.some(({ status }) => status >= 500);
    results.push(hasFailed ? notTried : await answerItem(ctx, item));
  }
  return results;
}

/** Limits the time under the lock. */
const maxPersons = 2_000;

/** Books all items in one transaction, so that each meets those before it, and rolls it back. */
export function tryBookings(ctx: Ctx, items: BatchItem[], answerItem: AnswerItem): Promise<BatchResult[]> {
  assertPersonLimit(items);
  return ctx.write(['dates', 'people', 'money'], async (tx, now) => {
    const nested: Ctx = {
      ...ctx,
      write: (_areas, work) => work(Object.assign(Object.create(tx) as Tx, createAudited()), now),
    };
    const results: BatchResult[] = [];
    for (const item of items) {
      await tx.$client.query('savepoint item');
      const result = await answerItem(nested, item);
      if (result.status >= 500) throw Problem.unavailable('The dry run could not be finished');
      await tx.$client.query(result.successful ? 'release savepoint item' : 'rollback to savepoint item');
      results.push(withoutIds(result));
    }
    return tx.rollbackNoChange(results);
  });
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
