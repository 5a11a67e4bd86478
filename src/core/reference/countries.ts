import entries from './countries.json' with { type: 'json' };
import type { Label } from './language.ts';

type Country = { id: number; title: Label };

/**
 * Countries by two-letter code, in the order of the interface specification. Ids are ISO 3166-1 numeric, except Kosovo and
 * the Netherlands Antilles. Not from Intl, whose names change with the version of Node.
 */
export const countries = new Map<string, Country>(
  (entries as [string, number, string, string][]).map(([code, id, en, no]) => [code, { id, title: { en, no } }]),
);

export const countryCodes: readonly string[] = [...countries.keys()];
