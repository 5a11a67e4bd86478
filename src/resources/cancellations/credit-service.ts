import { toMinorUnits } from '../../core/money.ts';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { execute } from '../../database/statements.ts';
import { grouped } from '../../lists/relations.ts';
import { lineAmounts, split } from '../credits/line-service.ts';
import { creditOrder, findLines, type CreditRequest } from '../credits/service.ts';
import { findCreditable, type CreditableLine } from './sql.ts';

type School = Pick<Ctx, 'providerId'>;
type Part = NonNullable<CreditRequest['lines']>[number];

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
): Promise<number> {
  let credits = 0;
  for (const [orderId, creditable] of await findCreditableOrders(ctx, tx, participantIds)) {
    const known = new Map(creditable.map((line) => [line.lineId, line]));
    const lines = (await findLines(ctx, tx, orderId)).flatMap((found) => {
      const line = known.get(found.source.id);
      return line === undefined ? [] : toParts(found, line);
    });
    if (lines.length === 0) continue;
    await creditOrder(ctx, tx, now, orderId, { lines, reason: reason ?? undefined });
    credits += 1;
  }
  return credits;
}

/** The part of a line to credit: its creditable remainder if it names only those who leave, otherwise their share. */
function toParts({ source, rest }: Awaited<ReturnType<typeof findLines>>[number], line: CreditableLine): Part[] {
  const { people, leaving, staying } = line;
  const named = { lineId: source.id, participantIds: leaving };
  if (leaving.length === people) return [named];
  const items = (source.quantity * leaving.length) / people;
  const credited = staying > 0 ? toMinorUnits(line.credited) : 0n;
  if (rest.isWhole && credited === 0n && Number.isInteger(items)) {
    const quantity = Math.min(items, rest.quantity);
    return quantity > 0 ? [{ ...named, quantity }] : [];
  }
  const [part = 0n] = split(lineAmounts(source).net, [BigInt(leaving.length), BigInt(people - leaving.length)]);
  const share = part + credited;
  const amount = share < rest.net ? share : rest.net;
  return amount > 0n ? [{ ...named, amount }] : [];
}
