import { codes } from 'currency-codes';

/** ISO 4217 alphabetic codes. The package lacks the Caribbean guilder. */
export const currencyCodes: readonly string[] = [...new Set([...codes(), 'XCG'])];
