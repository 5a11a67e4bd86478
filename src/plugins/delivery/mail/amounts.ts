import { and, asc, eq, ne, sql, type SQL } from 'drizzle-orm';
import { formatDay } from '../../../core/date-format.ts';
import { formatMoney, formatPercentage, toMinorUnits, type Minor } from '../../../core/money.ts';
import type { Language } from '../../../core/reference/language.ts';
import { getEnrolmentStatus } from '../../../core/reference/statuses.ts';
import type { Reader } from '../../../database/client.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses, products } from '../../../database/tables/courses.ts';
import { orderLines, orders } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers, fullName } from '../../../database/tables/users.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import type { PlaceCredit } from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import { ordersOfBooking, type BookingBalance } from '../../../domains/orders/payments/balance-service.ts';
import { agreedTotals } from '../../../domains/orders/orders/price-service.ts';
import { fetchRelations } from '../../../domains/orders/order-lines/loaders.ts';
import { grouped } from '../../../lists/relations.ts';
import type { MailDate } from './dates.ts';
import { isNotEmpty, letterTexts, withoutEmpty } from './letter.tsx';
import type { Fact, Section } from './mail-types.ts';

type School = { providerId: number; db: Reader };

/** Participants, and lines, that a receipt lists. */
const maxListed = 100;

type Receipt = Awaited<ReturnType<typeof loadReceipt>>;

/** A booking as its payer sees it: its participants, what they have bought, and the data of the invoice. */
export async function loadReceipt(school: School, bookingId: number, orderId: number) {
  const ofBooking = tenantWhere(school, participants, eq(participants.bookingId, bookingId));
  const lines = await loadLines(school, bookingId);
  return {
    participants: await loadParticipants(school, ofBooking, lines),
    numParticipants: await school.db.$count(participants, ofBooking),
    lines: lines.slice(0, maxListed),
    numLines: lines.length,
    order: await loadOrder(school, orderId),
  };
}

/** Loads the participants with the titles of what each has bought. */
async function loadParticipants(school: School, ofBooking: SQL, lines: { id: number; title: string }[]) {
  const rows = await school.db
    .select({
      id: participants.id,
      name: fullName,
      statusId: participants.statusId,
      dateStatusId: courseDates.statusId,
      courseDateId: courseDates.id,
      title: sql<string>`coalesce(nullif(${courseDates.title}, ''), ${courses.title})`,
      startAt: courseDates.startAt,
    })
    .from(participants)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .innerJoin(courses, sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId)))
    .where(ofBooking)
    .orderBy(asc(participants.id))
    .limit(maxListed);
  const bought = await fetchRelations(school, { providerIds: [school.providerId], ids: lines.map(({ id }) => id) });
  const ofParticipants = grouped(bought, ({ id }) => id);
  return rows.map((row) => {
    const lineIds = ofParticipants.get(row.id)?.map(({ ownerId }) => ownerId) ?? [];
    return { ...row, products: lines.filter(({ id }) => lineIds.includes(id)).map(({ title }) => title) };
  });
}

/** The lines of the order and of those that moves have added, with VAT as their totals have it. */
async function loadLines(school: School, bookingId: number) {
  const { id, quantity, vatPercentage, priceAtOrder, discountCalculatedAtOrder, vatRounding } = orderLines;
  const price = { quantity, vatPercentage, priceAtOrder, discountCalculatedAtOrder, vatRounding };
  const rows = await school.db
    .select({ id, title: products.title, ...price })
    .from(orderLines)
    .innerJoin(orders, sameTenant(orders, orderLines, eq(orders.id, orderLines.orderId)))
    .innerJoin(products, sameTenant(products, orderLines, eq(products.id, orderLines.productId)))
    .where(and(ordersOfBooking(school, bookingId), ne(orders.kind, 'credit')))
    .orderBy(asc(orderLines.id));
  return rows.map((row) => {
    const { totalBeforeDiscounts, totalDiscounts, totalVat } = agreedTotals([row]);
    const [discount, vat] = [toMinorUnits(totalDiscounts), toMinorUnits(totalVat)];
    const { id, title, quantity, vatPercentage } = row;
    const total = toMinorUnits(totalBeforeDiscounts) - discount + vat;
    return { id, title, quantity, vatPercentage, discount, vat, total };
  });
}

/** The data of the invoice, as the booker has entered it. */
async function loadOrder(school: School, orderId: number) {
  const custom = (name: string) => sql<string | null>`${orders.customProperties} ->> ${name}`;
  const [order] = await school.db
    .select({
      reference: orders.yourReference,
      company: custom('company'),
      companyNumber: custom('company_number'),
      gln: orders.glnNumber,
      address: orders.invoiceAddress,
      address2: orders.invoiceAddress2,
      address3: orders.invoiceAddress3,
      zipcode: orders.invoiceZipcode,
      city: orders.invoiceCity,
      email: orders.invoiceEmail,
    })
    .from(orders)
    .where(tenantWhere(school, orders, eq(orders.id, orderId)));
  if (!order) throw new Error(`There is no order ${orderId}`);
  return order;
}

