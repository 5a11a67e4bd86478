import fc from 'fast-check';
import { toDecimal } from '../../src/core/money.ts';
import {
  deductFee,
  hasRest,
  lineAmounts,
  toRemainder,
  takePart,
  toCreditLine,
  type CreditedPart,
  type Line,
} from '../../src/domains/orders/credits/line-service.ts';
import { agreedTotals } from '../../src/domains/orders/orders/price-service.ts';

const share = fc.integer({ min: 0, max: 10_000 });
const line = fc.record({
  quantity: fc.integer({ min: 1, max: 30 }),
  price: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 1_000_000 })),
  discount: fc.oneof(fc.constant(0), share),
  vat: fc.constantFrom('0', '6', '12', '12.5', '15', '25', '99.99'),
});
const step = fc.record({
  fee: fc.oneof(fc.constant(0), share),
  parts: fc.array(fc.record({ kind: fc.constantFrom('none', 'items', 'amount', 'rest'), share }), {
    minLength: 4,
    maxLength: 4,
  }),
});
/** Lines of an order, and credits of them by shares of 10,000. */
export const creditedOrders = fc.record({
  lines: fc.array(line, { minLength: 1, maxLength: 4 }),
  steps: fc.array(step, { maxLength: 6 }),
});
type CreditedOrder = typeof creditedOrders extends fc.Arbitrary<infer T> ? T : never;
type Step = CreditedOrder['steps'][number];

const toLine = ({ quantity, price, discount, vat }: CreditedOrder['lines'][number]): Line => ({
  quantity,
  priceAtOrder: toDecimal(BigInt(price)),
  discountPercentAtOrder: '0',
  discountAmountAtOrder: '0',
  discountCalculatedAtOrder: toDecimal((BigInt(quantity * price) * BigInt(discount)) / 10_000n),
  vatPercentage: vat,
  vatRounding: '0',
});

const take = ({ kind, share }: Step['parts'][number], line: Line, rest: ReturnType<typeof toRemainder>) => {
  if (kind === 'none') return undefined;
  if (kind === 'rest') return takePart(line, rest, {});
  if (kind === 'items')
    return takePart(line, rest, { quantity: 1 + Math.floor((share * (line.quantity - 1)) / 10_000) });
  const amount = (rest.net * BigInt(share)) / 10_000n;
  return amount === 0n ? undefined : takePart(line, rest, { amount });
};

/** Credits the lines step by step, then what is left of them; returns what was not conserved. */
export function creditWhole({ lines: described, steps }: CreditedOrder): string[] {
  const lines = described.map(toLine);
  const credits = lines.map((): Line[] => []);
  const wrong: string[] = [];
  const restAt = (n: number) => toRemainder(lines[n]!, credits[n]!);
  const isWithin = (value: bigint, whole: bigint) => value >= 0n && value <= whole;

  const credit = (feeShare: number, choose: (n: number) => CreditedPart | undefined) => {
    const chosen = lines.flatMap((line, n) => {
      const part = hasRest(line, restAt(n)) ? choose(n) : undefined;
      return part === undefined ? [] : [{ n, part }];
    });
    const total = chosen.reduce((sum, { part }) => sum + part.net, 0n);
    const fee = (total * BigInt(feeShare)) / 10_001n;
    const parts = deductFee(
      chosen.map(({ part }) => part),
      fee,
    );
    if (parts.reduce((sum, { net }) => sum + net, fee) !== total)
      wrong.push('the fee and the credit are not the parts');
    parts.forEach((part, k) => {
      const { n } = chosen[k]!;
      credits[n]!.push(toCreditLine(lines[n]!, restAt(n), part));
      const [rest, whole] = [restAt(n), lineAmounts(lines[n]!)];
      if (!isWithin(rest.net, whole.net) || !isWithin(rest.vat, whole.vat) || rest.quantity < 0 || rest.discount < 0n)
        wrong.push('more is credited than the line has');
    });
  };
  for (const { fee, parts } of steps) credit(fee, (n) => take(parts[n]!, lines[n]!, restAt(n)));
  credit(0, (n) => takePart(lines[n]!, restAt(n), {}));

  const totals = agreedTotals([...lines, ...credits.flat()]);
  const net = lines.reduce((sum, _line, n) => sum + restAt(n).net, 0n);
  if (net !== 0n || totals.totalVat !== '0.00') wrong.push(`net ${net}, VAT ${totals.totalVat} are left`);
  if (lines.some((line, n) => hasRest(line, restAt(n)))) wrong.push('something is left to credit');
  return wrong;
}
