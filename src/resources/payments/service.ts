import { and, eq, isNull } from 'drizzle-orm';
import { Problem } from '../../core/errors.ts';
import { toDecimal, toMinorUnits, toNumber, type Minor } from '../../core/money.ts';
import { paymentStatus } from '../../core/reference/statuses.ts';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { recordEvents } from '../../database/record-events.ts';
import { bookings, orders } from '../../database/tables/orders.ts';
import { participants } from '../../database/tables/participants.ts';
import { payments } from '../../database/tables/payments.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import type { PaymentBody } from './body-schema.ts';
import { paymentList } from './list.ts';
import { due, orderTotal } from './loaders.ts';
import type { Payment } from './schema.ts';

export const getPayment = async (ctx: Ctx, id: number): Promise<Payment> =>
  Problem.assertFound(await paymentList.byId(ctx, id), 'Payment');

type School = Pick<Ctx, 'providerId'>;

/** An order with its total and what is due of it. */
export type Debt = { id: number; kind: string; isPaid: boolean; total: Minor; due: Minor };

export async function findDebt(ctx: School, tx: Tx, orderId: number): Promise<Debt> {
  const [found] = await tx
    .select({ id: orders.id, kind: orders.kind, isPaid: orders.isPaid, total: orderTotal, due })
    .from(orders)
    .where(tenantWhere(ctx, orders, eq(orders.id, orderId)));
  const { total, due: left, ...order } = Problem.assertFound(found, 'Order');
  return { ...order, total: toMinorUnits(total), due: toMinorUnits(left) };
}

/** True if nothing is due of an order, or owed of a credit; an order of 0 stays as it is. */
export const isSettled = ({ isPaid, total, due }: Pick<Debt, 'isPaid' | 'total' | 'due'>) =>
  total === 0n ? isPaid : total > 0n ? due <= 0n : due >= 0n;

/** Sets whether an order is paid, and `paid` of its participants, by what is due. Call after every change of that. */
export async function updatePaid(ctx: School, tx: Tx, now: string, orderId: number) {
  const debt = await findDebt(ctx, tx, orderId);
  if (isSettled(debt) !== debt.isPaid) await setPaid(ctx, tx, now, orderId, !debt.isPaid);
}

export async function setPaid(ctx: School, tx: Tx, now: string, orderId: number, isPaid: boolean) {
  await tx
    .update(orders)
    .set({ isPaid, updatedAt: now })
    .where(tenantWhere(ctx, orders, eq(orders.id, orderId)));
  if (isPaid) await recordEvents(tx, ctx.providerId, now, [{ type: 'order.paid', id: orderId }]);
  const [booking] = await tx
    .select({ id: bookings.id })
    .from(bookings)
    .where(tenantWhere(ctx, bookings, eq(bookings.orderId, orderId)));
  const ofBooking = booking && tenantWhere(ctx, participants, eq(participants.bookingId, booking.id));
  const paidId = isPaid ? paymentStatus.yes : paymentStatus.no;
  if (ofBooking) await tx.updateChanged(participants, ofBooking, { paidId }, now);
}

type NewPayment = Pick<typeof payments.$inferInsert, 'method' | 'reference'> & { paidAt?: string | undefined };

/** Adds a payment of an order; the amount is checked before. */
export async function addPayment(
  ctx: Ctx,
  tx: Tx,
  now: string,
  orderId: number,
  amount: Minor,
  { method, reference, paidAt = now }: NewPayment = {},
): Promise<number> {
  const own = { providerId: ctx.providerId, orderId, createdAt: now, updatedAt: now };
  const values = { ...own, amount: toDecimal(amount), method, reference, paidAt };
  const [added] = await tx.insert(payments).values(values).returning({ id: payments.id });
  await updatePaid(ctx, tx, now, orderId);
  return added!.id;
}

/** Finds the payment with an equal reference instead, if it has the same amount. */
export function createPayment(
  ctx: Ctx,
  orderId: number,
  body: PaymentBody,
): Promise<{ payment: Payment; isNew: boolean }> {
  const { reference, method, paid_at: paidAt } = body;
  return ctx.write(['money', 'people'], async (tx, now) => {
    const reader = { ...ctx, db: tx };
    const debt = await findDebt(ctx, tx, orderId);
    const first = reference === undefined ? undefined : await findByReference(ctx, tx, orderId, reference);
    if (first !== undefined) {
      const payment = await getPayment(reader, first);
      if (body.amount !== undefined && body.amount !== payment.amount) throw referenceReused();
      return tx.rollbackNoChange({ payment, isNew: false });
    }
    const amount = body.amount === undefined ? debt.due : toMinorUnits(body.amount.toFixed(2));
    assertPayable(debt, amount);
    const id = await addPayment(ctx, tx, now, orderId, amount, { method, reference, paidAt });
    return { payment: await getPayment(reader, tx.recordAffected(id)), isNew: true };
  });
}

async function findByReference(ctx: Ctx, tx: Tx, orderId: number, reference: string) {
  const ofOrder = and(eq(payments.orderId, orderId), eq(payments.reference, reference), isNull(payments.reversedAt));
  const [found] = await tx
    .select({ id: payments.id })
    .from(payments)
    .where(tenantWhere(ctx, payments, ofOrder));
  return found?.id;
}

/** A payment of an order lowers what is due; that of a credit, which is negative, what is owed. */
function assertPayable({ kind, due }: Debt, amount: Minor) {
  const sign = kind === 'credit' ? -1n : 1n;
  if (amount * sign > due * sign || due * sign <= 0n) throw exceedsDue(due);
  if (amount * sign <= 0n) throw Problem.invalidFields({ notValid: ['amount'] });
}

function exceedsDue(due: Minor) {
  const message = `The amount exceeds what is due: ${toNumber(due).toFixed(2)}`;
  return new Problem('invalid', message, { errors: [{ code: 'amount_exceeds_due', message }] });
}

function referenceReused() {
  const message = 'The reference is that of a payment of another amount';
  return new Problem('invalid', message, { errors: [{ code: 'payment_reference_reused', message }] });
}

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

/** Reverses one payment of an order, or all. */
export async function reversePayments(ctx: Ctx, tx: Tx, now: string, orderId: number, id?: number) {
  const chosen = and(eq(payments.orderId, orderId), id === undefined ? undefined : eq(payments.id, id));
  await tx
    .update(payments)
    .set({ reversedAt: now, updatedAt: now })
    .where(tenantWhere(ctx, payments, chosen, isNull(payments.reversedAt)));
  await updatePaid(ctx, tx, now, orderId);
}
