import { QueueTimeoutError } from '../core/database-errors.ts';

type Entry = { keys: number[]; tenantQueueKey: number | undefined; start: () => void; queuedAt?: number };

/** `onWait` is called if the work has to wait, with a function that cancels it. */
type QueueOptions = { tenantQueueKey?: number | undefined; onWait?: (cancel: () => void) => void };

type Limits = { slots: number; waiting: number; waitMs: number };

/** The state of a queue; `started` and `waitedMs` are sums since its creation. */
export type QueueUsage = { waiting: number; running: number; started: number; waitedMs: number; longestWaitMs: number };

class KeyedQueue {
  readonly #limits: Limits;
  readonly #busyKeys = new Set<number>();
  readonly #waiting = new Set<Entry>();
  readonly #running = new Set<Entry>();
  /** Start number of each tenant queue key's latest entry; cleared when the queue is idle. */
  readonly #lastStarts = new Map<number, number>();
  #starts = 0;
  #started = 0;
  #waitedMs = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  #startNext() {
    for (let entry = this.#findNext(); entry; entry = this.#findNext()) {
      this.#waiting.delete(entry);
      this.#start(entry);
    }
  }

  /** A blocked entry reserves its keys, or an entry with two keys could starve. */
  #findNext() {
    if (this.#running.size >= this.#limits.slots) return undefined;
    const reserved = new Set(this.#busyKeys);
    let best: { entry: Entry; active: number; lastStart: number } | undefined;
    for (const entry of this.#waiting) {
      if (entry.keys.some((key) => reserved.has(key))) {
        for (const key of entry.keys) reserved.add(key);
        continue;
      }
      if (entry.tenantQueueKey === undefined) return entry;
      const active = this.#countEntries(this.#running, entry.tenantQueueKey);
      const lastStart = this.#lastStarts.get(entry.tenantQueueKey) ?? 0;
      if (!best || (active - best.active || lastStart - best.lastStart) < 0) best = { entry, active, lastStart };
    }
    return best?.entry;
  }

  #countEntries(entries: Set<Entry>, tenantQueueKey: number) {
    let count = 0;
    for (const entry of entries) if (entry.tenantQueueKey === tenantQueueKey) count += 1;
    return count;
  }

  /** True if the queue is over its limit and the tenant queue key has more than an equal share of it. */
  #exceedsShare({ tenantQueueKey }: Entry) {
    if (this.#waiting.size <= this.#limits.waiting) return false;
    if (tenantQueueKey === undefined) return true;
    const tenantQueueKeys = new Set([...this.#waiting].map((entry) => entry.tenantQueueKey));
    return (
      this.#countEntries(this.#waiting, tenantQueueKey) >
      Math.max(1, Math.floor(this.#limits.waiting / tenantQueueKeys.size))
    );
  }

  #start(entry: Entry) {
    this.#running.add(entry);
    this.#started += 1;
    if (entry.queuedAt !== undefined) this.#waitedMs += performance.now() - entry.queuedAt;
    if (entry.tenantQueueKey !== undefined) this.#lastStarts.set(entry.tenantQueueKey, (this.#starts += 1));
    for (const key of entry.keys) this.#busyKeys.add(key);
    entry.start();
  }

  #finish(entry: Entry) {
    this.#running.delete(entry);
    for (const key of entry.keys) this.#busyKeys.delete(key);
    this.#startNext();
    if (this.#running.size === 0) this.#lastStarts.clear();
  }

  #waitForStart(entry: Entry, onWait: QueueOptions['onWait']) {
    return new Promise<void>((resolve, reject) => {
      entry.start = resolve;
      this.#waiting.add(entry);
      this.#startNext();
      if (!this.#waiting.has(entry)) return;
      if (this.#exceedsShare(entry)) {
        this.#waiting.delete(entry);
        reject(new QueueTimeoutError('the queue is full'));
        return;
      }

      const remove = (reason: string) => {
        clearTimeout(timer);
        if (!this.#waiting.delete(entry)) return;
        reject(new QueueTimeoutError(reason));
        this.#startNext();
      };
      const timer = setTimeout(remove, this.#limits.waitMs, 'timed out in the queue');
      entry.start = () => {
        clearTimeout(timer);
        resolve();
      };
      entry.queuedAt = performance.now();
      onWait?.(() => remove('canceled'));
    });
  }

  usage(): QueueUsage {
    const [oldest] = this.#waiting;
    return {
      ...{ waiting: this.#waiting.size, running: this.#running.size },
      ...{ started: this.#started, waitedMs: this.#waitedMs },
      longestWaitMs: oldest === undefined ? 0 : performance.now() - oldest.queuedAt!,
    };
  }

  async enqueue<T>(keys: number[], work: () => Promise<T>, { tenantQueueKey, onWait }: QueueOptions = {}): Promise<T> {
    const entry: Entry = { keys, tenantQueueKey, start: () => undefined };
    await this.#waitForStart(entry, onWait);
    try {
      return await work();
    } finally {
      this.#finish(entry);
    }
  }
}

/**
 * A queue that runs one piece of work per key and `slots` altogether; at most `waiting` entries wait, for `waitMs` each.
 * First in, first out without tenant queue keys; with them, the one with the fewest running entries is next, then the
 * least recently served one. Writes queue by provider before they take a connection, or one provider could hold all.
 */
export function createKeyedQueue(limits: Limits) {
  const queue = new KeyedQueue(limits);
  const enqueue = <T>(keys: number[], work: () => Promise<T>, options?: QueueOptions): Promise<T> =>
    queue.enqueue(keys, work, options);
  return Object.assign(enqueue, { usage: () => queue.usage() });
}
