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

/** Those who leave are credited in full, and those who left free of charge up to what is unpaid. */
type People = { leaving?: number[]; left?: number[] };

/** The orders to credit, with their creditable lines, and what is unpaid where somebody left before. */
export async function findCreditableOrders(ctx: School, tx: Tx, { leaving = [], left = [] }: People) {
  const values = [ctx.providerId, [...leaving, ...left]];
  const found = leaving.length + left.length === 0 ? [] : await execute<CreditableLine>(tx, findCreditable, values);
  const byOrder = grouped(
    found,
    ({ orderId }) => orderId,
    (line) => line,
  );
  const unpaid = left.length === 0 ? new Map<number, Minor>() : await findUnpaid(ctx, tx, [...byOrder.keys()]);
  const isLeaving = new Set(leaving);
  return [...byOrder]
    .map(([orderId, lines]) => ({ orderId, lines, unpaid: unpaid.get(orderId) ?? 0n }))
    .filter(({ lines, unpaid }) => unpaid > 0n || lines.some(({ people }) => people.some((id) => isLeaving.has(id))));
}

/** Credits the prices of participants, each order once if possible; returns the number of orders. */
export async function creditParticipants(ctx: School, tx: Tx, now: string, people: People, reason: string | null) {
  const { leaving = [], left = [] } = people;
  const orders = await findCreditableOrders(ctx, tx, people);
  for (const { orderId, lines: creditable, unpaid } of orders) {
    const known = new Map(creditable.map((line) => [line.lineId, line]));
    const found = await findLines(ctx, tx, orderId);
    const toParts = (ids: number[]) => found.flatMap((one) => toPart(one, known.get(one.source.id), new Set(ids)));
    const whole = toParts(left);
    const limited = limitToUnpaid(found, whole, unpaid);
    const all = limited === whole ? [toParts([...leaving, ...left])] : [limited, toParts(leaving)];
    const requests = all.filter(({ length }) => length > 0);
    for (const lines of requests)
      await creditOrder(ctx, tx, now, orderId, {
        ...{ lines, reason: reason ?? undefined },
        ...(requests.length === 1 && { found }),
      });
  }
  return orders.length;
}

/**
 * Credits what is not paid, or paid by a voucher, of places that are given up free of charge. What is paid otherwise
 * stays until the school credits it.
 */
export const creditUnpaid = (ctx: School, tx: Tx, now: string, left: number[]) =>
  creditParticipants(ctx, tx, now, { left }, null);

/** The parts themselves if no more than this is to be credited. */
function limitToUnpaid(found: Found[], parts: Part[], unpaid: Minor): Part[] {
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

/** The part of a line to credit: what is left of it if it names nobody, else of the shares of these people. */
function toPart({ source, shares }: Found, line: CreditableLine | undefined, ids: Set<number>): Part[] {
  const people = new Set(line?.people.filter((id) => ids.has(id)));
  if (people.size === 0) return [];
  const participantIds = shares.flatMap((one) => (isOpen(one) && people.has(one.id) ? [one.id] : []));
  if (shares.length === 0) return [{ lineId: source.id }];
  return participantIds.length > 0 ? [{ lineId: source.id, participantIds }] : [];
}
