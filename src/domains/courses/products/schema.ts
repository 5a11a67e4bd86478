import { Type, type Static } from '@sinclair/typebox';
import { code } from 'currency-codes';
import { t } from '../../../core/schema/types.ts';

export const Currency = t.NamedObject(
  'Currency',
  t.member.financial.all({
    id: Type.String({ description: 'ISO 4217 number' }),
    title: Type.String({ description: 'ISO 4217 code' }),
    long_title: Type.String({ description: 'English name' }),
  }),
);

/** The package's table is older than the Caribbean guilder. */
const isoNumber = (currency: string) => code(currency)?.number ?? (currency === 'XCG' ? '532' : '');

/** The name in sentence case, `Norwegian krone`; the package has `Norwegian Krone`. */
function longTitle(currency: string) {
  const style = { style: 'currency', currency, currencyDisplay: 'name', maximumFractionDigits: 0 } as const;
  const parts = new Intl.NumberFormat('en', style).formatToParts(1);
  const name = parts.find(({ type }) => type === 'currency')?.value ?? currency;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const currencies = new Map<string, Static<typeof Currency>>();

/** Cached: Intl is slow. */
export function toCurrency(currency: string): Static<typeof Currency> {
  const cached = currencies.get(currency) ?? {
    id: isoNumber(currency),
    title: currency,
    long_title: longTitle(currency),
  };
  currencies.set(currency, cached);
  return cached;
}
