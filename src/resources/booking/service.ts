import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { amount, amountText } from '../../lib/money.ts';
import { notFound, unavailable, type Fault } from '../../core/errors.ts';
import { concerns, unchanged } from '../../database/audit-log.ts';
import type { Tx } from '../../database/client.ts';
import { rowsOf, run } from '../../database/statements.ts';
import { bookings } from '../../database/tables/orders.ts';
import { participants } from '../../database/tables/participants.ts';
import { own } from '../../lists/tenant-scope.ts';
import { hasLeft, holdsSeat, paid, seat } from '../../reference/statuses.ts';
import { enrol, findKnown, type Enrolled, type Person } from './enrolment-service.ts';
import { recall, remember, requestKey, type AskedWithKey } from './idempotency-service.ts';
import { participantShape } from '../participants/serializer.ts';
import { settleDates } from '../seats/service.ts';
import type { BookingFound, DateFound, ProductFound } from './quote-schema.ts';
import { agreeTerms, type Terms } from './quote-service.ts';
import type { DeregisterBody, SentBooking } from './body-schema.ts';
import { announce, findChildren, findDate, findPayers, findProducts, makeBooking, spendVoucher } from './sql.ts';
import type { BookingMade, PayersFound } from './sql.ts';
import { detailedOrderTitle, fault, refused, type BookingAnswer } from './schema.ts';

/**
 * Books: all of it or nothing, in one transaction under the provider's lock. `faults` is what was found wrong before.
 * With a key that was used for the same request the first answer is given again.
 */
export async function book(ctx: Ctx, sent: SentBooking, faults: Fault[], asked?: AskedWithKey): Promise<BookingAnswer> {
  refuseTooManyPairs(sent);
  const key = asked && requestKey(asked);
  return ctx.write(async (tx, at) => {
    const kept = key && (await recall(ctx, tx, key));
    if (kept && !kept.isSame) throw refused([fault('idempotency_key_reused')]);
    if (kept) return unchanged(tx, kept.answer as BookingAnswer);

    // Both at once; whoever lacks a name or an address is refused by the terms before anybody is enrolled.
    const [found, known] = await Promise.all([find(ctx, tx, sent), findKnown(ctx, tx, personsOf(sent))]);
    const terms = agreeTerms(sent, found, faults);
    const users = await enrol(ctx, tx, at, personsOf(sent), known, terms.customer?.id ?? null);
    const made = await make(ctx, tx, at, sent, terms, users);
    if (terms.voucher) await spend(ctx, tx, at, made.orderId, terms.voucher);
    await send(ctx, tx, at, mailsFor(sent, users, made));

    concerns(tx, made.bookingId);
    const answer = toAnswer(terms, made);
    if (key) await remember(ctx, tx, at, key, { bookingId: made.bookingId, answer });
    return answer;
  });
}

/**
 * Takes all participants of a booking off their dates, and gives the places to who is next. Who has left before stays as
 * they are, so a second call changes nothing. A booking's key names another request.
 */
export async function deregister(ctx: Ctx, bookingId: number, { config = {} }: DeregisterBody, asked?: AskedWithKey) {
  const key = asked && requestKey(asked);
  const { with_fee = false, send_receipt_email_to_participant = false } = config;
  const statusId = with_fee ? seat.deregisteredWithFee : seat.deregistered;
  const ofBooking = own(ctx, participants, eq(participants.bookingId, bookingId));
  await ctx.write(async (tx, at) => {
    if (key && (await recall(ctx, tx, key))) throw refused([fault('idempotency_key_reused')]);
    if ((await tx.$count(bookings, own(ctx, bookings, eq(bookings.id, bookingId)))) === 0) throw notFound('Booking');

    const leaving = (await tx.select().from(participants).where(ofBooking)).filter((one) => !hasLeft(one.statusId));
    if (leaving.length === 0) {
      unchanged(tx);
      return;
    }
    const ids = leaving.map(({ id }) => id);
    await tx
      .update(participants)
      .set({ statusId, statusUpdatedAt: at, updatedAt: at })
      .where(and(ofBooking, inArray(participants.id, ids)));
    const freed = leaving.filter((one) => holdsSeat(one.statusId)).map(({ courseDateId }) => courseDateId);
    await settleDates(ctx, tx, at, [...new Set(freed)]);
    const mails = leaving.map(({ id, userId }) => ({ purpose: 'deregistration', userId, participantId: id }));
    if (send_receipt_email_to_participant) await send(ctx, tx, at, mails);
  });
  const rows = await ctx.db.select().from(participants).where(ofBooking).orderBy(asc(participants.id));
  return {
    successful: true,
    booking_id: String(bookingId),
    participants: await participantShape.embed(ctx, rows, {}, []),
  };
}

/** Participants with the products that they buy: so many are decided and written in a moment. */
const mostPairs = 10_000;
function refuseTooManyPairs({ participants = [] }: SentBooking) {
  const pairs = participants.reduce((sum, { products }) => sum + (products?.length ?? 1), 0);
  if (pairs > mostPairs) throw refused([fault('too_many_products')]);
}

