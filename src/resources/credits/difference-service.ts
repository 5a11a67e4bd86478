import { applyPercentage, toDecimal, type Minor } from '../../core/money.ts';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { execute, toRecordset } from '../../database/statements.ts';
import { grouped } from '../../lists/relations.ts';
import { divideRounded, lineAmounts, type Line } from './line-service.ts';
import { creditOrder, findLines } from './service.ts';
import { findPriceLines, insertFollowingOrder } from './sql.ts';

/** The price is net, in the currency of the booking's order. */
type Change = {
  participantId: number;
  product: { id: number; price: Minor; vatPercentage: string };
  reason?: string;
};

/** A line that names the participant, with the line that it credits, or itself, as its source. */
type PriceLine = Line & { firstOrderId: number; orderId: number; sourceId: number; people: number };

/**
 * Makes an order of what another price of a participant's course costs more than what was agreed, or credits of what it
 * costs less, under the lock. Returns the ids of the new orders.
 */
export async function changePrice(ctx: Ctx, tx: Tx, now: string, change: Change): Promise<number[]> {
  const { participantId, product, reason } = change;
  const lines = await execute<PriceLine>(tx, findPriceLines, [ctx.providerId, participantId]);
  const bySource = grouped(
    lines,
    ({ sourceId }) => sourceId,
    (line) => line,
  );
  // The newest first, so that a difference is credited before its first order.
  const shares = [...bySource.values()].map((found) => ({
    ...{ orderId: found[0]!.orderId, lineId: found[0]!.sourceId },
    net: found.reduce((sum, line) => sum + divideRounded(lineAmounts(line).net, BigInt(line.people)), 0n),
  }));
  const [first] = lines;
  if (first === undefined) return [];
  let left = shares.reduce((sum, { net }) => sum + net, 0n) - product.price;
  if (left < 0n) return [await insertDifference(ctx, tx, now, first.firstOrderId, { ...change, net: -left })];

  const created: number[] = [];
  for (const { orderId, lineId, net } of shares) {
    const { rest } = (await findLines(ctx, tx, orderId)).find(({ source }) => source.id === lineId)!;
    const amount = [left, net, rest.net].reduce((least, one) => (one < least ? one : least));
    if (amount <= 0n) continue;
    const part = { lineId, amount, participantIds: [participantId] };
    created.push((await creditOrder(ctx, tx, now, orderId, { lines: [part], reason })).id);
    left -= amount;
  }
  return created;
}

async function insertDifference(
  { providerId }: Ctx,
  tx: Tx,
  now: string,
  firstOrderId: number,
  { participantId, product, net, reason }: Change & { net: Minor },
) {
  const { id, vatPercentage } = product;
  const line = { product: id, quantity: 1, price: toDecimal(net), percent: 0, amount: 0, calculated: 0 };
  const vat = toDecimal(applyPercentage(net, vatPercentage));
  const [inserted] = await execute<{ id: number }>(tx, insertFollowingOrder, [
    ...[providerId, firstOrderId, now, 'difference', toDecimal(net), '0', vat, '0', reason, false],
    ...[toRecordset([{ ...line, vat: vatPercentage, credits: null, rounding: 0 }])],
    ...[toRecordset([{ line: null, participant: participantId }]), '{}'],
  ]);
  return inserted!.id;
}
