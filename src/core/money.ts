import { locales, type Language } from './reference/language.ts';

/** Amount in hundredths. PostgreSQL sends amounts as text with up to two decimals. */
export type Minor = bigint;

export const sum = (amounts: Minor[]): Minor => amounts.reduce((total, amount) => total + amount, 0n);
export const min = (a: Minor, b: Minor): Minor => (a < b ? a : b);
export const max = (a: Minor, b: Minor): Minor => (a > b ? a : b);

const pattern = /^(-?)(\d+)(?:\.(\d{1,2}))?$/;

/** Parses `1234.5` as 123450. Throws for more than two decimals. */
export function toMinorUnits(text: string): Minor {
  const match = pattern.exec(text);
  if (!match) throw new Error('An amount has two decimals at most');
  const [, sign, whole, decimals = ''] = match;
  const minor = BigInt(`${whole}${decimals.padEnd(2, '0')}`);
  return sign === '-' ? -minor : minor;
}

/** Formats 123450 as `1234.50`, the stored form. */
export function toDecimal(minor: Minor): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(3, '0');
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The number in responses; exact below 2^53 hundredths. */
export const toNumber = (minor: Minor) => Number(minor) / 100;

/** The percentage (at most two decimals) of an amount, rounded half away from zero. */
export function applyPercentage(minor: Minor, percentage: string): Minor {
  const [numerator, denominator] = [minor * toMinorUnits(percentage), 10_000n];
  const half = numerator < 0n ? -denominator / 2n : denominator / 2n;
  return (numerator + half) / denominator;
}

/** Formats 123450 as `NOK 1,234.50` or `1 234,50 kr`, with no-break spaces. */
export function formatMoney(amount: Minor, currency: string, language: Language) {
  const format = new Intl.NumberFormat(locales[language], { style: 'currency', currency });
  return format.format(toDecimal(amount) as Intl.StringNumericLiteral);
}

/** Formats `25.00` as `25%` or `25 %`. */
export const formatPercentage = (percentage: string, language: Language) =>
  new Intl.NumberFormat(locales[language], { style: 'percent', maximumFractionDigits: 2 }).format(
    Number(percentage) / 100,
  );
