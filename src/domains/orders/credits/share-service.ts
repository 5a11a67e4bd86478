import type { ErrorCode } from '../../../core/error-codes.ts';
import { min, sum, toMinorUnits, type Minor } from '../../../core/money.ts';
import { hasLeft } from '../../../core/reference/statuses.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { execute } from '../../../database/statements.ts';
import type { participants } from '../../../database/tables/participants.ts';
import { grouped } from '../../../lists/relations.ts';
import { bookingProblem } from '../../../core/booking-errors.ts';
import { split, takePart, toItem, type CreditedPart, type Line, type Part, type Rest } from './line-service.ts';
import { findShares } from './sql.ts';

/** The charge of a participant by a line, and its rest after credits, both without VAT. */
export type Share = Pick<typeof participants.$inferSelect, 'id' | 'statusId' | 'heldFor' | 'courseDateId'> &
  Record<'charged' | 'share', Minor> & { isCredited: boolean };

/** The shares of each line of an order; those who left stand in the order in which they left. */
export async function loadShares({ providerId }: Pick<Ctx, 'providerId'>, tx: Tx, orderId: number) {
  type Row = Omit<Share, 'charged' | 'share'> & { lineId: number; charged: string; share: string };
  const rows = await execute<Row>(tx, findShares, [providerId, orderId]);
  return grouped(
    rows,
    ({ lineId }) => lineId,
    (row): Share => ({ ...row, charged: toMinorUnits(row.charged), share: toMinorUnits(row.share) }),
  );
}

/** Shares that add up to the net amount that is left of their line, also where those of a file do not. */
export function adjustShares(shares: Share[], net: Minor): Share[] {
  const adjusted = shares.map((one) => ({ ...one, share: one.share > 0n ? one.share : 0n }));
  if (sumShares(adjusted) === net || shares.length === 0) return adjusted;
  const isSpent = sumShares(adjusted) === 0n;
  const weights = adjusted.map(({ share }) => (isSpent ? 1n : share));
  const parts = split(net, weights);
  return adjusted.map((one, n) => ({ ...one, share: parts[n]! }));
}

/** True if the item of a participant is not credited yet. */
export const isCreditable = ({ charged, share, isCredited }: Share) => !isCredited && (share > 0n || charged === 0n);

/** A part of a line; some participants of the line to whom it belongs, and the VAT of an amount unless by the rate. */
export type PersonalPart = Part & { participantIds?: number[] | undefined; vat?: Minor | undefined };

/** Throws unless the participants of a part are of the line, distinct, not fully credited, and no more than its items. */
export function assertCreditable(
  shares: Share[],
  { quantity, amount, participantIds: ids = [] }: PersonalPart,
  field: string,
) {
  const known = new Map(shares.map((one) => [one.id, one]));
  const isLeft = (one?: Share) => one && (amount === undefined ? isCreditable(one) : one.share > 0n);
  const faults: [ErrorCode, (number | undefined)[]][] = [
    ['field_invalid', ids.filter((id) => !known.has(id))],
    ['named_twice', ids.filter((id, n) => ids.indexOf(id) < n)],
    ['already_credited', ids.filter((id) => !isLeft(known.get(id)))],
    ['quantity_too_small', ids.length > (quantity ?? ids.length) ? [undefined] : []],
  ];
  const [code, broken] = faults.find(([, people]) => people.length > 0) ?? [];
  const message = `Field(s) not valid: ${field}`;
  if (code) throw bookingProblem(broken!.map((participantId) => ({ code, message, field, participantId })));
}

/** A participant's part of a credit. */
type Person = { id: number; amount: Minor; isCredited: boolean };

export type TakenPart = CreditedPart & { people: Person[] };

/**
 * The part of a line, and to whom it belongs: an amount to those who are named, else to all. Items belong to those who
 * are named, then to those who have left and are not yet credited; what exceeds their shares to all who stay. Undefined
 * if the part exceeds what is left.
 */
export function takeShares(line: Line, rest: Rest, shares: Share[], part: PersonalPart): TakenPart | undefined {
  const { quantity, amount, participantIds } = part;
  const named = participantIds?.map((id) => shares.find((one) => one.id === id)!);
  if (amount !== undefined) {
    if (named !== undefined && amount > sumShares(named)) return undefined;
    return allocateToParticipants(takePart(line, rest, { amount }), [named ?? shares], () => false);
  }
  const isPerItem = shares.length === line.quantity;
  if (quantity === undefined && named !== undefined && !isPerItem)
    return allocateToParticipants(takePart(line, rest, { amount: sumShares(named) }), [named], isCreditable);
  const items = quantity ?? named?.length;
  if (items === undefined) return allocateToParticipants(takePart(line, rest, {}), [shares], isCreditable);

  const departed = shares.filter((one) => hasLeft(one.statusId) && isCreditable(one) && named?.includes(one) !== true);
  const chosen = [...(named ?? []), ...departed].slice(0, items);
  const [departedShares, remainingShares] = [true, false].map((hasGone) =>
    shares.filter((one) => !chosen.includes(one) && hasLeft(one.statusId) === hasGone),
  ) as [Share[], Share[]];
  const taken = isPerItem ? takeItems(line, rest, chosen, items) : takePart(line, rest, { quantity: items });
  const isCredited = (one: Share, amount: Minor) => chosen.includes(one) || (amount > 0n && amount === one.share);
  return allocateToParticipants(taken, [...chosen.map((one) => [one]), remainingShares, departedShares], isCredited);
}

/** Items with what is left of the shares of those who are chosen, and items of others at their price. */
function takeItems(line: Line, rest: Rest, chosen: Share[], items: number): CreditedPart | undefined {
  const net = sumShares(chosen);
  const isWhole = chosen.every(({ charged, share }) => charged === share);
  const price = toMinorUnits(line.priceAtOrder);
  const discount = isWhole ? price * BigInt(chosen.length) - net : 0n;
  const own = { isOfItems: isWhole, quantity: items, price, discount, net };
  if (items === chosen.length) return isWhole ? own : toItem(net);
  const left = { ...rest, quantity: rest.quantity - chosen.length, discount: rest.discount - discount };
  const others = takePart(line, { ...left, net: rest.net - net }, { quantity: items - chosen.length });
  if (others === undefined) return undefined;
  const sums = { discount: discount + others.discount, net: net + others.net };
  return isWhole ? { ...own, ...sums } : toItem(sums.net);
}

/** Adds to whom the amount belongs: to each group up to its shares, in their proportion. */
function allocateToParticipants(
  part: CreditedPart | undefined,
  groups: Share[][],
  isCredited: (one: Share, amount: Minor) => boolean,
): TakenPart | undefined {
  if (part === undefined) return undefined;
  let left = part.net;
  const people = groups.flatMap((unsorted) => {
    const group = [...unsorted].sort((a, b) => a.id - b.id);
    const share = sumShares(group);
    const weights = group.map((one) => one.share);
    const amounts = split(min(left, share), weights);
    left -= sum(amounts);
    return group.map((one, n) => ({ id: one.id, amount: amounts[n]!, isCredited: isCredited(one, amounts[n]!) }));
  });
  const withPart = people.filter(({ amount, isCredited }) => amount !== 0n || isCredited);
  return { ...part, people: withPart.length > 0 ? withPart : people };
}

const sumShares = (shares: Share[]) => sum(shares.map(({ share }) => share));
