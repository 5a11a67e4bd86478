import { asc, eq, sql } from 'drizzle-orm';
import { itemAt } from '../../../core/errors.ts';
import { bookingProblem } from '../../../core/booking-errors.ts';
import type { ErrorCode } from '../../../core/error-codes.ts';
import { applyPercentage, max, min, sum, toDecimal, toMinorUnits, type Minor } from '../../../core/money.ts';
import { hasLeft } from '../../../core/reference/statuses.ts';
import type { SchoolWrite } from '../../../database/context.ts';
import { orderLines } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { grouped } from '../../../lists/relations.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { sharesSql } from '../order-lines/loaders.ts';
import { agreedTotals, type AgreedLine } from '../orders/price-service.ts';

/** A line of an order, or one that credits a part of it: its quantity and discount are negative. */
export type Line = Omit<AgreedLine, 'vatRounding'> &
  Record<'discountPercentAtOrder' | 'discountAmountAtOrder' | 'vatRounding', string>;

/** The creditable remainder of a line; `isWhole` if earlier credits were of items, none of an amount. */
type Rest = { quantity: number; discount: Minor; net: Minor; vat: Minor; isWhole: boolean };

/** Net and VAT of a line. */
export function lineAmounts(line: Line) {
  const { totalBeforeDiscounts, totalDiscounts, totalVat } = agreedTotals([line]);
  return { net: toMinorUnits(totalBeforeDiscounts) - toMinorUnits(totalDiscounts), vat: toMinorUnits(totalVat) };
}

export function toRemainder(line: Line, credits: Line[]): Rest {
  const isOfItems = (credit: Line) => credit.priceAtOrder === line.priceAtOrder;
  const start = { quantity: line.quantity, discount: toMinorUnits(line.discountCalculatedAtOrder), isWhole: true };
  return credits.reduce<Rest>(
    (rest, credit) => {
      const { net, vat } = lineAmounts(credit);
      return {
        quantity: rest.quantity + (isOfItems(credit) ? credit.quantity : 0),
        discount: rest.discount + toMinorUnits(credit.discountCalculatedAtOrder),
        net: rest.net + net,
        vat: rest.vat + vat,
        isWhole: rest.isWhole && isOfItems(credit),
      };
    },
    { ...start, ...lineAmounts(line) },
  );
}

/** A line without an amount has its items to credit. */
export const hasRest = (line: Line, rest: Rest) => (lineAmounts(line).net === 0n ? rest.quantity > 0 : rest.net !== 0n);

/** Items or a net amount of a line; all that is left of it if neither is given. */
export type Part = { quantity?: number | undefined; amount?: Minor | undefined };

/** A credited part: items with their share of the discount, or one item of the amount. */
export type CreditedPart = { isOfItems: boolean; quantity: number; price: Minor; discount: Minor; net: Minor };

/** The part of a line; undefined if it exceeds the creditable quantity or amount. */
export function takePart(line: Line, rest: Rest, { quantity, amount }: Part): CreditedPart | undefined {
  if (amount !== undefined) return amount > rest.net ? undefined : toItem(amount);
  if (quantity === undefined && !(rest.isWhole && rest.quantity > 0)) return toItem(rest.net);
  const items = quantity ?? rest.quantity;
  if (items > rest.quantity) return undefined;
  const price = toMinorUnits(line.priceAtOrder);
  const isLast = items === rest.quantity && rest.isWhole;
  const share = divideRounded(toMinorUnits(line.discountCalculatedAtOrder) * BigInt(items), BigInt(line.quantity));
  const discount = isLast ? rest.discount : atMost(share, rest.discount);
  const net = price * BigInt(items) - discount;
  return rest.net >= 0n && net > rest.net ? undefined : { isOfItems: true, quantity: items, price, discount, net };
}

const toItem = (net: Minor): CreditedPart => ({ isOfItems: false, quantity: 1, price: net, discount: 0n, net });

/** The amounts of the parts less their shares of a net fee, which is below their sum. */
export function deductFee<P extends CreditedPart>(parts: P[], fee: Minor): P[] {
  if (fee === 0n) return parts;
  const weights = parts.map(({ net }) => net);
  const shares = split(fee, weights);
  return parts.map((part, n) => (part.net === 0n ? part : { ...part, ...toItem(part.net - itemAt(shares, n)) }));
}

