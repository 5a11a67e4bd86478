import { faultsOf } from '../row.ts';

/** What must hold: `right` at once, `inTime` the second time at the latest, since the machine does other things as well. */
export type Checks = { right: Record<string, boolean>; inTime: Record<string, boolean> };

/** What does not hold of a single look, whatever its kind. */
export const allFaultsOf = ({ right, inTime }: Checks) => faultsOf({ ...right, ...inTime });

/** Looks, and a second time where nothing but a bar on time was missed; what is wrong in either look is a fault. */
export async function twiceIfLate<T>(look: () => Promise<T>, judge: (seen: T) => Checks) {
  const first = await look();
  const { right, inTime } = judge(first);
  if (faultsOf(right).length > 0 || faultsOf(inTime).length === 0)
    return { seen: first, faults: faultsOf({ ...right, ...inTime }) };
  const seen = await look();
  return { seen, faults: allFaultsOf(judge(seen)) };
}

/** The negative control: what of these is not found in a log that was made to break it. */
export const overlookedBy = (found: string[], ...words: string[]) =>
  words.filter((word) => !found.some((fault) => fault.includes(word))).map((word) => `the look finds it: ${word}`);
