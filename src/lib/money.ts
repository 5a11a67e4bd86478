/** Amounts are counted in hundredths, as whole numbers; PostgreSQL hands them over as texts with up to two decimals. */
export type Minor = bigint;

const pattern = /^(-?)(\d+)(?:\.(\d{1,2}))?$/;

/** `1234.5` is 123450 hundredths. */
export function toMinorUnits(text: string): Minor {
  const match = pattern.exec(text);
  if (!match) throw new Error('An amount has two decimals at most');
  const [, sign, whole, decimals = ''] = match;
  const minor = BigInt(`${whole}${decimals.padEnd(2, '0')}`);
  return sign === '-' ? -minor : minor;
}

/** As it is stored: `123450` hundredths are `1234.50`. */
export function amountText(minor: Minor): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(3, '0');
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** As an answer shows it: the nearest number, for what is divided is exact below 2^53 hundredths. */
export const amount = (minor: Minor) => Number(minor) / 100;

/** So many percent (two decimals at most) of an amount, rounded half up. */
export function toPercent(minor: Minor, percentage: string): Minor {
  const [part, whole] = [minor * toMinorUnits(percentage), 10_000n];
  const half = part < 0n ? -whole / 2n : whole / 2n;
  return (part + half) / whole;
}
