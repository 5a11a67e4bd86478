import { execute } from '../../../database/statements.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { min, toMinorUnits, type Minor } from '../../../core/money.ts';
import type { paymentMethods } from '../../../database/tables/payments.ts';
import { findRefundable } from './sql.ts';

type Method = (typeof paymentMethods)[number];

/** A refund by the methods of the payments that it goes back to, the latest first; what exceeds them is `other`. */
export async function splitRefund({ providerId }: Pick<Ctx, 'providerId'>, tx: Tx, orderId: number, refund: Minor) {
  const rows = await execute<{ method: Method; amount: string }>(tx, findRefundable, [providerId, orderId]);
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
