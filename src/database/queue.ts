/** Thrown when a piece of work found no place in the queue, or waited in it longer than it may. */
export class NoTurn extends Error {}

type Waiting = { keys: number[]; start: () => void };

/**
 * Lets work in one at a time per key and `slots` at a time altogether, first come first served. Work without keys waits
 * for a slot alone. Writers have their providers as keys, and come through here before they take a database connection:
 * otherwise one provider's slow writer would hold all of them.
 */
export function workQueue(limits: { slots: number; waiting: number; waitMs: number }) {
  const busy = new Set<number>();
  const waiting = new Set<Waiting>();
  let running = 0;

  const free = ({ keys }: Waiting) => running < limits.slots && !keys.some((key) => busy.has(key));

  /** In order: who waits longer keeps its keys from those behind, or work that has two might never get both. */
  function admit() {
    const claimed = new Set<number>();
    for (const piece of waiting) {
      if (running >= limits.slots) return;
      if (free(piece) && !piece.keys.some((key) => claimed.has(key))) {
        waiting.delete(piece);
        enter(piece);
      } else {
        for (const key of piece.keys) claimed.add(key);
      }
    }
  }

  const isClaimed = (keys: number[]) => [...waiting].some((piece) => piece.keys.some((key) => keys.includes(key)));

  function enter(piece: Waiting) {
    running += 1;
    for (const key of piece.keys) busy.add(key);
    piece.start();
  }

  function leave(keys: number[]) {
    running -= 1;
    for (const key of keys) busy.delete(key);
    admit();
  }

  function arrive(keys: number[]) {
    return new Promise<void>((resolve, reject) => {
      const piece: Waiting = { keys, start: resolve };
      if (free(piece) && !isClaimed(keys)) {
        enter(piece);
        return;
      }
      if (waiting.size >= limits.waiting) {
        reject(new NoTurn('the queue is full'));
        return;
      }

      const timer = setTimeout(() => {
        waiting.delete(piece);
        reject(new NoTurn('waited too long for a turn'));
      }, limits.waitMs);
      piece.start = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(piece);
    });
  }

  return async function queued<T>(keys: number[], work: () => Promise<T>): Promise<T> {
    await arrive(keys);
    try {
      return await work();
    } finally {
      leave(keys);
    }
  };
}
