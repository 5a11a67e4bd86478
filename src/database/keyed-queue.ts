/** Thrown when a piece of work found no place in the queue, waited in it longer than it may, or gave up. */
export class QueueTimeoutError extends Error {}

type Waiting = { keys: number[]; fairnessKey: number | undefined; start: () => void };

/**
 * Of the work with a `fairnessKey`, that of the key with the least running work goes first, then of the key that was
 * served longest ago. `onWait` gets the function that takes the work out of the queue.
 */
type QueueOptions = { fairnessKey?: number | undefined; onWait?: (giveUp: () => void) => void };

/**
 * Lets work in one at a time per key and `slots` at a time altogether, first come first served. Work without keys waits
 * for a slot alone. Writers have their providers as keys, and come through here before they take a database connection:
 * otherwise one provider's slow writer would hold all of them.
 */
export function createKeyedQueue(limits: { slots: number; waiting: number; waitMs: number }) {
  const busy = new Set<number>();
  const waiting = new Set<Waiting>();
  const running = new Set<Waiting>();
  /** The last turn of each fairness key, as long as any work runs. */
  const lastTurns = new Map<number, number>();
  let turns = 0;

  const free = ({ keys }: Waiting) => running.size < limits.slots && !keys.some((key) => busy.has(key));

  function admit() {
    for (let piece = next(); piece; piece = next()) {
      waiting.delete(piece);
      enter(piece);
    }
  }

  /** In order: who waits longer keeps its keys from those behind, or work that has two might never get both. */
  function next() {
    if (running.size >= limits.slots) return undefined;
    const claimed = new Set<number>();
    let found: { piece: Waiting; atWork: number; lastTurn: number } | undefined;
    for (const piece of waiting) {
      if (free(piece) && !piece.keys.some((key) => claimed.has(key))) {
        if (piece.fairnessKey === undefined) return piece;
        const [atWork, lastTurn] = [getCount(running, piece.fairnessKey), lastTurns.get(piece.fairnessKey) ?? 0];
        const isBefore = found && (atWork - found.atWork || lastTurn - found.lastTurn) < 0;
        if (!found || isBefore) found = { piece, atWork, lastTurn };
      } else {
        for (const key of piece.keys) claimed.add(key);
      }
    }
    return found?.piece;
  }

  function getCount(pieces: Set<Waiting>, fairnessKey: number) {
    let count = 0;
    for (const piece of pieces) if (piece.fairnessKey === fairnessKey) count += 1;
    return count;
  }

  /** A full queue still takes the work of a key with less than an equal share, so that no key can fill it against others. */
  function isFull({ fairnessKey }: Waiting) {
    if (waiting.size < limits.waiting) return false;
    if (fairnessKey === undefined) return true;
    const keys = new Set([...waiting].map((piece) => piece.fairnessKey)).add(fairnessKey);
    return getCount(waiting, fairnessKey) >= Math.max(1, Math.floor(limits.waiting / keys.size));
  }

  const isClaimed = (keys: number[]) => [...waiting].some((piece) => piece.keys.some((key) => keys.includes(key)));

  function enter(piece: Waiting) {
    running.add(piece);
    if (piece.fairnessKey !== undefined) lastTurns.set(piece.fairnessKey, (turns += 1));
    for (const key of piece.keys) busy.add(key);
    piece.start();
  }

  function leave(piece: Waiting) {
    running.delete(piece);
    for (const key of piece.keys) busy.delete(key);
    admit();
    if (running.size === 0) lastTurns.clear();
  }

  function arrive(piece: Waiting, onWait: QueueOptions['onWait']) {
    return new Promise<void>((resolve, reject) => {
      piece.start = resolve;
      if (free(piece) && !isClaimed(piece.keys)) {
        enter(piece);
        return;
      }
      if (isFull(piece)) {
        reject(new QueueTimeoutError('the queue is full'));
        return;
      }

      const goWithout = (why: string) => {
        clearTimeout(timer);
        if (!waiting.delete(piece)) return;
        reject(new QueueTimeoutError(why));
        admit();
      };
      const timer = setTimeout(goWithout, limits.waitMs, 'waited too long for a turn');
      piece.start = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(piece);
      onWait?.(() => goWithout('gave up'));
    });
  }

  return async function queued<T>(
    keys: number[],
    work: () => Promise<T>,
    { fairnessKey, onWait }: QueueOptions = {},
  ): Promise<T> {
    const piece: Waiting = { keys, fairnessKey, start: () => undefined };
    await arrive(piece, onWait);
    try {
      return await work();
    } finally {
      leave(piece);
    }
  };
}
