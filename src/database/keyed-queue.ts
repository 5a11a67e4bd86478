/** Thrown if the queue is full, the wait exceeds its limit, or the entry is cancelled. */
export class QueueTimeoutError extends Error {}

type Entry = { keys: number[]; fairnessKey: number | undefined; start: () => void };

/** `onWait` is called if the work has to wait, with a function that cancels it. */
type QueueOptions = { fairnessKey?: number | undefined; onWait?: (cancel: () => void) => void };

/**
 * A queue that runs one piece of work per key and `slots` altogether; at most `waiting` entries wait, for `waitMs` each.
 * First in, first out without fairness keys; with them, the fairness key with the fewest running entries is next, then
 * the least recently served one. Writes queue by provider before they take a connection, or one provider could hold all.
 */
export function createKeyedQueue(limits: { slots: number; waiting: number; waitMs: number }) {
  const busyKeys = new Set<number>();
  const waiting = new Set<Entry>();
  const running = new Set<Entry>();
  /** Start number of each fairness key's latest entry; cleared when the queue is idle. */
  const lastStarts = new Map<number, number>();
  let starts = 0;

  const canStart = ({ keys }: Entry) => running.size < limits.slots && !keys.some((key) => busyKeys.has(key));

  function startNext() {
    for (let entry = findNext(); entry; entry = findNext()) {
      waiting.delete(entry);
      start(entry);
    }
  }

  /** A blocked entry reserves its keys, or an entry with two keys could starve. */
  function findNext() {
    if (running.size >= limits.slots) return undefined;
    const reserved = new Set<number>();
    let best: { entry: Entry; active: number; lastStart: number } | undefined;
    for (const entry of waiting) {
      if (canStart(entry) && !entry.keys.some((key) => reserved.has(key))) {
        if (entry.fairnessKey === undefined) return entry;
        const [active, lastStart] = [countOf(running, entry.fairnessKey), lastStarts.get(entry.fairnessKey) ?? 0];
        const isFairer = best && (active - best.active || lastStart - best.lastStart) < 0;
        if (!best || isFairer) best = { entry, active, lastStart };
      } else {
        for (const key of entry.keys) reserved.add(key);
      }
    }
    return best?.entry;
  }

  function countOf(entries: Set<Entry>, fairnessKey: number) {
    let count = 0;
    for (const entry of entries) if (entry.fairnessKey === fairnessKey) count += 1;
    return count;
  }

  /** A full queue still accepts fairness keys that have less than an equal share of it. */
  function isFull({ fairnessKey }: Entry) {
    if (waiting.size < limits.waiting) return false;
    if (fairnessKey === undefined) return true;
    const fairnessKeys = new Set([...waiting].map((entry) => entry.fairnessKey)).add(fairnessKey);
    return countOf(waiting, fairnessKey) >= Math.max(1, Math.floor(limits.waiting / fairnessKeys.size));
  }

  const isReserved = (keys: number[]) => [...waiting].some((entry) => entry.keys.some((key) => keys.includes(key)));

  function start(entry: Entry) {
    running.add(entry);
    if (entry.fairnessKey !== undefined) lastStarts.set(entry.fairnessKey, (starts += 1));
    for (const key of entry.keys) busyKeys.add(key);
    entry.start();
  }

  function finish(entry: Entry) {
    running.delete(entry);
    for (const key of entry.keys) busyKeys.delete(key);
    startNext();
    if (running.size === 0) lastStarts.clear();
  }

  function waitForStart(entry: Entry, onWait: QueueOptions['onWait']) {
    return new Promise<void>((resolve, reject) => {
      entry.start = resolve;
      if (canStart(entry) && !isReserved(entry.keys)) {
        start(entry);
        return;
      }
      if (isFull(entry)) {
        reject(new QueueTimeoutError('the queue is full'));
        return;
      }

      const remove = (reason: string) => {
        clearTimeout(timer);
        if (!waiting.delete(entry)) return;
        reject(new QueueTimeoutError(reason));
        startNext();
      };
      const timer = setTimeout(remove, limits.waitMs, 'waited too long for a turn');
      entry.start = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(entry);
      onWait?.(() => remove('gave up'));
    });
  }

  return async function enqueue<T>(
    keys: number[],
    work: () => Promise<T>,
    { fairnessKey, onWait }: QueueOptions = {},
  ): Promise<T> {
    const entry: Entry = { keys, fairnessKey, start: () => undefined };
    await waitForStart(entry, onWait);
    try {
      return await work();
    } finally {
      finish(entry);
    }
  };
}
