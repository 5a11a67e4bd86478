import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import { participantStatus } from '../../../core/reference/statuses.ts';
import type { BookingContext, DateFound } from './quote-schema.ts';
import type { BookingQuote } from './quote-service.ts';

/** The bookings of a dry run, which those after them meet as if they were made. */
export function createDryRun() {
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
