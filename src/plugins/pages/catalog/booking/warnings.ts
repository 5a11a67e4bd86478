import { hash } from 'node:crypto';
import type { BookingForm } from './form.ts';

const weights = [3, 2, 7, 6, 5, 4, 3, 2, 1];
const sumOf = (digits: string, toWeight: (at: number) => number) =>
  Array.from(digits).reduce((sum, digit, at) => sum + Number(digit) * toWeight(at), 0);

/** True for a valid Norwegian value. */
const checks = {
  company_number(text: string) {
    const digits = text.replace(/[\s.-]/g, '').replace(/^NO|MVA$/gi, '');
    return /^\d{9}$/.test(digits) && sumOf(digits, (at) => weights[at]!) % 11 === 0;
  },
  gln_number(text: string) {
    const digits = text.replace(/[\s.-]/g, '');
    return /^\d{13}$/.test(digits) && sumOf(digits, (at) => (at % 2 === 0 ? 1 : 3)) % 10 === 0;
  },
  invoice_zipcode: (text: string) => /^(?:NO?-)?\d{4}$/i.test(text),
};
type WarnedField = keyof typeof checks;

/** The values that are no Norwegian ones; a visitor who has seen the warning may send them again. */
export function listWarnings({ payer, isCompany, kept }: BookingForm) {
  const marks = kept.split(' ');
  return (Object.keys(checks) as WarnedField[]).flatMap((name) => {
    const value = payer[name].trim();
    const isSent = value !== '' && (isCompany || name === 'invoice_zipcode');
    if (!isSent || checks[name](value)) return [];
    const mark = hash('sha256', `${name} ${value}`, 'base64url').slice(0, 8);
    return [{ name, mark, isNew: !marks.includes(mark) }];
  });
}
