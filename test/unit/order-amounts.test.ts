import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toNumber, toDecimal, toMinorUnits, applyPercentage } from '../../src/core/money.ts';
import { detailedOrderTitle } from '../../src/core/date-format.ts';
import { agreedTotals } from '../../src/domains/orders/orders/price-service.ts';
import { runs } from '../support/property-runs.ts';

test.each([
  ['0', 0n, '0.00'],
  ['0.1', 10n, '0.10'],
  ['1234.56', 123_456n, '1234.56'],
  ['-0.05', -5n, '-0.05'],
  ['9999999999.99', 999_999_999_999n, '9999999999.99'],
])('%s is %s hundredths', (text, minor, stored) => {
  expect([toMinorUnits(text), toDecimal(minor), toNumber(minor)]).toEqual([minor, stored, Number(text)]);
});

test.each(['', '1.', '.5', '1.234', '1e3', ' 1', '1,5', 'NaN', '--1'])('%j is not an amount', (text) => {
  expect(() => toMinorUnits(text)).toThrow();
});

test('every amount survives formatting and parsing', () => {
  const most = 10n ** 14n;
  fc.assert(
    fc.property(fc.bigInt(-most, most), (minor) => toMinorUnits(toDecimal(minor)) === minor),
    { numRuns: runs() },
  );
  fc.assert(
    fc.property(fc.bigInt(-most, most), (minor) => toNumber(minor) === Number(toDecimal(minor))),
    {
      numRuns: runs(),
    },
  );
});

test.each([
  [10n, '25', 3n],
  [2n, '25', 1n],
  [1n, '25', 0n],
  [-2n, '25', -1n],
  [100n, '12.5', 13n],
  [999_999_999_999n, '99.99', 999_899_999_999n],
  [0n, '25', 0n],
])('%s hundredths at %s percent are %s, rounded half up', (minor, percentage, expected) => {
  expect(applyPercentage(minor, percentage)).toBe(expected);
});

test('the totals of an order: discounts first, then VAT, rounded for each line', () => {
  const line = { quantity: 1, priceAtOrder: '0.10', discountCalculatedAtOrder: '0', vatPercentage: '5' };
  expect(agreedTotals([line, line, line])).toEqual({
    totalBeforeDiscounts: '0.30',
    totalDiscounts: '0.00',
    totalVat: '0.03',
  });
  expect(agreedTotals([{ ...line, quantity: 3, discountCalculatedAtOrder: '0.20', vatPercentage: '25' }])).toEqual({
    totalBeforeDiscounts: '0.30',
    totalDiscounts: '0.20',
    totalVat: '0.03',
  });
  expect(agreedTotals([])).toEqual({ totalBeforeDiscounts: '0.00', totalDiscounts: '0.00', totalVat: '0.00' });
});

test('the detailed title of an order', () => {
  expect(detailedOrderTitle('2026-12-31', '2027-01-02', 'Bergen')).toBe('31.12.2026 - 02.01.2027 - Bergen');
  expect(detailedOrderTitle('2026-12-31', '2027-01-02', null)).toBe('31.12.2026 - 02.01.2027');
});
