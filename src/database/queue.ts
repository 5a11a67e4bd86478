/** Thrown when a piece of work found no place in the queue, waited in it longer than it may, or gave up. */
export class NoTurn extends Error {}

type Waiting = { keys: number[]; whose: number | undefined; start: () => void };

/**
 * `whose`: of those who are named, who has least at work goes first, then who was let in longest ago. `onWait` is told what
 * takes it out of the queue.
 */
type Manners = { whose?: number; onWait?: (giveUp: () => void) => void };

/**
 * Lets work in one at a time per key and `slots` at a time altogether, first come first served. Work without keys waits
 * for a slot alone. Writers have their providers as keys, and come through here before they take a database connection:
 * otherwise one provider's slow writer would hold all of them.
 */
export function workQueue(limits: { slots: number; waiting: number; waitMs: number }) {
  const busy = new Set<number>();
  const waiting = new Set<Waiting>();
  const running = new Set<Waiting>();
  /** Of each who is named, as long as anything is at work. */
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
        if (piece.whose === undefined) return piece;
        const [atWork, lastTurn] = [countOf(running, piece.whose), lastTurns.get(piece.whose) ?? 0];
        const isBefore = found && (atWork - found.atWork || lastTurn - found.lastTurn) < 0;
        if (!found || isBefore) found = { piece, atWork, lastTurn };
      } else {
        for (const key of piece.keys) claimed.add(key);
      }
    }
    return found?.piece;
  }

  function countOf(pieces: Set<Waiting>, whose: number) {
    let count = 0;
    for (const piece of pieces) if (piece.whose === whose) count += 1;
    return count;
  }

  /** Who is named and has nothing waiting always finds a place: nobody can fill the queue against others. */
  const isFull = ({ whose }: Waiting) =>
    waiting.size >= limits.waiting && (whose === undefined || countOf(waiting, whose) > 0);

  const isClaimed = (keys: number[]) => [...waiting].some((piece) => piece.keys.some((key) => keys.includes(key)));

  function enter(piece: Waiting) {
    running.add(piece);
    if (piece.whose !== undefined) lastTurns.set(piece.whose, (turns += 1));
    for (const key of piece.keys) busy.add(key);
    piece.start();
  }

  function leave(piece: Waiting) {
    running.delete(piece);
    for (const key of piece.keys) busy.delete(key);
    admit();
    if (running.size === 0) lastTurns.clear();
  }

  function arrive(piece: Waiting, onWait: Manners['onWait']) {
    return new Promise<void>((resolve, reject) => {
      piece.start = resolve;
      if (free(piece) && !isClaimed(piece.keys)) {
        enter(piece);
        return;
      }
      if (isFull(piece)) {
        reject(new NoTurn('the queue is full'));
        return;
      }

      const goWithout = (why: string) => {
        clearTimeout(timer);
        if (!waiting.delete(piece)) return;
        reject(new NoTurn(why));
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

  return async function queued<T>(keys: number[], work: () => Promise<T>, { whose, onWait }: Manners = {}): Promise<T> {
    const piece: Waiting = { keys, whose, start: () => undefined };
    await arrive(piece, onWait);
    try {
      return await work();
    } finally {
      leave(piece);
    }
  };
}
