import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  toRemainder,
  takePart,
  toCreditLine,
  type Line,
  type Part,
} from '../../src/domains/orders/credits/line-service.ts';
import { creditedOrders, creditWhole } from '../support/credits.ts';
import { runs } from '../support/property-runs.ts';

const line: Line = {
  ...{ quantity: 3, priceAtOrder: '100.00', discountPercentAtOrder: '10', discountAmountAtOrder: '0' },
  ...{ discountCalculatedAtOrder: '10.00', vatPercentage: '25', vatRounding: '0' },
};

/** The credits of the line, one after the other. */
function creditAll(of: Line, parts: Part[]) {
  const credits: Line[] = [];
  for (const part of parts) {
    const rest = toRemainder(of, credits);
    const taken = takePart(of, rest, part);
    if (taken === undefined) return [...credits, undefined];
    credits.push(toCreditLine(of, rest, taken));
  }
  return credits;
}
const item = (quantity: number, discount: string, vatRounding = '0.00') => ({
  ...line,
  ...{ quantity, discountCalculatedAtOrder: discount, vatRounding },
});
const amount = (price: string, vatRounding = '0.00') => ({
  ...{ ...line, quantity: -1, priceAtOrder: price, discountPercentAtOrder: '0', vatRounding },
  discountCalculatedAtOrder: '0.00',
});

test.each<[string, Part[], (Line | undefined)[]]>([
  ['all', [{}], [item(-3, '-10.00')]],
  ['one item, then the rest of the discount', [{ quantity: 1 }, {}], [item(-1, '-3.33'), item(-2, '-6.67')]],
  [
    'each item, and the last one takes the rests',
    [{ quantity: 1 }, { quantity: 1 }, { quantity: 1 }],
    [item(-1, '-3.33'), item(-1, '-3.33'), item(-1, '-3.34', '0.01')],
  ],
  ['an amount, then the rest', [{ amount: 10_002n }, {}], [amount('100.02'), amount('189.98', '0.01')]],
  ['too many items', [{ quantity: 1 }, { quantity: 3 }], [item(-1, '-3.33'), undefined]],
  ['too large an amount', [{ amount: 29_001n }], [undefined]],
  ['items of less than is left', [{ amount: 20_000n }, { quantity: 1 }], [amount('200.00'), undefined]],
])('a credit of a line: %s', (_name, parts, expected) => {
  expect(creditAll(line, parts)).toEqual(expected);
});

test('credits of an order conserve net, VAT and gross', () => {
  fc.assert(
    fc.property(creditedOrders, (order) => {
      expect(creditWhole(order)).toEqual([]);
    }),
    { numRuns: runs(5) },
  );
});
