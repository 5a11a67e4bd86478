import { and, asc, desc, eq, isNull, or, sql, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { Problem } from '../../../core/errors.ts';
import { min, sum, toDecimal, toMinorUnits, toNumber, type Minor } from '../../../core/money.ts';
import { paymentStatus } from '../../../core/reference/statuses.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
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

type School = Pick<Ctx, 'providerId'>;

export type Debt = Awaited<ReturnType<typeof findDebt>>;

/** An order with its total and what is due of it. */
export async function findDebt(ctx: School, tx: Tx, orderId: number) {
  const [found] = await tx
    .select({
      ...{ id: orders.id, kind: orders.kind, currency: orders.currency, isPaid: orders.isPaid },
      isPartlyPaid,
      total: sql`${orderTotal}`.mapWith(toMinorUnits),
      due: sql`${due}`.mapWith(toMinorUnits),
    })
    .from(orders)
    .where(tenantWhere(ctx, orders, eq(orders.id, orderId)));
  return Problem.assertFound(found, 'Order');
}

/** True if nothing is due of an order, or owed of a credit; an order of 0 stays as it is. */
export const isSettled = ({ isPaid, total, due }: Pick<Debt, 'isPaid' | 'total' | 'due'>) =>
  total === 0n ? isPaid : total > 0n ? due <= 0n : due >= 0n;

/** Sets whether an order is paid, and `paid` of its participants, by what is due. Call after every change of that. */
export async function updatePaid(ctx: School, tx: Tx, now: string, orderId: number, { byCredit = false } = {}) {
  const debt = await findDebt(ctx, tx, orderId);
  if (isSettled(debt) !== debt.isPaid) await setPaid(ctx, tx, now, debt, !debt.isPaid, byCredit);
}

/** The event is `order.paid` where money or vouchers paid a part, and `order.settled` where a credit or nothing did. */
export async function setPaid(ctx: School, tx: Tx, now: string, debt: Debt, isPaid: boolean, byCredit = false) {
  const orderId = debt.id;
  await tx
    .update(orders)
    .set({ isPaid, updatedAt: now })
    .where(tenantWhere(ctx, orders, eq(orders.id, orderId)));
  const events = [
    ...(debt.isPartlyPaid ? (['order.paid'] as const) : []),
    ...(byCredit || !debt.isPartlyPaid ? (['order.settled'] as const) : []),
  ];
  const recorded = events.map((type) => ({ type, id: orderId }));
  if (isPaid) await recordEvents(tx, ctx.providerId, now, recorded);
  const [booking] = await tx
    .select({ id: bookings.id })
    .from(bookings)
    .where(tenantWhere(ctx, bookings, eq(bookings.orderId, orderId)));
  const ofBooking = booking && tenantWhere(ctx, participants, eq(participants.bookingId, booking.id));
  const paidId = isPaid ? paymentStatus.yes : paymentStatus.no;
  if (ofBooking) await tx.updateChanged(participants, ofBooking, { paidId }, now);
}

type NewPayment = Pick<typeof payments.$inferInsert, 'method' | 'reference'> & { paidAt?: string | undefined };

/** Adds a payment of an order, or a refund by each method; the amount is checked before. Returns the ids. */
export async function addPayment(
  ctx: Ctx,
  tx: Tx,
  now: string,
  orderId: number,
  amount: Minor,
  { method, reference, paidAt = now }: NewPayment = {},
): Promise<number[]> {
  const own = { providerId: ctx.providerId, orderId, createdAt: now, updatedAt: now };
  const isSplit = method === undefined && amount < 0n;
  const parts = isSplit ? await splitRefund(ctx, tx, orderId, amount) : [{ method, amount }];
  const values = parts.map((part) => ({ ...own, ...part, amount: toDecimal(part.amount), reference, paidAt }));
  const isFuture = sql<boolean>`${payments.paidAt}::date > ${now}::timestamptz::date`;
  const added = await tx.insert(payments).values(values).returning({ id: payments.id, isFuture });
  if (added.some(({ isFuture }) => isFuture)) throw Problem.invalidFields({ rules: { paid_at: 'date_in_future' } });
  await updatePaid(ctx, tx, now, orderId);
  return added.map(({ id }) => id);
}

/** True if the order has payments that stand, and none of this second. */
export async function isPaidAtOtherTime(ctx: Ctx, tx: Tx, orderId: number, paidAt: string) {
  const isEqual = sql<
    boolean | null
  >`bool_or(date_trunc('second', ${payments.paidAt}) = date_trunc('second', ${paidAt}::timestamptz))`;
  const standing = tenantWhere(ctx, payments, eq(payments.orderId, orderId), isNull(payments.reversedAt));
  const [found] = await tx.select({ isEqual }).from(payments).where(standing);
  return found?.isEqual === false;
}

/** Finds the payment with an equal reference instead, if it has the same amount. */
export function createPayment(
  ctx: Ctx,
  orderId: number,
  body: PaymentBody,
): Promise<{ payment: CreatedPayment; isNew: boolean }> {
  const { reference, method, paid_at: paidAt, overpaid = false } = body;
  return ctx.write(['money', 'people'], async (tx, now) => {
    const reader = { ...ctx, db: tx };
    const debt = await findDebt(ctx, tx, orderId);
    if (body.currency !== undefined && body.currency.toUpperCase() !== debt.currency)
      throw Problem.invalidFields({ rules: { currency: 'currency_differs' } });
    const sent = body.amount === undefined ? undefined : toMinorUnits(body.amount.toFixed(2));
    const found = reference === undefined ? [] : await findByReference(ctx, tx, orderId, reference);
    if (found.length > 0) {
      const ids = found.map(({ id }) => id);
      const amount = sum(found.map((one) => toMinorUnits(one.amount)));
      if (sent !== undefined && sent !== amount) throw referenceReused();
      return tx.rollbackNoChange({ payment: await getParts(reader, ids), isNew: false });
    }
    if (overpaid && debt.kind === 'credit') throw Problem.invalidFields({ rules: { overpaid: 'credit_overpaid' } });
    const amount = sent ?? (debt.kind !== 'credit' && debt.due < 0n ? 0n : debt.due);
    if (!overpaid || amount <= 0n) assertPayable(debt, amount);
    const ids = await addPayment(ctx, tx, now, orderId, amount, { method, reference, paidAt });
    ids.forEach((id) => tx.recordAffected(id));
    return { payment: await getParts(reader, ids), isNew: true };
  });
}

async function getParts(reader: Ctx, ids: number[]): Promise<CreatedPayment> {
  const parts: Payment[] = [];
  for (const id of ids) parts.push(await getPayment(reader, id));
  return { ...parts[0]!, ...(parts.length > 1 && { parts }) };
}

/** The payment with an equal reference, or the parts of that refund. */
async function findByReference(ctx: Ctx, tx: Tx, orderId: number, reference: string) {
  const isEqual = sql`${folded(payments.reference)} = ${folded(reference)}`;
  const ofOrder = and(eq(payments.orderId, orderId), isEqual, isNull(payments.reversedAt));
  const found = await tx
    .select({ id: payments.id, amount: payments.amount, createdAt: payments.createdAt })
    .from(payments)
    .where(tenantWhere(ctx, payments, ofOrder))
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
  return ctx.write(['money', 'people'], async (tx, now) => {
    const [found] = await tx
      .select()
      .from(payments)
      .where(tenantWhere(ctx, payments, ofOrder));
    if (found === undefined) throw Problem.notFound('Payment');
    if (found.reversedAt === null) await reversePayments(ctx, tx, now, orderId, id);
    else tx.rollbackNoChange();
    return getPayment({ ...ctx, db: tx }, id);
  });
}

/** Reverses one payment of an order, or all; what its credits still owe then lowers what is due. */
export async function reversePayments(ctx: Ctx, tx: Tx, now: string, orderId: number, id?: number) {
  const chosen = and(eq(payments.orderId, orderId), id === undefined ? undefined : eq(payments.id, id));
  await tx
    .update(payments)
    .set({ reversedAt: now, updatedAt: now })
    .where(tenantWhere(ctx, payments, chosen, isNull(payments.reversedAt)));
  await applyCredits(ctx, tx, now, orderId);
  await updatePaid(ctx, tx, now, orderId);
}

/** Applies what the credits of an order still owe to what is due of it; of a credit, those of its order. */
async function applyCredits(ctx: School, tx: Tx, now: string, id: number) {
  const match = (condition: SQL | undefined) => tenantWhere(ctx, orders, condition);
  const [order] = await tx
    .select({ firstOrderId: orders.firstOrderId, kind: orders.kind })
    .from(orders)
    .where(match(eq(orders.id, id)));
  const orderId = (order?.kind === 'credit' ? order.firstOrderId : null) ?? id;
  const ofOrder = match(and(eq(orders.firstOrderId, orderId), eq(orders.kind, 'credit')));
  const credits = await tx.select({ id: orders.id, due }).from(orders).where(ofOrder).orderBy(asc(orders.id));
  let { due: left } = await findDebt(ctx, tx, orderId);
  for (const credit of credits) {
    const part = min(-toMinorUnits(credit.due), left);
    if (part <= 0n) continue;
    left -= part;
    const creditApplied = sql`${orders.creditApplied} + ${toDecimal(part)}`;
    await tx
      .update(orders)
      .set({ creditApplied, updatedAt: now })
      .where(match(eq(orders.id, credit.id)));
    await updatePaid(ctx, tx, now, credit.id, { byCredit: true });
  }
  await updatePaid(ctx, tx, now, orderId, { byCredit: true });
}

type Method = (typeof paymentMethods)[number];

/** Payments and refunds of an order, or of the one that this credit credits, and of its credits; the latest first. */
function findRefundable(ctx: School, tx: Tx, orderId: number) {
  const asked = alias(orders, 'asked');
  const first = sql`case ${asked.kind} when 'credit' then ${asked.firstOrderId} else ${asked.id} end`;
  const belongs = or(eq(orders.id, first), and(eq(orders.firstOrderId, first), eq(orders.kind, 'credit')));
  return tx
    .select({ method: payments.method, amount: payments.amount })
    .from(asked)
    .innerJoin(orders, sameTenant(orders, asked, belongs))
    .innerJoin(payments, sameTenant(payments, orders, eq(payments.orderId, orders.id), isNull(payments.reversedAt)))
    .where(tenantWhere(ctx, asked, eq(asked.id, orderId)))
    .orderBy(desc(payments.paidAt), desc(payments.id));
}

/** A refund by the methods of the payments that it goes back to, the latest first; what exceeds them is `other`. */
async function splitRefund(ctx: School, tx: Tx, orderId: number, refund: Minor) {
  const rows = await findRefundable(ctx, tx, orderId);
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
