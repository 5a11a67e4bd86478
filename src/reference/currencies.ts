import { codes } from 'currency-codes';

/** ISO 4217 alphabetic codes, upper case. */
export const currencyCodes: readonly string[] = codes();