/** Parts of an amount in proportion to weights, which add up to it; none without weights. */
export function split(amount: Minor, weights: Minor[]): Minor[] {
  const total = sum(weights);
  let [before, previous] = [0n, 0n];
  return weights.map((weight) => {
    before += weight;
    const part = total === 0n ? 0n : divideRounded(amount * before, total) - previous;
    previous += part;
    return part;
  });
}

/** The columns of the line that credits a part. Its VAT follows from the rate unless given; the last one takes the rest. */
export function toCreditLine(
  line: Line,
  rest: Rest,
  { isOfItems, quantity, price, discount, net }: CreditedPart,
  givenVat?: Minor,
): Line {
  const credit = {
    quantity: -quantity,
    priceAtOrder: toDecimal(price),
    discountPercentAtOrder: isOfItems ? line.discountPercentAtOrder : '0',
    discountAmountAtOrder: isOfItems ? line.discountAmountAtOrder : '0',
    discountCalculatedAtOrder: toDecimal(-discount),
    vatPercentage: line.vatPercentage,
  };
  const vat = applyPercentage(-net, line.vatPercentage);
  const wanted = givenVat ?? (net === rest.net ? rest.vat : atMost(-vat, rest.vat));
  return { ...credit, vatRounding: toDecimal(-wanted - vat) };
}

/** The value, at most so far from 0 as the limit, which has its sign. */
const atMost = (value: Minor, limit: Minor) => (limit < 0n ? max(value, limit) : min(value, limit));

/** Rounded half away from zero; the divisor is positive. */
const divideRounded = (value: Minor, divisor: bigint): Minor =>
  (2n * value + (value < 0n ? -divisor : divisor)) / (2n * divisor);

/** The charge of a participant by a line, and its rest after credits, both without VAT. */
export type Share = Pick<typeof participants.$inferSelect, 'id' | 'statusId' | 'heldFor' | 'courseDateId'> &
  Record<'charged' | 'share', Minor> & { isCredited: boolean };

/** The shares of each line of an order; those who left stand in the order in which they left. */
export async function loadShares(w: SchoolWrite, orderId: number) {
  const { id, statusId, heldFor, courseDateId, statusUpdatedAt } = participants;
  const rows = await w.tx
    .select({
      ...{ lineId: orderLines.id, id, statusId, heldFor, courseDateId },
      charged: sql`s.charged`.mapWith(toMinorUnits),
      share: sql`s.share`.mapWith(toMinorUnits),
      isCredited: sql<boolean>`s.is_credited`,
    })
    .from(orderLines)
    .crossJoinLateral(sql`${sql.raw(sharesSql('order_lines'))} s`)
    .innerJoin(participants, sameTenant(participants, orderLines, eq(id, sql`s.participant_id`)))
    .where(tenantWhere(w, orderLines, eq(orderLines.orderId, orderId)))
    .orderBy(asc(orderLines.id), asc(statusUpdatedAt), asc(id));
  return grouped(rows, ({ lineId }) => lineId);
}

/** Shares that add up to the net amount that is left of their line, also where those of a file do not. */
export function adjustShares(shares: Share[], net: Minor): Share[] {
  const adjusted = shares.map((one) => ({ ...one, share: one.share > 0n ? one.share : 0n }));
  if (sumShares(adjusted) === net || shares.length === 0) return adjusted;
  const isSpent = sumShares(adjusted) === 0n;
  const weights = adjusted.map(({ share }) => (isSpent ? 1n : share));
  const parts = split(net, weights);
  return adjusted.map((one, n) => ({ ...one, share: itemAt(parts, n) }));
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
  const [code, broken = []] = faults.find(([, people]) => people.length > 0) ?? [];
  const message = `Field(s) not valid: ${field}`;
  if (code) throw bookingProblem(broken.map((participantId) => ({ code, message, field, participantId })));
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
  const others = shares.filter((one) => !chosen.includes(one));
  const departedShares = others.filter((one) => hasLeft(one.statusId));
  const remainingShares = others.filter((one) => !hasLeft(one.statusId));
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
