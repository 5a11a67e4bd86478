import { applyPercentage, max, min, sum, toDecimal, toMinorUnits, type Minor } from '../../../core/money.ts';
import { agreedTotals, type AgreedLine } from '../orders/price-service.ts';

/** A line of an order, or one that credits a part of it: its quantity and discount are negative. */
export type Line = Omit<AgreedLine, 'vatRounding'> &
  Record<'discountPercentAtOrder' | 'discountAmountAtOrder' | 'vatRounding', string>;

/** The creditable remainder of a line; `isWhole` if earlier credits were of items, none of an amount. */
export type Rest = { quantity: number; discount: Minor; net: Minor; vat: Minor; isWhole: boolean };

/** Net and VAT of a line. */
export function lineAmounts(line: Line) {
  const { totalBeforeDiscounts, totalDiscounts, totalVat } = agreedTotals([line]);
  return { net: toMinorUnits(totalBeforeDiscounts) - toMinorUnits(totalDiscounts), vat: toMinorUnits(totalVat) };
}

export function restOf(line: Line, credits: Line[]): Rest {
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

export const toItem = (net: Minor): CreditedPart => ({ isOfItems: false, quantity: 1, price: net, discount: 0n, net });

/** The amounts of the parts less their shares of a net fee, which is below their sum. */
export function deductFee<P extends CreditedPart>(parts: P[], fee: Minor): P[] {
  if (fee === 0n) return parts;
  const weights = parts.map(({ net }) => net);
  const shares = split(fee, weights);
  return parts.map((part, n) => (part.net === 0n ? part : { ...part, ...toItem(part.net - shares[n]!) }));
}

/** Parts of an amount in proportion to weights, which add up to it; none without weights. */
export function split(amount: Minor, weights: Minor[]): Minor[] {
  const total = sum(weights);
  let [before, given] = [0n, 0n];
  return weights.map((weight) => {
    before += weight;
    const part = total === 0n ? 0n : divideRounded(amount * before, total) - given;
    given += part;
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
