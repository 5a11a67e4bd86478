import { and, asc, desc, eq, isNull, or, sql, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { itemAt, Problem } from '../../../core/errors.ts';
import { min, sum, toDecimal, toMinorUnits, toNumber, type Minor } from '../../../core/money.ts';
import { paymentStatus } from '../../../core/reference/statuses.ts';
import type { Ctx, SchoolWrite, WriteCtx } from '../../../database/context.ts';
import { recordEvents } from '../../../database/record-events.ts';
import { folded } from '../../../database/tables/columns.ts';
import { bookings, orders, payments, type paymentMethods } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import type { PaymentBody } from './body-schema.ts';
import { paymentList } from './list.ts';
import { due, isPartlyPaid, orderTotal } from './loaders.ts';
import type { CreatedPayment, Payment } from './schema.ts';

export const getPayment = async (ctx: Ctx, id: number): Promise<Payment> =>
  Problem.assertFound(await paymentList.byId(ctx, id), 'Payment');

export type Debt = Awaited<ReturnType<typeof findDebt>>;

/** An order with its total and what is due of it. */
export async function findDebt(w: SchoolWrite, orderId: number) {
  const [found] = await w.tx
    .select({
      ...{ id: orders.id, kind: orders.kind, currency: orders.currency, isPaid: orders.isPaid },
      isPartlyPaid,
      total: sql`${orderTotal}`.mapWith(toMinorUnits),
      due: sql`${due}`.mapWith(toMinorUnits),
    })
    .from(orders)
    .where(tenantWhere(w, orders, eq(orders.id, orderId)));
  return Problem.assertFound(found, 'Order');
}

/** True if nothing is due of an order, or owed of a credit; an order of 0 stays as it is. */
export const isSettled = ({ isPaid, total, due }: Pick<Debt, 'isPaid' | 'total' | 'due'>) =>
  total === 0n ? isPaid : total > 0n ? due <= 0n : due >= 0n;

/** Sets whether an order is paid, and `paid` of its participants, by what is due. Call after every change of that. */
export async function updatePaid(w: SchoolWrite, orderId: number, { byCredit = false } = {}) {
  const debt = await findDebt(w, orderId);
  if (isSettled(debt) !== debt.isPaid) await setPaid(w, debt, !debt.isPaid, byCredit);
}

/** The event is `order.paid` where money or vouchers paid a part, and `order.settled` where a credit or nothing did. */
export async function setPaid(w: SchoolWrite, debt: Debt, isPaid: boolean, byCredit = false) {
  const orderId = debt.id;
  await w.tx
    .update(orders)
    .set({ isPaid, updatedAt: w.now })
    .where(tenantWhere(w, orders, eq(orders.id, orderId)));
  const events = [
    ...(debt.isPartlyPaid ? (['order.paid'] as const) : []),
    ...(byCredit || !debt.isPartlyPaid ? (['order.settled'] as const) : []),
  ];
  const recorded = events.map((type) => ({ type, id: orderId }));
  if (isPaid) await recordEvents(w, recorded);
  const [booking] = await w.tx
    .select({ id: bookings.id })
    .from(bookings)
    .where(tenantWhere(w, bookings, eq(bookings.orderId, orderId)));
  const ofBooking = booking && tenantWhere(w, participants, eq(participants.bookingId, booking.id));
  const paidId = isPaid ? paymentStatus.yes : paymentStatus.no;
  if (ofBooking) await w.tx.updateChanged(participants, ofBooking, { paidId }, w.now);
}

type NewPayment = Pick<typeof payments.$inferInsert, 'method' | 'reference'> & { paidAt?: string | undefined };

/** Adds a payment of an order, or a refund by each method; the amount is checked before. Returns the ids. */
export async function addPayment(
  w: WriteCtx,
  orderId: number,
  amount: Minor,
  { method, reference, paidAt = w.now }: NewPayment = {},
): Promise<number[]> {
  const own = { providerId: w.providerId, orderId, createdAt: w.now, updatedAt: w.now };
  const isSplit = method === undefined && amount < 0n;
  const parts = isSplit ? await splitRefund(w, orderId, amount) : [{ method, amount }];
  const values = parts.map((part) => ({ ...own, ...part, amount: toDecimal(part.amount), reference, paidAt }));
  const isFuture = sql<boolean>`${payments.paidAt}::date > ${w.now}::timestamptz::date`;
  const added = await w.tx.insert(payments).values(values).returning({ id: payments.id, isFuture });
  if (added.some(({ isFuture }) => isFuture)) throw Problem.invalidFields({ rules: { paid_at: 'date_in_future' } });
  await updatePaid(w, orderId);
  return added.map(({ id }) => id);
}

/** True if the order has payments that stand, and none of this second. */
export async function isPaidAtOtherTime(w: WriteCtx, orderId: number, paidAt: string) {
  const isEqual = sql<
    boolean | null
  >`bool_or(date_trunc('second', ${payments.paidAt}) = date_trunc('second', ${paidAt}::timestamptz))`;
  const standing = tenantWhere(w, payments, eq(payments.orderId, orderId), isNull(payments.reversedAt));
  const [found] = await w.tx.select({ isEqual }).from(payments).where(standing);
  return found?.isEqual === false;
}

/** Finds the payment with an equal reference instead, if it has the same amount. */
export function createPayment(
  ctx: Ctx,
  orderId: number,
  body: PaymentBody,
): Promise<{ payment: CreatedPayment; isNew: boolean }> {
  const { reference, method, paid_at: paidAt, overpaid = false } = body;
  return ctx.write(['money', 'people'], async (w) => {
    const reader = { ...ctx, db: w.tx };
    const debt = await findDebt(w, orderId);
    if (body.currency !== undefined && body.currency.toUpperCase() !== debt.currency)
      throw Problem.invalidFields({ rules: { currency: 'currency_differs' } });
    const sent = body.amount === undefined ? undefined : toMinorUnits(body.amount.toFixed(2));
    const found = reference === undefined ? [] : await findByReference(w, orderId, reference);
    if (found.length > 0) {
      const ids = found.map(({ id }) => id);
      const amount = sum(found.map((one) => toMinorUnits(one.amount)));
      if (sent !== undefined && sent !== amount) throw referenceReused();
      return w.tx.rollBack({ payment: await getParts(reader, ids), isNew: false });
    }
    if (overpaid && debt.kind === 'credit') throw Problem.invalidFields({ rules: { overpaid: 'credit_overpaid' } });
    const amount = sent ?? (debt.kind !== 'credit' && debt.due < 0n ? 0n : debt.due);
    if (!overpaid || amount <= 0n) assertPayable(debt, amount);
    const ids = await addPayment(w, orderId, amount, { method, reference, paidAt });
    ids.forEach((id) => w.tx.auditItem(id));
    return { payment: await getParts(reader, ids), isNew: true };
  });
}

async function getParts(reader: Ctx, ids: number[]): Promise<CreatedPayment> {
  const parts: Payment[] = [];
  for (const id of ids) parts.push(await getPayment(reader, id));
  return { ...itemAt(parts), ...(parts.length > 1 && { parts }) };
}

/** The payment with an equal reference, or the parts of that refund. */
async function findByReference(w: WriteCtx, orderId: number, reference: string) {
  const isEqual = sql`${folded(payments.reference)} = ${folded(reference)}`;
  const ofOrder = and(eq(payments.orderId, orderId), isEqual, isNull(payments.reversedAt));
  const found = await w.tx
    .select({ id: payments.id, amount: payments.amount, createdAt: payments.createdAt })
    .from(payments)
    .where(tenantWhere(w, payments, ofOrder))
    .orderBy(asc(payments.id));
  return found.filter(({ createdAt }) => createdAt === found[0]?.createdAt);
}

/** A payment of an order lowers what is due; a refund, which is negative, what is owed of it or of a credit. */
function assertPayable({ kind, due }: Debt, amount: Minor) {
  const isOwed = kind === 'credit' || (amount < 0n && due <= 0n);
  const sign = isOwed ? -1n : 1n;
  const left = toNumber(due * sign).toFixed(2);
  if (amount * sign > due * sign || due * sign <= 0n)
    throw Problem.coded('amount_exceeds_due', `The amount exceeds what is ${isOwed ? 'owed' : 'due'}: ${left}`);
  if (amount * sign <= 0n) throw Problem.invalidFields({ rules: { amount: 'amount_sign_wrong' } });
}

const referenceReused = () =>
  Problem.coded('payment_reference_reused', 'The reference is that of a payment of another amount');

/** Idempotent. The row stays, and its reference is free. */
export async function reversePayment(ctx: Ctx, orderId: number, id: number): Promise<Payment> {
  const ofOrder = and(eq(payments.orderId, orderId), eq(payments.id, id));
  return ctx.write(['money', 'people'], async (w) => {
    const [found] = await w.tx
      .select()
      .from(payments)
      .where(tenantWhere(ctx, payments, ofOrder));
    if (found === undefined) throw Problem.notFound('Payment');
    if (found.reversedAt === null) await reversePayments(w, orderId, id);
    else w.tx.rollBack();
    return getPayment({ ...ctx, db: w.tx }, id);
  });
}

/** Reverses one payment of an order, or all; what its credits still owe then lowers what is due. */
export async function reversePayments(w: WriteCtx, orderId: number, id?: number) {
  const chosen = and(eq(payments.orderId, orderId), id === undefined ? undefined : eq(payments.id, id));
  await w.tx
    .update(payments)
    .set({ reversedAt: w.now, updatedAt: w.now })
    .where(tenantWhere(w, payments, chosen, isNull(payments.reversedAt)));
  await applyCredits(w, orderId);
  await updatePaid(w, orderId);
}

/** Applies what the credits of an order still owe to what is due of it; of a credit, those of its order. */
async function applyCredits(w: SchoolWrite, id: number) {
  const match = (condition: SQL | undefined) => tenantWhere(w, orders, condition);
  const [order] = await w.tx
    .select({ firstOrderId: orders.firstOrderId, kind: orders.kind })
    .from(orders)
    .where(match(eq(orders.id, id)));
  const orderId = (order?.kind === 'credit' ? order.firstOrderId : null) ?? id;
  const ofOrder = match(and(eq(orders.firstOrderId, orderId), eq(orders.kind, 'credit')));
  const credits = await w.tx.select({ id: orders.id, due }).from(orders).where(ofOrder).orderBy(asc(orders.id));
  let { due: left } = await findDebt(w, orderId);
  for (const credit of credits) {
    const part = min(-toMinorUnits(credit.due), left);
    if (part <= 0n) continue;
    left -= part;
    const creditApplied = sql`${orders.creditApplied} + ${toDecimal(part)}`;
    await w.tx
      .update(orders)
      .set({ creditApplied, updatedAt: w.now })
      .where(match(eq(orders.id, credit.id)));
    await updatePaid(w, credit.id, { byCredit: true });
  }
  await updatePaid(w, orderId, { byCredit: true });
}

type Method = (typeof paymentMethods)[number];

/** Payments and refunds of an order, or of the one that this credit credits, and of its credits; the latest first. */
function findRefundable(w: SchoolWrite, orderId: number) {
  const target = alias(orders, 'target');
  const first = sql`case ${target.kind} when 'credit' then ${target.firstOrderId} else ${target.id} end`;
  const belongs = or(eq(orders.id, first), and(eq(orders.firstOrderId, first), eq(orders.kind, 'credit')));
  return w.tx
    .select({ method: payments.method, amount: payments.amount })
    .from(target)
    .innerJoin(orders, sameTenant(orders, target, belongs))
    .innerJoin(payments, sameTenant(payments, orders, eq(payments.orderId, orders.id), isNull(payments.reversedAt)))
    .where(tenantWhere(w, target, eq(target.id, orderId)))
    .orderBy(desc(payments.paidAt), desc(payments.id));
}

/** A refund by the methods of the payments that it goes back to, the latest first; what exceeds them is `other`. */
async function splitRefund(w: SchoolWrite, orderId: number, refund: Minor) {
  const rows = await findRefundable(w, orderId);
  const found = rows.map(({ method, amount }) => ({ method, amount: toMinorUnits(amount) }));
  const refunded = sumByMethod(found.filter(({ amount }) => amount < 0n));
  const parts: typeof found = [];
  let left = refund;
  for (const { method, amount } of found.filter((payment) => payment.amount > 0n)) {
    const before = min(amount, -(refunded.get(method) ?? 0n));
    refunded.set(method, (refunded.get(method) ?? 0n) + before);
    const part = min(amount - before, -left);
    left += part;
    parts.push({ method, amount: -part });
  }
  return [...sumByMethod([...parts, { method: 'other', amount: left }])].flatMap(([method, amount]) =>
    amount === 0n ? [] : [{ method, amount }],
  );
}

function sumByMethod(payments: { method: Method; amount: Minor }[]) {
  const sums = new Map<Method, Minor>();
  for (const { method, amount } of payments) sums.set(method, (sums.get(method) ?? 0n) + amount);
  return sums;
}