/** All that the booking names, as far as it is there; looked for only when it is named. */
async function find({ providerId }: Ctx, tx: Tx, sent: SentBooking): Promise<BookingFound> {
  const { participants = [], coursedate_id = null, campaign_code, customer_id, voucher_code } = sent;
  const triggers = participants.flatMap(({ trigger_value }) => trigger_value ?? []);
  const productIds = participants.flatMap(({ products }) => products ?? []);
  const isPlain = campaign_code === undefined && customer_id === undefined && voucher_code === undefined;

  const [date] = await run<DateFound>(tx, findDate, [providerId, coursedate_id]);
  const toChildren = [providerId, coursedate_id, JSON.stringify(triggers)];
  const children = date && triggers.length > 0 ? await run<DateFound>(tx, findChildren, toChildren) : [];
  const toProducts = [providerId, JSON.stringify(productIds)];
  const products = productIds.length > 0 ? await run<ProductFound>(tx, findProducts, toProducts) : [];
  const toPayers = [providerId, date?.courseId, campaign_code, customer_id, voucher_code];
  const [payers] = isPlain ? [] : await run<PayersFound>(tx, findPayers, toPayers);
  return {
    dates: date ? [date, ...children] : [],
    products,
    campaigns: payers?.campaigns ?? [],
    voucher: payers?.voucher ?? null,
    customer: payers?.customer ?? null,
  };
}

/** Once the terms are agreed nobody lacks a name or an address. */
const personsOf = ({ participants = [], company, company_number }: SentBooking): Person[] =>
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

async function make({ providerId }: Ctx, tx: Tx, at: string, sent: SentBooking, terms: Terms, users: Enrolled[]) {
  const [made] = await run<BookingMade>(tx, makeBooking, [
    ...[providerId, at, ...orderColumns(sent, terms)],
    ...[terms.date.id, sent.booker_email ?? null, sent.booker_phone ?? null],
    ...[rowsOf(lineRows(terms)), isPaid(terms) ? paid.yes : paid.no],
    ...[rowsOf(participantRows(sent, terms, users)), rowsOf(boughtRows(terms))],
  ]);
  return made!;
}

const isPaid = ({ voucher, totals }: Terms) => totals.inclVat > 0n && voucher?.pays === totals.inclVat;

const orderColumns = (sent: SentBooking, terms: Terms) => [
  terms.date.courseTitle,
  detailedOrderTitle(terms.date.startAt, terms.date.endAt, terms.date.place),
  terms.currency,
  terms.customer?.id ?? null,
  terms.customer?.sellerId ?? null,
  terms.campaignId,
  isPaid(terms),
  sent.payment_method,
  sent.invoice_reference ?? null,
  sent.booker_name ?? null,
  sent.gln_number ?? null,
  sent.invoice_address_1 ?? null,
  sent.invoice_address_2 ?? null,
  sent.invoice_address_3 ?? null,
  sent.invoice_zipcode ?? null,
  sent.invoice_city ?? null,
  sent.invoice_email ?? null,
  terms.totals.agreed.totalBeforeDiscounts,
  terms.totals.agreed.totalDiscounts,
  terms.totals.agreed.totalVat,
  toCustomProperties(sent, terms),
];

/** Who is invoiced is told by the order, even where no new course user carries it, and what is paid by a voucher. */
function toCustomProperties({ company, company_number }: SentBooking, { voucher }: Terms) {
  const isSpent = voucher !== null && voucher.pays > 0n;
  const spent = isSpent ? { voucher_code: voucher.code, voucher_amount: amountText(voucher.pays) } : {};
  const told = JSON.stringify({ company, company_number, ...spent });
  return told === '{}' ? null : told;
}

const lineRows = ({ lines }: Terms) =>
  lines.map((line) => ({
    product: line.productId,
    quantity: line.quantity,
    price: line.priceAtOrder,
    percent: line.discountPercentAtOrder,
    amount: line.discountAmountAtOrder,
    calculated: line.discountCalculatedAtOrder,
    vat: line.vatPercentage,
  }));

const participantRows = ({ participants = [] }: SentBooking, terms: Terms, users: Enrolled[]) =>
  terms.participants.map(({ courseId, courseDateId, status }, n) => ({
    course: courseId,
    date: courseDateId,
    person: users[n]!.userId,
    status,
    comment: participants[n]!.comment,
  }));

/** Who buys what; a buyer is named by their place from 1 on. */
const boughtRows = ({ participants }: Terms) =>
  participants.flatMap(({ productIds }, n) => productIds.map((product) => ({ product, buyer: n + 1 })));

async function spend(
  { providerId, guards }: Ctx,
  tx: Tx,
  at: string,
  orderId: number,
  { id, pays }: NonNullable<Terms['voucher']>,
) {
  if (pays === 0n) return;
  const values = [providerId, id, orderId, amountText(pays), at, guards.voucherBalance];
  const spent = await run(tx, spendVoucher, values);
  if (spent.length === 0) throw unavailable('The voucher was spent in the meantime');
}

function mailsFor({ config = {} }: SentBooking, users: Enrolled[], { participantIds }: BookingMade): Mail[] {
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
async function send({ providerId }: Ctx, tx: Tx, at: string, mails: Mail[]) {
  if (mails.length === 0) return;
  await run(tx, announce, [providerId, at, rowsOf(mails)]);
}

const toAnswer = ({ date, currency, totals, participants }: Terms, made: BookingMade): BookingAnswer => ({
  successful: true,
  summary: {
    order_id: String(made.orderId),
    booking_id: String(made.bookingId),
    coursedate_id: String(date.id),
    currency: currency.toLowerCase(),
    total_excl_vat: amount(totals.exclVat),
    total_incl_vat: amount(totals.inclVat),
    total_vat: amount(totals.vat),
    number_of_participants: participants.length,
    participants: participants.map(({ status }, n) => ({ id: made.participantIds[n]!, status_id: status })),
  },
});
