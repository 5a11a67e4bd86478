import { formatMoney } from '../../../core/money-format.ts';
import type { Minor } from '../../../core/money.ts';
import { participantStatus } from '../../../core/reference/statuses.ts';
import type { BookingBalance } from '../../../resources/payments/balance-service.ts';
import type { Fact } from './facts.ts';
import type { MailData } from './mail-data.ts';
import { letterTexts } from './messages.ts';

/**
 * Participants see no amounts of a booking that somebody else pays, nor persons who have lost their place, or have left it
 * without a fee: the order is credited later.
 */
export const showsAmounts = (mail: MailData) => {
  const { purpose, statusId, bookingId, isToBooker, isToParticipant, hasOtherPayer } = mail;
  const hasLeftFreely = purpose === 'deregistration' && statusId === participantStatus.deregistered;
  return (
    bookingId !== null &&
    purpose !== 'moved_away' &&
    !hasLeftFreely &&
    (isToBooker || (isToParticipant === true && hasOtherPayer === false))
  );
};

/** Price with VAT, what is paid and what is left to pay. */
export function composeAmounts({ language, numParticipants }: MailData, balance: BookingBalance): Fact[] {
  const texts = letterTexts[language];
  const { currency, total, vat, credited, paid } = balance;
  const format = (amount: Minor) => formatMoney(amount, currency, language);
  if (total === 0n && credited === 0n && paid === 0n) return [{ name: texts.facts.price, lines: [texts.free] }];
  return [
    {
      name: texts.facts.priceWithVat,
      lines: [
        vat === 0n ? format(total) : texts.ofWhichVat(format(total), format(vat)),
        ...(numParticipants > 1 ? [texts.forParticipants(numParticipants)] : []),
      ],
    },
    { name: texts.facts.paid, lines: [format(paid)] },
    toDue(balance, { language }),
  ];
}

export function toDue({ due, currency }: BookingBalance, { language }: Pick<MailData, 'language'>): Fact {
  const { facts } = letterTexts[language];
  const amount = formatMoney(due < 0n ? -due : due, currency, language);
  return { name: due < 0n ? facts.owed : facts.due, lines: [amount] };
}
