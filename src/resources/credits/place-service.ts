import { applyPercentage, type Minor } from '../../core/money.ts';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { execute } from '../../database/statements.ts';
import { grouped } from '../../lists/relations.ts';
import { split } from './line-service.ts';
import { creditOrder, findLines, findUnpaid, type CreditRequest } from './service.ts';
import { isOpen, takeShares } from './share-service.ts';
import { findCreditable, type CreditableLine } from './sql.ts';

type School = Pick<Ctx, 'providerId'>;
type Part = NonNullable<CreditRequest['lines']>[number];
type Found = Awaited<ReturnType<typeof findLines>>[number];

/** The creditable lines of these participants, by order. */
export const findCreditableOrders = async ({ providerId }: School, tx: Tx, participantIds: number[]) =>
  grouped(
    participantIds.length === 0 ? [] : await execute<CreditableLine>(tx, findCreditable, [providerId, participantIds]),
    ({ orderId }) => orderId,
    (line) => line,
  );

/** Credits the prices of these participants, each order once; returns the number of credits. */
export async function creditParticipants(
  ctx: School,
  tx: Tx,
  now: string,
  participantIds: number[],
  reason: string | null,
  isUnpaidOnly = false,
): Promise<number> {
  let credits = 0;
  for (const [orderId, creditable] of await findCreditableOrders(ctx, tx, participantIds)) {
    const known = new Map(creditable.map((line) => [line.lineId, line]));
    const found = await findLines(ctx, tx, orderId);
    const whole = found.flatMap((one) => {
      const line = known.get(one.source.id);
      return line === undefined ? [] : toParts(one, line);
    });
    const lines = isUnpaidOnly ? await limitToUnpaid(ctx, tx, orderId, found, whole) : whole;
    if (lines.length === 0) continue;
    await creditOrder(ctx, tx, now, orderId, { lines, found, reason: reason ?? undefined });
    credits += 1;
  }
  return credits;
}

/**
 * Credits what is not paid, or paid by a voucher, of places that are given up free of charge. What is paid otherwise
 * stays until the school credits it.
 */
export const creditUnpaid = (ctx: School, tx: Tx, now: string, participantIds: number[]) =>
  creditParticipants(ctx, tx, now, participantIds, null, true);

async function limitToUnpaid(ctx: School, tx: Tx, orderId: number, found: Found[], parts: Part[]): Promise<Part[]> {
  const unpaid = await findUnpaid(ctx, tx, orderId);
  const whole = parts.map((part) => {
    const { source, rest, shares } = found.find(({ source }) => source.id === part.lineId)!;
    return { net: takeShares(source, rest, shares, part)!.net, vatPercentage: source.vatPercentage };
  });
  const nets = whole.map(({ net }) => net);
  const grossOf = (amounts: Minor[]) =>
    sumOf(amounts.map((net, n) => net + applyPercentage(net, whole[n]!.vatPercentage)));
  if (grossOf(nets) <= unpaid) return parts;
  const net = (sumOf(nets) * unpaid) / grossOf(nets);
  // Rounded up, so that nothing is left to pay.
  const limited = split(grossOf(split(net, nets)) < unpaid ? net + 1n : net, nets);
  return parts.flatMap(({ lineId, participantIds }, n) => {
    const amount = limited[n]!;
    return amount > 0n ? [{ lineId, participantIds, amount }] : [];
  });
}

const sumOf = (amounts: Minor[]) => amounts.reduce((sum, amount) => sum + amount, 0n);

/** The part of a line to credit: what is left of it if it names nobody, else of the shares of those who leave. */
function toParts({ source, shares }: Found, { leaving }: CreditableLine): Part[] {
  if (leaving === null) return [{ lineId: source.id }];
  const ids = shares.flatMap((one) => (isOpen(one) && leaving.includes(one.id) ? [one.id] : []));
  return ids.length > 0 ? [{ lineId: source.id, participantIds: ids }] : [];
}
