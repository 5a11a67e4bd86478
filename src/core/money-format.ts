import { toDecimal, type Minor } from './money.ts';
import { locales, type Language } from './reference/language.ts';

/** Formats 123450 as `NOK 1,234.50` or `1 234,50 kr`, with no-break spaces. */
export function formatMoney(amount: Minor, currency: string, language: Language) {
  const format = new Intl.NumberFormat(locales[language], { style: 'currency', currency });
  return format.format(toDecimal(amount) as Intl.StringNumericLiteral);
}
