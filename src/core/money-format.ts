import { toDecimal, type Minor } from './money.ts';
import { locales, type Language } from './reference/language.ts';

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
