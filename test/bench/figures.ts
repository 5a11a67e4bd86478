export function median(figures: number[]) {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** The value that `percent` % of the values do not exceed. */
export function percentile(values: number[], percent: number) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}

/** Runs both, alternating the order to cancel out order effects. */
export async function alternate<T>(round: number, first: () => Promise<T>, other: () => Promise<T>): Promise<[T, T]> {
  if (round % 2 === 0) return [await first(), await other()];
  const second = await other();
  return [await first(), second];
}
