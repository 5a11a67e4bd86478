import { faultsOf } from '../row.ts';

/** Assertions: `right` must hold at once; `inTime` may fail once, since the machine may be busy. */
export type Checks = { right: Record<string, boolean>; inTime: Record<string, boolean> };

/** All failed assertions of one observation. */
export const allFaultsOf = ({ right, inTime }: Checks) => faultsOf({ ...right, ...inTime });

/** Observes, and repeats once if only `inTime` failed; a failure of the repetition counts. */
export async function twiceIfLate<T>(look: () => Promise<T>, judge: (seen: T) => Checks) {
  const first = await look();
  const { right, inTime } = judge(first);
  if (faultsOf(right).length > 0 || faultsOf(inTime).length === 0)
    return { seen: first, faults: faultsOf({ ...right, ...inTime }) };
  const seen = await look();
  return { seen, faults: allFaultsOf(judge(seen)) };
}

/** Negative control: the assertions that do not fail for a log made to break them. */
export const overlookedBy = (found: string[], ...words: string[]) =>
  words.filter((word) => !found.some((fault) => fault.includes(word))).map((word) => `the look finds it: ${word}`);
