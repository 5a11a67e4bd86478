import fc from 'fast-check';
import { expect, test } from 'vitest';
import { creditedOrders, creditWhole } from '../../support/credits.ts';

test('10,000 orders credited in random parts conserve net, VAT and gross', () => {
  fc.assert(
    fc.property(creditedOrders, (order) => {
      expect(creditWhole(order)).toEqual([]);
    }),
    { numRuns: 10_000 },
  );
});
