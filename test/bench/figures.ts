export function median(figures: number[]) {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** Runs both, alternating the order to cancel out order effects. */
export async function inTurns<T>(turn: number, one: () => Promise<T>, other: () => Promise<T>): Promise<[T, T]> {
  if (turn % 2 === 0) return [await one(), await other()];
  const second = await other();
  return [await one(), second];
}
