import { formatDay } from '../../../../core/date-format.ts';
import { formatMoney, formatPercentage, type Minor } from '../../../../core/money.ts';
import { getEnrolmentStatus } from '../../../../core/reference/statuses.ts';
import { grouped } from '../../../../lists/relations.ts';
import type { BookingBalance } from '../../../../domains/orders/payments/balance-service.ts';
import { isDueForPlace, toDue } from '../amounts.ts';
import { withoutEmpty, type Fact } from '../facts.ts';
import type { Section } from '../letter.tsx';
import { isNotEmpty, type MailData } from '../mail-data.ts';
import { letterTexts } from '../messages.ts';
import type { Receipt } from '../receipt.ts';

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
