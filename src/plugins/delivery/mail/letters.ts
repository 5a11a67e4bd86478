import { formatDay } from '../../../core/date-format.ts';
import { formatMoney, formatPercentage, type Minor } from '../../../core/money.ts';
import { participantStatus, getEnrolmentStatus } from '../../../core/reference/statuses.ts';
import type { MailPurpose } from '../../../database/tables/outbox.ts';
import type { BookingBalance } from '../../../domains/orders/payments/balance-service.ts';
import { grouped } from '../../../lists/relations.ts';
import { isDueForPlace, toDue } from './amounts.ts';
import { composeFormer, withoutEmpty, type Fact } from './facts.ts';
import type { Section } from './letter.tsx';
import { type MailData, toActiveStatus, type ScheduleChange, isNotEmpty } from './mail-data.ts';
import { type LetterTexts, letterTexts } from './messages.ts';
import type { Receipt } from './receipt.ts';

/** Subject and text of each letter, by purpose. */
export type Letters = Partial<Record<MailPurpose, (mail: MailData, texts: LetterTexts) => Opening>>;
type Opening = { subject: string; text: string[] };

/** With the message of a cancellation. */
const withMessage = ({ subject, text }: Opening, { cancellationMessage }: MailData): Opening => ({
  subject,
  text: [...text, cancellationMessage ?? ''],
});

/** About an account at the school. */
export const accountLetters: Letters = {
  invitation: ({ school, username }, texts) => texts.invitation(school, username),
  account_created: ({ school, username }, texts) => texts.accountCreated(school, username),
};

/** To the booker, about the booking or a place without a name. */
export const bookerLetters: Letters = {
  booking_link: ({ school, title }, texts) => texts.bookingLink(school, title),
  booking_receipt: ({ school, title }, texts) => texts.bookingReceipt(school, title),
  reminder: ({ school, title }, texts) => texts.reminderOfBooking(school, title),
  move: (mail, texts) => withMessage(texts.moveOfBooking(mail.school, mail.title), mail),
};

/** To those who are interested in a course. */
export const interestLetters: Letters = {
  interest_confirmation: ({ school, title }, texts) => texts.interestConfirmation(school, title),
  date_published: ({ school, title }, texts) => texts.datePublished(school, title),
};

/** To a participant, and to the person before a swap. `outdatedReason` has excluded others who have left. */
export const participantLetters: Letters = {
  receipt: (mail, texts) => texts.receipt(toActiveStatus(mail), mail.school, mail.title, mail.isStatusChanged),
  deregistration: ({ statusId, school, title, isDateDeleted }, texts) =>
    texts.deregistration(statusId === participantStatus.deregisteredWithFee, school, title, isDateDeleted),
  offer: ({ school, title }, texts) => texts.offer(school, title),
  promotion: ({ school, title }, texts) => texts.promotion(school, title),
  swap: (mail, texts) =>
    mail.isToParticipant
      ? texts.swap(toActiveStatus(mail), mail.school, mail.title)
      : texts.swappedOut(mail.school, mail.title),
  move: (mail, texts) => withMessage(texts.move(toActiveStatus(mail), mail.school, mail.title), mail),
  moved_away: ({ school, title }, texts) => texts.movedAway(school, title),
  date_canceled: (mail, texts) => withMessage(texts.dateCanceled(mail.school, mail.title), mail),
  date_changed(mail, texts) {
    const changed = Object.keys(composeFormer(mail, '')) as ScheduleChange[];
    return texts.dateChanged(mail.school, mail.title, changed, mail.before?.isCanceled === true);
  },
  reminder: ({ school, title }, texts) => texts.reminder(school, title),
};

/** To the school, besides its notices. */
export const schoolLetters: Letters = {
  // `outdatedReason` has excluded a webhook that is active.
  webhook_disabled: ({ disabledReason, webhookHost }, texts) => texts.webhookDisabled(disabledReason!, webhookHost!),
  address_refused: ({ refusedEmail, refusalReason, refusedSubject }, texts) =>
    texts.addressRefused(refusedEmail!, refusalReason!, refusedSubject),
};

