import { bookingProblem } from '../../../core/booking-errors.ts';
import { Problem } from '../../../core/errors.ts';
import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import { participantStatus } from '../../../core/reference/statuses.ts';
import type { Ctx } from '../../../database/context.ts';
import type { BatchItem } from './batch-body-schema.ts';
import { previewQuote, type BookingQuote } from './quote-service.ts';
import type { BookingResult, BatchResult } from './schema.ts';
import type { BookingContext, DateFound } from './sql.ts';
import { assertPairLimit, book, toResponse } from './service.ts';

/** The bookings of a dry run, which those after them meet as if they were made. */
function createDryRun() {
  const quotes: BookingQuote[] = [];
  const adjustDate = (date: DateFound): DateFound => {
    const booked = quotes.flatMap(({ participants }) => participants.filter((one) => one.courseDateId === date.id));
    const count = (status: number) => booked.filter(({ statusId }) => statusId === status).length;
    return {
      ...date,
      numConfirmed: date.numConfirmed + count(participantStatus.confirmed),
      numOverbooked: date.numOverbooked + count(participantStatus.overbooked),
      numUnconfirmed: date.numUnconfirmed + count(participantStatus.unconfirmed),
      numWaiting: date.numWaiting + count(participantStatus.waiting),
    };
  };
  const adjust = (context: BookingContext): BookingContext => ({
    ...context,
    dates: context.dates.map(adjustDate),
    campaigns: context.campaigns.map((campaign) => {
      const uses = quotes.filter(({ campaignId }) => campaignId === campaign.id).length;
      return { ...campaign, isUsedUp: campaign.usesLeft !== null && campaign.usesLeft <= uses };
    }),
    voucher: context.voucher && {
      ...context.voucher,
      balance: toDecimal(toMinorUnits(context.voucher.balance) - sumPaidBy(context.voucher.id)),
    },
  });
  const sumPaidBy = (id: number) =>
    quotes.reduce((sum, { voucher }) => sum + (voucher?.id === id ? voucher.pays : 0n), 0n);
  return { adjust, add: (quote: BookingQuote) => void quotes.push(quote) };
}
export type DryRun = ReturnType<typeof createDryRun>;

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
