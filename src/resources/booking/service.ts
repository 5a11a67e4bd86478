import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { amount, amountText } from '../../lib/money.ts';
import { notFound, unavailable, type Fault } from '../../core/errors.ts';
import { recordAffected, rollbackNoChange } from '../../database/audit-log.ts';
import type { Tx } from '../../database/client.ts';
import { toRecordset, execute } from '../../database/statements.ts';
import { bookings } from '../../database/tables/orders.ts';
import { participants } from '../../database/tables/participants.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { hasLeft, holdsSeat, paid, seat } from '../../reference/statuses.ts';
import { enrol, findKnown, type Enrolled, type Person } from './enrolment-service.ts';
import { findStoredResponse, storeResponse, requestKey, type AskedWithKey } from './idempotency-service.ts';
import { participantShape } from '../participants/serializer.ts';
import { promoteWaitingLists } from '../seats/service.ts';
import type { BookingFound, DateFound, ProductFound } from './quote-schema.ts';
import { quoteBooking, type BookingQuote } from './quote-service.ts';
import type { DeregisterBody, SentBooking } from './body-schema.ts';
import { announce, findChildren, findDate, findPayers, findProducts, createBooking, spendVoucher } from './sql.ts';
import type { BookingCreated, PayersFound } from './sql.ts';
import { detailedOrderTitle, fault, refused, type BookingAnswer } from './schema.ts';

/**
 * Books: all of it or nothing, in one transaction under the provider's lock. `faults` is what was found wrong before.
 * With a key that was used for the same request the first answer is given again.
 */
export async function book(
  ctx: Ctx,
  input: SentBooking,
  faults: Fault[],
  requested?: AskedWithKey,
): Promise<BookingAnswer> {
  assertPairLimit(input);
  const key = requested && requestKey(requested);
  return ctx.write(async (tx, now) => {
    const stored = key && (await findStoredResponse(ctx, tx, key));
    if (stored && !stored.isSame) throw refused([fault('idempotency_key_reused')]);
    if (stored) return rollbackNoChange(tx, stored.answer as BookingAnswer);

    // Both at once; whoever lacks a name or an address is refused by the terms before anybody is enrolled.
    const [found, known] = await Promise.all([find(ctx, tx, input), findKnown(ctx, tx, getPersons(input))]);
    const quote = quoteBooking(input, found, faults);
    const users = await enrol(ctx, tx, now, getPersons(input), known, quote.customer?.id ?? null);
    const created = await make(ctx, tx, now, input, quote, users);
    if (quote.voucher) await spend(ctx, tx, now, created.orderId, quote.voucher);
    await send(ctx, tx, now, mailsFor(input, users, created));

    recordAffected(tx, created.bookingId);
    const answer = toAnswer(quote, created);
    if (key) await storeResponse(ctx, tx, now, key, { bookingId: created.bookingId, answer });
    return answer;
  });
}

/**
 * Takes all participants of a booking off their dates, and gives the places to who is next. Who has left before stays as
 * they are, so a second call changes nothing. A booking's key names another request.
 */
export async function deregister(
  ctx: Ctx,
  bookingId: number,
  { config = {} }: DeregisterBody,
  requested?: AskedWithKey,
) {
  const key = requested && requestKey(requested);
  const { with_fee = false, send_receipt_email_to_participant = false } = config;
  const statusId = with_fee ? seat.deregisteredWithFee : seat.deregistered;
  const ofBooking = tenantWhere(ctx, participants, eq(participants.bookingId, bookingId));
  await ctx.write(async (tx, now) => {
    if (key && (await findStoredResponse(ctx, tx, key))) throw refused([fault('idempotency_key_reused')]);
    if ((await tx.$count(bookings, tenantWhere(ctx, bookings, eq(bookings.id, bookingId)))) === 0)
      throw notFound('Booking');

    const leaving = (await tx.select().from(participants).where(ofBooking)).filter((one) => !hasLeft(one.statusId));
    if (leaving.length === 0) {
      rollbackNoChange(tx);
      return;
    }
    const ids = leaving.map(({ id }) => id);
    await tx
      .update(participants)
      .set({ statusId, statusUpdatedAt: now, updatedAt: now })
      .where(and(ofBooking, inArray(participants.id, ids)));
    const freed = leaving.filter((one) => holdsSeat(one.statusId)).map(({ courseDateId }) => courseDateId);
    await promoteWaitingLists(ctx, tx, now, [...new Set(freed)]);
    const mails = leaving.map(({ id, userId }) => ({ purpose: 'deregistration', userId, participantId: id }));
    if (send_receipt_email_to_participant) await send(ctx, tx, now, mails);
  });
  const rows = await ctx.db.select().from(participants).where(ofBooking).orderBy(asc(participants.id));
  return {
    successful: true,
    booking_id: String(bookingId),
    participants: await participantShape.embed(ctx, rows, {}, []),
  };
}

/** Participants with the products that they buy: so many are decided and written in a moment. */
const maxPairs = 10_000;
function assertPairLimit({ participants = [] }: SentBooking) {
  const pairs = participants.reduce((sum, { products }) => sum + (products?.length ?? 1), 0);
  if (pairs > maxPairs) throw refused([fault('too_many_products')]);
}