/** All of a booking, for its payer. */
export function composeReceipt(mail: MailData, receipt: Receipt, balance: BookingBalance): Section[] {
  const { titles } = letterTexts[mail.language];
  return [
    { title: titles.participants, rows: composeParticipants(mail, receipt) },
    { title: titles.products, rows: composeLines(mail, receipt, balance.currency), isAmounts: true },
    { title: titles.payment, rows: composeSums(mail, balance), isAmounts: true },
    { title: titles.invoice, rows: composeInvoice(mail, receipt) },
  ].filter(({ rows }) => rows.length > 0);
}

function composeParticipants(mail: MailData, { participants, numParticipants, numLines }: Receipt) {
  const texts = letterTexts[mail.language];
  const toRow = (one: Receipt['participants'][number]) => ({
    name: one.name,
    lines: [texts.statuses[getEnrolmentStatus(one)], toOtherDate(one, mail), ...(numLines > 1 ? one.products : [])],
  });
  const unnamed = grouped(
    participants.filter(({ name }) => name === ''),
    (one) => toRow(one).lines.join('\n'),
    toRow,
  );
  const rows = [
    ...participants.filter(({ name }) => name !== '').map(toRow),
    ...[...unnamed.values()].map((rows) => ({ ...rows[0]!, name: texts.withoutName(rows.length) })),
  ];
  return withRest(withoutEmpty(rows), numParticipants - participants.length, texts.andMore);
}

/** A participant may be moved, or booked on another date of a course. */
const toOtherDate = ({ courseDateId, title, startAt }: Receipt['participants'][number], mail: MailData) =>
  courseDateId === mail.courseDateId ? null : `${title}, ${formatDay(startAt, mail.language)}`;

function composeLines({ language }: MailData, { lines, numLines }: Receipt, currency: string) {
  const texts = letterTexts[language];
  const format = (amount: Minor) => formatMoney(amount, currency, language);
  const rows = lines.map(({ title, quantity, total, vat, vatPercentage, discount }) => ({
    name: quantity === 1 ? title : `${title} ×\u00a0${quantity}`,
    lines: [
      format(total),
      vat === 0n ? texts.withoutVat : texts.vatOf(formatPercentage(vatPercentage, language), format(vat)),
      discount === 0n ? '' : texts.discountOf(format(discount)),
    ].filter(isNotEmpty),
  }));
  return withRest(rows, numLines - lines.length, texts.andMore);
}

function composeSums(mail: MailData, balance: BookingBalance): Fact[] {
  const { sums } = letterTexts[mail.language];
  const { ordered, orderedVat, discounts, credited, byVouchers, paid } = balance;
  const row = (name: string, amount: Minor) => ({
    name,
    lines: [formatMoney(amount, balance.currency, mail.language)],
  });
  const left = toDue(balance, mail);
  const unlessZero = (name: string, amount: Minor) => (amount === 0n ? [] : [row(name, amount)]);
  return [
    ...unlessZero(sums.discounts, -discounts),
    row(sums.exclVat, ordered - orderedVat),
    row(sums.vat, orderedVat),
    row(sums.inclVat, ordered),
    ...unlessZero(sums.credited, -credited),
    ...unlessZero(sums.byVouchers, byVouchers),
    row(sums.payments, paid - byVouchers),
    // The column of amounts does not wrap.
    isDueForPlace(balance) ? { name: left.lines[0]!, lines: [] } : left,
  ];
}

function composeInvoice({ language }: MailData, { order }: Receipt): Fact[] {
  const { invoice } = letterTexts[language];
  const city = [order.zipcode, order.city].filter(isNotEmpty).join(' ');
  return withoutEmpty([
    { name: invoice.company, lines: [order.company] },
    { name: invoice.companyNumber, lines: [order.companyNumber] },
    { name: invoice.address, lines: [order.address, order.address2, order.address3, city] },
    { name: invoice.email, lines: [order.email] },
    { name: invoice.reference, lines: [order.reference] },
    { name: invoice.gln, lines: [order.gln] },
  ]);
}

/** With the number of those that are not listed. */
const withRest = (rows: Fact[], left: number, andMore: (count: number) => string): Fact[] =>
  left > 0 ? [...rows, { name: andMore(left), lines: [] }] : rows;
