import { itemAt, Problem } from '../../../core/errors.ts';
import { applyPercentage, max, min, sum, toDecimal, toMinorUnits, type Minor } from '../../../core/money.ts';
import type { WriteCtx } from '../../../database/context.ts';
import { grouped } from '../../../lists/relations.ts';
import { bookingProblem, bookingError } from '../../../core/booking-errors.ts';
import { detailedOrderTitle } from '../../../core/date-format.ts';
import type { PricedDate, ProductFound } from '../orders/schema.ts';
import { isStorable } from '../orders/price-service.ts';
import { lineAmounts, split } from './line-service.ts';
import { creditOrder, findLines } from './service.ts';
import { findPriceLines, insertFollowingOrder, type PriceLine } from './sql.ts';

/**
 * Changes the price of a participant to that of another course, less the agreed discounts: credits a lower price, and
 * adds an order for a higher one; returns their ids. A discount in percent stays one, unless its campaign excludes the
 * course. Call under the lock.
 */
export async function changePrice(w: WriteCtx, participantId: number, date: PricedDate) {
  const { providerId } = w;
  const lines = await findPriceLines(w.tx, { providerId, participantId, courseId: date.courseId });
  const [newest] = lines;
  if (newest === undefined) throw Problem.invalidFields({ rules: { price: 'price_unknown' } });
  const product = productOf(lines, date);
  if (product === null) throw bookingProblem([bookingError('default_course_product_missing')]);
  if (product.currency !== newest.currency) throw bookingProblem([bookingError('exchange_rate_does_not_exist')]);

  const shares = toShares(lines, participantId);
  const agreed = sum(shares.map(({ net }) => net));
  const listed = toMinorUnits(product.price);
  const percent = lines.find(({ isBooked, keepsPercent }) => isBooked && keepsPercent)?.discountPercentAtOrder ?? '0';
  const discounts =
    Number(percent) > 0 ? applyPercentage(listed, percent) : sum(shares.map((share) => share.listed)) - agreed;
  const wanted = max(0n, listed - discounts);
  // A line has one VAT rate, so another rate needs a credit of the whole price.
  const isSameVat = shares.every(
    ({ net, vatPercentage }) => net === 0n || Number(vatPercentage) === Number(product.vatPercentage),
  );
  const credits = await creditShares(w, participantId, shares, isSameVat ? agreed - wanted : agreed);
  const more = isSameVat ? wanted - agreed : wanted;
  if (more <= 0n) return credits;
  return [...credits, await insertDifference(w, newest.firstOrderId, participantId, { product, date }, more)];
}

/** The product of the date's course that the participant booked, at the price that was agreed, else the main product. */
function productOf(lines: PriceLine[], { courseId, mainProduct }: PricedDate): ProductFound | null {
  const booked = lines.find((line) => line.isBooked && line.courseId === courseId);
  return booked === undefined ? mainProduct : { ...booked, id: booked.productId, price: booked.priceAtOrder };
}

type Share = { orderId: number; lineId: number; vatPercentage: string; net: Minor; listed: Minor };

/** The participant's shares of the remaining amounts of the lines, the newest first: after discounts, and before them. */
function toShares(lines: PriceLine[], participantId: number): Share[] {
  const bySource = grouped(lines, ({ sourceId }) => sourceId);
  return [...bySource.values()].map((found) => {
    const { orderId, sourceId: lineId, vatPercentage } = itemAt(found);
    const sumBy = (valueOf: (line: PriceLine) => Minor) =>
      sum(found.map((line) => shareOf(participantId, line, valueOf(line))));
    const net = sumBy((line) => lineAmounts(line).net);
    const listed = sumBy((line) => toMinorUnits(line.priceAtOrder) * BigInt(line.quantity));
    return { orderId, lineId, vatPercentage, net, listed };
  });
}

/** The participant's share of a value of a line, in proportion to that of the net amount. */
function shareOf(participantId: number, line: PriceLine, value: Minor): Minor {
  const place = line.people.indexOf(participantId);
  if (place < 0) return 0n;
  const { net } = lineAmounts(line);
  const share = line.amount === null ? undefined : toMinorUnits(line.amount);
  if (share !== undefined && net !== 0n) return -itemAt(split(-value, [-share, share - net]));
  const weights = line.people.map(() => 1n);
  return itemAt(split(value, weights), place);
}

/** Credits an amount, at most the shares; returns the ids of the credits. */
async function creditShares(w: WriteCtx, participantId: number, shares: Share[], amount: Minor) {
  const credits: number[] = [];
  let remaining = amount;
  for (const { orderId, lineId, net } of shares) {
    const { shares: known } = (await findLines(w, orderId)).find(({ source }) => source.id === lineId)!;
    const { share } = known.find(({ id }) => id === participantId)!;
    const amount = min(remaining, min(net, share));
    if (amount <= 0n) continue;
    const lines = [{ lineId, amount, participantIds: [participantId] }];
    credits.push((await creditOrder(w, orderId, { lines })).id);
    remaining -= amount;
  }
  return credits;
}

async function insertDifference(
  { providerId, tx, now }: WriteCtx,
  firstOrderId: number,
  participantId: number,
  { product: { id, vatPercentage }, date }: { product: ProductFound; date: PricedDate },
  net: Minor,
) {
  const line = { product: id, quantity: 1, price: toDecimal(net), percent: '0', amount: '0', calculated: '0' };
  const vat = applyPercentage(net, vatPercentage);
  const agreed = { totalBeforeDiscounts: toDecimal(net), totalDiscounts: '0', totalVat: toDecimal(vat) };
  if (!isStorable({ agreed, inclVat: net + vat })) throw bookingProblem([bookingError('order_could_not_be_created')]);
  const inserted = await insertFollowingOrder.one(tx, {
    ...{ providerId, firstOrderId, now, kind: 'difference', ...agreed, applied: '0', reason: null, isPaid: false },
    lines: [{ ...line, vat: vatPercentage, credits: null, rounding: '0' }],
    people: [{ line: null, participant: participantId, amount: null, isCredited: false }],
    properties: {},
    ...{ title: date.courseTitle, titleDetailed: detailedOrderTitle(date.startAt, date.endAt, date.place) },
  });
  return inserted.id;
}
