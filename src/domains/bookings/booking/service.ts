import { asc, eq } from 'drizzle-orm';
import { bookingProblem, bookingError } from '../../../core/booking-errors.ts';
import { detailedOrderTitle } from '../../../core/date-format.ts';
import { itemAt, type CodedError, Problem } from '../../../core/errors.ts';
import { toNumber, toDecimal, toMinorUnits } from '../../../core/money.ts';
import { paymentStatus } from '../../../core/reference/statuses.ts';
import { t } from '../../../core/schema/types.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { bookings, orders } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { queueBookingMails, type RequestedMails } from '../../messages/mails/queue-service.ts';
import { mayBeNotified, queueNotices } from '../../messages/notices/service.ts';
import { loadBalance } from '../../orders/payments/balance-service.ts';
import { paidByVouchers } from '../../orders/payments/loaders.ts';
import {
  createPlaceholders,
  enrolUsers,
  findExistingUsers,
  type EnrolledUser,
  type Person,
} from '../../people/users/enrolment-service.ts';
import type { BookingInput } from './body-schema.ts';
import { loadContext, quoteBooking, type BookingQuote } from './quote-service.ts';
import type { BookingResult, BookingQuery, StoredBooking } from './schema.ts';
import * as sql from './sql.ts';

/** Books in one transaction under the provider's lock; `errors` are those of validation. */
export async function book(ctx: Ctx, input: BookingInput, errors: CodedError[]): Promise<BookingResult> {
  assertPairLimit(input);
  return ctx.write(bookingAreas, (w) => bookWithin(w, input, errors));
}

export const bookingAreas = ['dates', 'people', 'money'] as const;

type BookingOptions = {
  /** Throws unless the booking may be made as quoted. */
  assertAgreed?: (quote: BookingQuote) => void;
  mails?: RequestedMails;
};

/** `book` in a transaction with the areas `bookingAreas`. */
export async function bookWithin(
  w: WriteCtx,
  input: BookingInput,
  errors: CodedError[],
  { assertAgreed, mails }: BookingOptions = {},
): Promise<BookingResult> {
  // Pipelined. The quote rejects persons without a name before they are enrolled.
  const [context, existing] = await Promise.all([loadContext(w, input), findExistingUsers(w, toPersons(input))]);
  const quote = quoteBooking(input, context, errors);
  assertAgreed?.(quote);
  const users =
    input.places === undefined
      ? await enrolUsers(w, toPersons(input), existing, quote.customer?.id ?? null)
      : await createPlaceholders(w, input.places);
  const created = await insertBooking(w, input, quote, users);
  if (quote.voucher) await spendFromVoucher(w, created.orderId, quote.voucher);
  await queueBookingMails(w, { input, switches: quote.date.mailSwitches, users, created, mails });
  if (context.dates.some(mayBeNotified)) {
    const courseDateIds = [...new Set(quote.participants.map(({ courseDateId }) => courseDateId))];
    await queueNotices(w, { booked: created.participantIds, courseDateIds });
  }

  w.tx.auditItem(created.bookingId);
  w.tx.countEvents('bookings', 1);
  return toResponse(quote, created);
}

/** Limits the time under the lock: pairs of participant and product. */
const maxPairs = 10_000;
export function assertPairLimit({ participants = [] }: BookingInput) {
  const pairs = participants.reduce((sum, { products }) => sum + (products?.length ?? 1), 0);
  if (pairs > maxPairs) throw bookingProblem([{ ...bookingError('too_many_products'), concerns: 'participants' }]);
}

/** The names and addresses are missing only until the quote has rejected the booking. */
const toPersons = ({ participants = [], company, company_number }: BookingInput): Person[] =>
  participants.map((one) => ({
    email: one.email!,
    firstname: one.firstname!,
    lastname: one.lastname!,
    phone: one.phone,
    company: one.company ?? company,
    companyNumber: company_number,
    position: one.position,
    dateOfBirth: one.date_of_birth,
  }));

async function insertBooking(
  { providerId, tx, now }: WriteCtx,
  input: BookingInput,
  quote: BookingQuote,
  users: EnrolledUser[],
) {
  return sql.createBooking.one(tx, {
    ...{ providerId, now, ...orderColumns(input, quote) },
    courseDateId: quote.date.id,
    bookerEmail: input.booker_email ?? null,
    bookerPhone: input.booker_phone ?? null,
    waitingTogether: input.waiting_together ?? false,
    bookerLanguageId: input.language ?? null,
    lines: lineRows(quote),
    paidId: isPaid(quote) ? paymentStatus.yes : paymentStatus.no,
    booked: participantRows(input, quote, users),
    purchases: purchaseRows(quote),
  });
}

const isPaid = ({ voucher, totals }: BookingQuote) => totals.inclVat > 0n && voucher?.pays === totals.inclVat;

const orderColumns = (input: BookingInput, quote: BookingQuote) => ({
  title: quote.date.courseTitle,
  titleDetailed: detailedOrderTitle(quote.date.startAt, quote.date.endAt, quote.date.place),
  currency: quote.currency,
  customerId: quote.customer?.id ?? null,
  sellerId: quote.customer?.sellerId ?? null,
  campaignId: quote.campaignId,
  isPaid: isPaid(quote),
  paymentMethod: input.payment_method ?? null,
  yourReference: input.invoice_reference ?? null,
  booker: input.booker_name ?? null,
  glnNumber: input.gln_number ?? null,
  invoiceAddress: input.invoice_address_1 ?? null,
  invoiceAddress2: input.invoice_address_2 ?? null,
  invoiceAddress3: input.invoice_address_3 ?? null,
  invoiceZipcode: input.invoice_zipcode ?? null,
  invoiceCity: input.invoice_city ?? null,
  invoiceEmail: input.invoice_email ?? null,
  ...quote.totals.agreed,
  customProperties: toCustomProperties(input, quote),
});

