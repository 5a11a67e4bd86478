import { codes } from 'currency-codes';

/** ISO 4217 alphabetic codes, upper case; the Caribbean guilder came into force after the package's table. */
export const currencyCodes: readonly string[] = [...new Set([...codes(), 'XCG'])];
