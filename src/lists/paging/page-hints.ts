import type { Knowledge, Known } from '../../core/context.ts';

export const nothingKnown = (): Known => ({ ends: new Map() });
export const noKnowledge: Knowledge = { find: () => undefined, open: nothingKnown };

/** For a few who walk at once, or one who asks for some pages at once. */
const mostEnds = 8;

export type End = { count: number; id: number };

/** Where to go on from to what comes after so many items: only those between have to be skipped. */
export function nearestEnd(known: Known | undefined, before: number): End | undefined {
  let nearest: End | undefined;
  for (const [count, id] of known?.ends ?? []) {
    if (count <= before && count > (nearest?.count ?? 0)) nearest = { count, id };
  }
  return nearest;
}

/** The last few that were noted are kept. */
export function noteEnd({ ends }: Known, { count, id }: End) {
  ends.delete(count);
  ends.set(count, id);
  const [oldest] = ends.keys();
  if (ends.size > mostEnds) ends.delete(oldest!);
}

/** Notes that there are no more than so many items. */
export function noteMost(known: Known, count: number) {
  known.most = Math.min(count, known.most ?? count);
}

/** Counts once, for all pages and all who wait. */
export function countOnce(known: Known, count: () => Promise<number>) {
  if (known.total) return known.total;
  const total = count();
  known.total = total;
  total.then(
    (found) => noteMost(known, found),
    () => delete known.total,
  );
  return total;
}
