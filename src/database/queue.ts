/** Thrown when a writer found no place in the queue, or waited in it longer than it may. */
export class QueueTimeout extends Error {}

type Waiting = { keys: number[]; start: () => void };

/**
 * Lets writers in one at a time per provider and `slots` at a time altogether, first come first served,
 * before they take a database connection: otherwise one provider's slow writer would hold all of them.
 */
export function writerQueue(limits: { slots: number; waiting: number; waitMs: number }) {
  const busy = new Set<number>();
  const waiting = new Set<Waiting>();
  let running = 0;

  const free = ({ keys }: Waiting) => running < limits.slots && !keys.some((key) => busy.has(key));

  /** In order: who waits longer keeps its keys from those behind, or a writer of two providers might never get both. */
  function admit() {
    const claimed = new Set<number>();
    for (const writer of waiting) {
      if (running >= limits.slots) return;
      if (free(writer) && !writer.keys.some((key) => claimed.has(key))) {
        waiting.delete(writer);
        enter(writer);
      } else {
        for (const key of writer.keys) claimed.add(key);
      }
    }
  }

  const isClaimed = (keys: number[]) => [...waiting].some((writer) => writer.keys.some((key) => keys.includes(key)));

  function enter(writer: Waiting) {
    running += 1;
    for (const key of writer.keys) busy.add(key);
    writer.start();
  }

  function leave(keys: number[]) {
    running -= 1;
    for (const key of keys) busy.delete(key);
    admit();
  }

  function arrive(keys: number[]) {
    return new Promise<void>((resolve, reject) => {
      const writer: Waiting = { keys, start: resolve };
      if (free(writer) && !isClaimed(keys)) {
        enter(writer);
        return;
      }
      if (waiting.size >= limits.waiting) {
        reject(new QueueTimeout('the queue of writers is full'));
        return;
      }

      const timer = setTimeout(() => {
        waiting.delete(writer);
        reject(new QueueTimeout('waited too long for other writers'));
      }, limits.waitMs);
      writer.start = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(writer);
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
