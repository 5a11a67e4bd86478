import type { PageHintStore, PageHints } from '../../core/context.ts';

export const createPageHints = (): PageHints => ({ cursors: new Map() });
export const noPageHints: PageHintStore = { find: () => undefined, open: createPageHints };

/** For a few who walk at once, or one who asks for some pages at once. */
const maxCursors = 8;

export type Cursor = { count: number; id: number };

/** Where to go on from to what comes after so many items: only those between have to be skipped. */
export function nearestCursor(hints: PageHints | undefined, before: number): Cursor | undefined {
  let nearest: Cursor | undefined;
  for (const [count, id] of hints?.cursors ?? []) {
    if (count <= before && count > (nearest?.count ?? 0)) nearest = { count, id };
  }
  return nearest;
}

/** The last few that were noted are kept. */
export function rememberCursor({ cursors }: PageHints, { count, id }: Cursor) {
  cursors.delete(count);
  cursors.set(count, id);
  const [oldest] = cursors.keys();
  if (cursors.size > maxCursors) cursors.delete(oldest!);
}

/** Notes that there are no more than so many items. */
export function setUpperBound(hints: PageHints, count: number) {
  hints.maxCount = Math.min(count, hints.maxCount ?? count);
}

/** Counts once, for all pages and all who wait. */
export function countOnce(hints: PageHints, count: () => Promise<number>) {
  if (hints.total) return hints.total;
  const total = count();
  hints.total = total;
  total.then(
    (found) => setUpperBound(hints, found),
    () => delete hints.total,
  );
  return total;
}
