import { formatMoney, type Minor } from '../../../core/money.ts';
import { participantStatus } from '../../../core/reference/statuses.ts';
import type { BookingBalance } from '../../../domains/orders/payments/balance-service.ts';
import type { PlaceCredit } from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import type { Fact } from './facts.ts';
import type { MailData } from './mail-data.ts';
import { letterTexts } from './messages.ts';
import type { PublishedDate } from './published-date.ts';

/**
 * Participants see the amounts only of a booking of their own that nobody else pays. Nobody sees them in a mail about a
 * place that is lost, or left without a fee, but for what was credited: the order may be credited later.
 */
export const showsAmounts = (mail: MailData) => {
  const { purpose, statusId, bookingId, isToBooker, isToParticipant } = mail;
  const hasLeftFreely = purpose === 'deregistration' && statusId === participantStatus.deregistered;
  const isOfRecipient = isToParticipant === true && purpose !== 'swap' && mail.isOnlyParticipant && !mail.hasOtherPayer;
  return bookingId !== null && purpose !== 'moved_away' && !hasLeftFreely && (isToBooker || isOfRecipient);
};

/** Of a date to book, for one participant. */
export function composePrice({ language }: MailData, price: PublishedDate['price'] | undefined): Fact[] {
  if (!price) return [];
  const texts = letterTexts[language];
  const { value, vat, currency } = price;
  if (value === 0n) return [{ name: texts.facts.price, lines: [texts.free] }];
  const [amount, ofWhich] = [value, vat].map((one) => formatMoney(one, currency, language));
  return [{ name: texts.facts.priceWithVat, lines: [vat === 0n ? amount! : texts.ofWhichVat(amount!, ofWhich!)] }];
}

/** The amount credited when the payer gave up the place. */
export function composeCredit({ language }: MailData, credit: PlaceCredit | undefined): Fact[] {
  if (!credit) return [];
  const { sums, facts } = letterTexts[language];
  const format = (amount: Minor) => [formatMoney(amount, credit.currency, language)];
  return [
    { name: sums.credited, lines: format(credit.credited) },
    ...(credit.returned > 0n ? [{ name: facts.returned, lines: format(credit.returned) }] : []),
  ];
}

/** Price with VAT, what is credited, what is paid and what is left to pay. */
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
    ...(credited > 0n ? [{ name: texts.sums.credited, lines: [format(credited)] }] : []),
    { name: texts.facts.paid, lines: [format(paid)] },
    toDue(balance, { language }),
  ];
}

/** True if all is due only for places that the participants wait for. */
export const isDueForPlace = ({ due, waiting }: BookingBalance) => due > 0n && waiting === 'all';

export function toDue(balance: BookingBalance, { language }: Pick<MailData, 'language'>): Fact {
  const { due, currency, waiting } = balance;
  const { facts, dueForPlace, dueForSome } = letterTexts[language];
  const amount = formatMoney(due < 0n ? -due : due, currency, language);
  if (due < 0n) return { name: facts.owed, lines: [amount] };
  if (isDueForPlace(balance)) return { name: facts.due, lines: [dueForPlace(amount)] };
  return { name: facts.due, lines: [amount, ...(due > 0n && waiting === 'some' ? [dueForSome] : [])] };
}