/** All of a booking, for its payer. */
export function composeReceipt(language: Language, date: OnDate, receipt: Receipt, balance: BookingBalance): Section[] {
  const { titles } = letterTexts[language];
  return [
    { title: titles.participants, rows: composeParticipants(language, date, receipt) },
    { title: titles.products, rows: composeLines(language, receipt, balance.currency), isAmounts: true },
    { title: titles.payment, rows: composeSums(language, balance), isAmounts: true },
    { title: titles.invoice, rows: composeInvoice(language, receipt) },
  ].filter(({ rows }) => rows.length > 0);
}

type OnDate = Pick<MailDate, 'courseDateId'>;

function composeParticipants(
  language: Language,
  { courseDateId }: OnDate,
  { participants, numParticipants, numLines }: Receipt,
) {
  const texts = letterTexts[language];
  /** A participant may be moved, or booked on another date of a course. */
  const toOtherDate = (one: Receipt['participants'][number]) =>
    one.courseDateId === courseDateId ? null : `${one.title}, ${formatDay(one.startAt, language)}`;
  const toRow = (one: Receipt['participants'][number]) => ({
    name: one.name,
    lines: [texts.statuses[getEnrolmentStatus(one)], toOtherDate(one), ...(numLines > 1 ? one.products : [])],
  });
  const unnamed = grouped(
    participants.filter(({ name }) => name === ''),
    (one) => toRow(one).lines.join('\n'),
    toRow,
  );
  const rows = [
    ...participants.filter(({ name }) => name !== '').map(toRow),
    ...[...unnamed.values()].flatMap(([row, ...others]) =>
      row ? [{ ...row, name: texts.withoutName(1 + others.length) }] : [],
    ),
  ];
  return withRest(withoutEmpty(rows), numParticipants - participants.length, texts.andMore);
}

function composeLines(language: Language, { lines, numLines }: Receipt, currency: string) {
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

function composeSums(language: Language, balance: BookingBalance): Fact[] {
  const { sums } = letterTexts[language];
  const { ordered, orderedVat, discounts, credited, byVouchers, paid } = balance;
  const row = (name: string, amount: Minor) => ({
    name,
    lines: [formatMoney(amount, balance.currency, language)],
  });
  const left = toDue(balance, language);
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
    isDueForPlace(balance) ? { name: left.lines.join(''), lines: [] } : left,
  ];
}

function composeInvoice(language: Language, { order }: Receipt): Fact[] {
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

/** Adds the number of those that are not listed. */
const withRest = (rows: Fact[], left: number, andMore: (count: number) => string): Fact[] =>
  left > 0 ? [...rows, { name: andMore(left), lines: [] }] : rows;

type Price = { value: Minor; vat: Minor; currency: string };

/** The price of a date to book, for one participant. */
export function composePrice(language: Language, price: Price | null): Fact[] {
  if (!price) return [];
  const texts = letterTexts[language];
  const { value, vat, currency } = price;
  if (value === 0n) return [{ name: texts.facts.price, lines: [texts.free] }];
  const format = (amount: Minor) => formatMoney(amount, currency, language);
  const withVat = vat === 0n ? format(value) : texts.ofWhichVat(format(value), format(vat));
  return [{ name: texts.facts.priceWithVat, lines: [withVat] }];
}

/** The amount credited when the payer gave up the place. */
export function composeCredit(language: Language, credit: PlaceCredit): Fact[] {
  const { sums, facts } = letterTexts[language];
  const format = (amount: Minor) => [formatMoney(amount, credit.currency, language)];
  return [
    { name: sums.credited, lines: format(credit.credited) },
    ...(credit.returned > 0n ? [{ name: facts.returned, lines: format(credit.returned) }] : []),
  ];
}

/** Price with VAT, what is credited, what is paid and what is left to pay. */
export function composeAmounts(language: Language, numParticipants: number, balance: BookingBalance): Fact[] {
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
    toDue(balance, language),
  ];
}

/** True if all is due only for places that the participants wait for. */
const isDueForPlace = ({ due, waiting }: BookingBalance) => due > 0n && waiting === 'all';

function toDue(balance: BookingBalance, language: Language): Fact {
  const { due, currency, waiting } = balance;
  const { facts, dueForPlace, dueForSome } = letterTexts[language];
  const amount = formatMoney(due < 0n ? -due : due, currency, language);
  if (due < 0n) return { name: facts.owed, lines: [amount] };
  if (isDueForPlace(balance)) return { name: facts.due, lines: [dueForPlace(amount)] };
  return { name: facts.due, lines: [amount, ...(due > 0n && waiting === 'some' ? [dueForSome] : [])] };
}
