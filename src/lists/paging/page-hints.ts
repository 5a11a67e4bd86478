import type { PageHints, PageHintStore } from '../../database/context.ts';

export const createPageHints = (): PageHints => ({ cursors: new Map() });
export const noPageHints: PageHintStore = { find: () => undefined, open: createPageHints };

/** Enough for a few clients that page through a list at the same time. */
const maxCursors = 8;

type Cursor = { count: number; id: number };

/** The last cursor at or before an offset: only the rows between have to be skipped. */
export function nearestCursor(hints: PageHints | undefined, offset: number): Cursor | undefined {
  let nearest: Cursor | undefined;
  for (const [count, id] of hints?.cursors ?? []) {
    if (count <= offset && count > (nearest?.count ?? 0)) nearest = { count, id };
  }
  return nearest;
}

/** Remembers the last id of the first `count` items, for the latest `maxCursors` pages. */
export function rememberCursor({ cursors }: PageHints, { count, id }: Cursor) {
  cursors.delete(count);
  cursors.set(count, id);
  const [oldest] = cursors.keys();
  if (cursors.size > maxCursors) cursors.delete(oldest!);
}

/** Records that there are at most `count` items. */
export function setUpperBound(hints: PageHints, count: number) {
  hints.maxCount = Math.min(count, hints.maxCount ?? count);
}

/** Counts once for all concurrent and later requests; a failed count is tried again. */
export function countOnce(hints: PageHints, count: () => Promise<number>) {
  if (hints.total) return hints.total;
  const total = count();
  hints.total = total;
  total.then(
    (number) => setUpperBound(hints, number),
    () => delete hints.total,
  );
  return total;
}