/** The invoiced company, which no existing course user stores, and the amount paid by voucher. */
function toCustomProperties({ company, company_number }: BookingInput, { voucher }: BookingQuote) {
  const isSpent = voucher !== null && voucher.pays > 0n;
  const spent = isSpent ? { voucher_code: voucher.code, voucher_amount: toDecimal(voucher.pays) } : {};
  const properties = { company, company_number, ...spent };
  return Object.values(properties).some((value) => value !== undefined) ? properties : null;
}

const lineRows = ({ lines }: BookingQuote) =>
  lines.map((line) => ({
    product: line.productId,
    quantity: line.quantity,
    price: line.priceAtOrder,
    percent: line.discountPercentAtOrder,
    amount: line.discountAmountAtOrder,
    calculated: line.discountCalculatedAtOrder,
    vat: line.vatPercentage,
  }));

const participantRows = ({ participants = [] }: BookingInput, quote: BookingQuote, users: EnrolledUser[]) =>
  quote.participants.map(({ courseId, courseDateId, statusId, heldFor }, n) => ({
    course: courseId,
    date: courseDateId,
    person: itemAt(users, n).userId,
    status: statusId,
    heldFor,
    comment: participants[n]?.comment ?? null,
    properties: t.mergeCustomProperties(null, participants[n]?.custom_properties),
  }));

/** Buyers by their place, from 1. */
const purchaseRows = ({ participants }: BookingQuote) =>
  participants.flatMap(({ productIds }, n) => productIds.map((product) => ({ product, buyer: n + 1 })));

async function spendFromVoucher(
  { providerId, tx, now }: WriteCtx,
  orderId: number,
  { id, pays }: NonNullable<BookingQuote['voucher']>,
) {
  if (pays === 0n) return;
  const spent = await sql.spendVoucher(tx, { providerId, voucherId: id, orderId, amount: toDecimal(pays), now });
  if (spent.length === 0) throw Problem.unavailable('The voucher was spent in the meantime');
}

export const toResponse = (
  { date, currency, totals, participants, voucher }: BookingQuote,
  created: sql.BookingCreated,
): BookingResult => ({
  successful: true,
  summary: {
    order_id: String(created.orderId),
    booking_id: String(created.bookingId),
    coursedate_id: String(date.id),
    currency: currency.toLowerCase(),
    total_excl_vat: toNumber(totals.exclVat),
    total_incl_vat: toNumber(totals.inclVat),
    total_vat: toNumber(totals.vat),
    number_of_participants: participants.length,
    participants: participants.map(({ statusId }, n) => ({ id: created.participantIds[n]!, status_id: statusId })),
    ...(voucher && { paid_by_voucher: toNumber(voucher.pays), to_pay: toNumber(totals.inclVat - voucher.pays) }),
  },
});

/** The booking as it is now, with all of its participants, deregistered ones too. */
export async function getBooking(ctx: Ctx, id: number, { include = [] }: BookingQuery = {}): Promise<StoredBooking> {
  const [booking, booked] = await Promise.all([findBooking(ctx, id), findParticipants(ctx, id)]);
  const { orderId, courseDateId, currency, ...amounts } = Problem.assertFound(booking, 'Booking');
  const balance = await loadBalance(ctx, id);
  const exclVat = toMinorUnits(amounts.before) - toMinorUnits(amounts.discounts);
  const vat = toMinorUnits(amounts.vat);
  return {
    successful: true,
    summary: {
      order_id: String(orderId),
      booking_id: String(id),
      coursedate_id: String(courseDateId),
      currency: currency.toLowerCase(),
      total_excl_vat: toNumber(exclVat),
      total_incl_vat: toNumber(exclVat + vat),
      total_vat: toNumber(vat),
      number_of_participants: booked.length,
      participants: booked,
      paid_by_voucher: toNumber(toMinorUnits(amounts.byVoucher)),
      to_pay: balance.due,
      ...(include.includes('balance') && { balance }),
    },
  };
}

async function findBooking(ctx: Ctx, id: number) {
  const [found] = await ctx.db
    .select({
      orderId: bookings.orderId,
      courseDateId: bookings.courseDateId,
      currency: orders.currency,
      before: orders.totalBeforeDiscounts,
      discounts: orders.totalDiscounts,
      vat: orders.totalVat,
      byVoucher: paidByVouchers,
    })
    .from(bookings)
    .innerJoin(orders, sameTenant(orders, bookings, eq(orders.id, bookings.orderId)))
    .where(tenantWhere(ctx, bookings, eq(bookings.id, id)));
  return found;
}

const findParticipants = (ctx: Ctx, bookingId: number) =>
  ctx.db
    .select({ id: participants.id, status_id: participants.statusId })
    .from(participants)
    .where(tenantWhere(ctx, participants, eq(participants.bookingId, bookingId)))
    .orderBy(asc(participants.id));