/** All that the booking names, as far as it is there; looked for only when it is named. */
async function find({ providerId }: Ctx, tx: Tx, input: SentBooking): Promise<BookingFound> {
  const { participants = [], coursedate_id = null, campaign_code, customer_id, voucher_code } = input;
  const triggers = participants.flatMap(({ trigger_value }) => trigger_value ?? []);
  const productIds = participants.flatMap(({ products }) => products ?? []);
  const isPlain = campaign_code === undefined && customer_id === undefined && voucher_code === undefined;

  const [date] = await execute<DateFound>(tx, findDate, [providerId, coursedate_id]);
  const toChildren = [providerId, coursedate_id, JSON.stringify(triggers)];
  const children = date && triggers.length > 0 ? await execute<DateFound>(tx, findChildren, toChildren) : [];
  const toProducts = [providerId, JSON.stringify(productIds)];
  const products = productIds.length > 0 ? await execute<ProductFound>(tx, findProducts, toProducts) : [];
  const toPayers = [providerId, date?.courseId, campaign_code, customer_id, voucher_code];
  const [payers] = isPlain ? [] : await execute<PayersFound>(tx, findPayers, toPayers);
  return {
    dates: date ? [date, ...children] : [],
    products,
    campaigns: payers?.campaigns ?? [],
    voucher: payers?.voucher ?? null,
    customer: payers?.customer ?? null,
  };
}

/** Once the terms are agreed nobody lacks a name or an address. */
const getPersons = ({ participants = [], company, company_number }: SentBooking): Person[] =>
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

async function make(
  { providerId }: Ctx,
  tx: Tx,
  now: string,
  input: SentBooking,
  quote: BookingQuote,
  users: Enrolled[],
) {
  const [created] = await execute<BookingCreated>(tx, createBooking, [
    ...[providerId, now, ...orderColumns(input, quote)],
    ...[quote.date.id, input.booker_email ?? null, input.booker_phone ?? null],
    ...[toRecordset(lineRows(quote)), isPaid(quote) ? paid.yes : paid.no],
    ...[toRecordset(participantRows(input, quote, users)), toRecordset(boughtRows(quote))],
  ]);
  return created!;
}

const isPaid = ({ voucher, totals }: BookingQuote) => totals.inclVat > 0n && voucher?.pays === totals.inclVat;

const orderColumns = (input: SentBooking, quote: BookingQuote) => [
  quote.date.courseTitle,
  detailedOrderTitle(quote.date.startAt, quote.date.endAt, quote.date.place),
  quote.currency,
  quote.customer?.id ?? null,
  quote.customer?.sellerId ?? null,
  quote.campaignId,
  isPaid(quote),
  input.payment_method,
  input.invoice_reference ?? null,
  input.booker_name ?? null,
  input.gln_number ?? null,
  input.invoice_address_1 ?? null,
  input.invoice_address_2 ?? null,
  input.invoice_address_3 ?? null,
  input.invoice_zipcode ?? null,
  input.invoice_city ?? null,
  input.invoice_email ?? null,
  quote.totals.agreed.totalBeforeDiscounts,
  quote.totals.agreed.totalDiscounts,
  quote.totals.agreed.totalVat,
  toCustomProperties(input, quote),
];

/** Who is invoiced is told by the order, even where no new course user carries it, and what is paid by a voucher. */
function toCustomProperties({ company, company_number }: SentBooking, { voucher }: BookingQuote) {
  const isSpent = voucher !== null && voucher.pays > 0n;
  const spent = isSpent ? { voucher_code: voucher.code, voucher_amount: amountText(voucher.pays) } : {};
  const logged = JSON.stringify({ company, company_number, ...spent });
  return logged === '{}' ? null : logged;
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

const participantRows = ({ participants = [] }: SentBooking, quote: BookingQuote, users: Enrolled[]) =>
  quote.participants.map(({ courseId, courseDateId, status }, n) => ({
    course: courseId,
    date: courseDateId,
    person: users[n]!.userId,
    status,
    comment: participants[n]!.comment,
  }));

/** Who buys what; a buyer is named by their place from 1 on. */
const boughtRows = ({ participants }: BookingQuote) =>
  participants.flatMap(({ productIds }, n) => productIds.map((product) => ({ product, buyer: n + 1 })));

async function spend(
  { providerId, guards }: Ctx,
  tx: Tx,
  now: string,
  orderId: number,
  { id, pays }: NonNullable<BookingQuote['voucher']>,
) {
  if (pays === 0n) return;
  const values = [providerId, id, orderId, amountText(pays), now, guards.voucherBalance];
  const spent = await execute(tx, spendVoucher, values);
  if (spent.length === 0) throw unavailable('The voucher was spent in the meantime');
}

function mailsFor({ config = {} }: SentBooking, users: Enrolled[], { participantIds }: BookingCreated): Mail[] {
  const newUserIds = new Set(users.flatMap(({ userId, isNew }) => (isNew ? [userId] : [])));
  const accounts = [...newUserIds].map((userId) => ({ purpose: 'account_created', userId, participantId: null }));
  const receipts = users.map(({ userId }, n) => ({ purpose: 'receipt', userId, participantId: participantIds[n]! }));
  return [
    ...(config.send_account_created_email_to_user ? accounts : []),
    ...(config.send_receipt_email_to_participant ? receipts : []),
  ];
}

type Mail = { purpose: string; userId: number; participantId: number | null };

/** Mails are rows of this transaction; they are sent later. */
async function send({ providerId }: Ctx, tx: Tx, now: string, mails: Mail[]) {
  if (mails.length === 0) return;
  await execute(tx, announce, [providerId, now, toRecordset(mails)]);
}

const toAnswer = ({ date, currency, totals, participants }: BookingQuote, created: BookingCreated): BookingAnswer => ({
  successful: true,
  summary: {
    order_id: String(created.orderId),
    booking_id: String(created.bookingId),
    coursedate_id: String(date.id),
    currency: currency.toLowerCase(),
    total_excl_vat: amount(totals.exclVat),
    total_incl_vat: amount(totals.inclVat),
    total_vat: amount(totals.vat),
    number_of_participants: participants.length,
    participants: participants.map(({ status }, n) => ({ id: created.participantIds[n]!, status_id: status })),
  },
});
