import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { classifyError, getRootCause } from '../../core/database-errors.ts';
import { toOneLine } from '../../core/text.ts';
import type { Database } from '../../database/client.ts';
import type { Counters } from '../../database/counters.ts';

export type WorkerLog = Pick<Logger, 'info' | 'warn' | 'error'>;

/** The end of a delivery: a line for the log, and a statement that stores it and ends the lease. */
export type Ending = { level: keyof WorkerLog; text: string; mark: () => Promise<unknown> };

/** The deliveries of one kind; `Item` is a row that this process has leased. */
export type Deliveries<Item> = {
  /** Leases due rows. Returns undefined if no place is free beside those in progress. */
  claim(inProgress: Item[]): Promise<Item[]> | undefined;
  /** Extends the leases in progress, which are shorter than deliveries. */
  renewal?: { everyMs: number; renew(inProgress: Item[]): Promise<unknown> };
  /** Sends what is due. Without an ending it has stored the results itself. */
  deliver(item: Item, isStopping: () => boolean): Promise<Ending | undefined>;
  /** The ending after an error of `deliver`; momentary errors of the database pass by themselves. */
  toErrorEnding(item: Item, problem: string, isMomentary: boolean): Ending;
  /** How often an ending is tried to be marked, with pauses of a second. */
  markTries: number;
  /** Most deliveries at once. A full claim is followed by the next one as soon as one has ended, not after `pollMs`. */
  slots?: number;
  /** The pause between two claims. */
  pollMs: number;
  /** The pause after a claim of so many rows, where a rate limits the claims. */
  pauseMs?(claimed: number): number;
  /** How long a stop waits for deliveries in progress to end and to be marked. */
  stopMs: number;
  /** The lines of the log when claims fail, and when they succeed again. */
  texts: { failing: string; recovered: string };
};

/** The pause after a number of failures; the last one repeats. */
export const pauseAfter = (pauses: readonly number[], failures: number) =>
  pauses[Math.min(failures, pauses.length) - 1]!;

/** Claims due rows of one kind and delivers them until it is stopped; several processes may run it. */
export function startWorker<Item>(kind: Deliveries<Item>, log: WorkerLog) {
  const { deliver, renewal, slots, pollMs, pauseMs = () => pollMs } = kind;
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const inProgress = new Map<Promise<void>, Item>();
  const claim = createClaim(kind, log);

  const work = async (item: Item) => {
    const ending = await deliver(item, isStopping).catch((error: unknown) => {
      const isMomentary = ['unavailable', 'retry'].includes(classifyError(error)?.kind ?? '');
      return kind.toErrorEnding(item, toOneLine(getRootCause(error)), isMomentary);
    });
    if (!ending) return;
    log[ending.level](ending.text);
    await tryToMark(ending, kind.markTries);
  };
  const run = async () => {
    while (!isStopping()) {
      const before = inProgress.size;
      const claimed = await claim([...inProgress.values()]);
      for (const item of claimed) {
        const delivery = work(item).finally(() => inProgress.delete(delivery));
        inProgress.set(delivery, item);
      }
      if (before + claimed.length === slots) await Promise.race(inProgress.keys());
      else await sleep(pauseMs(claimed.length), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    await Promise.all(inProgress.keys());
  };
  const renew = () => {
    // After a failure the leases end, and another process may repeat deliveries.
    if (renewal && inProgress.size > 0) renewal.renew([...inProgress.values()]).catch(() => undefined);
  };
  const timer = renewal && setInterval(renew, renewal.everyMs);
  const loop = run();
  return {
    /** Resolves when deliveries in progress have ended and are marked, after `stopMs` at the latest. */
    async stop() {
      stopping.abort();
      await Promise.race([loop, sleep(kind.stopMs, undefined, { ref: false })]);
      clearInterval(timer);
    },
  };
}

/** The claimed rows, none after a failure. Logs once after five in a row, and once when the database is back. */
function createClaim<Item>({ claim, texts }: Deliveries<Item>, log: WorkerLog) {
  let failures = 0;
  return async (inProgress: Item[]) => {
    try {
      const claimed = await claim(inProgress);
      if (claimed === undefined) return [];
      if (failures >= 5) log.info(texts.recovered);
      failures = 0;
      return claimed;
    } catch (error) {
      failures += 1;
      if (failures === 5) log.warn(`${texts.failing}: ${toOneLine(getRootCause(error))}`);
      return [];
    }
  };
}

async function tryToMark({ mark }: Ending, tries: number) {
  for (let left = tries; left > 0; left -= 1) {
    try {
      await mark();
      return;
    } catch {
      if (left > 1) await sleep(1_000);
    }
  }
}

const createCounters = () => ({
  /** Attempts to send a mail, by their result. */
  mails: { sent: 0, written: 0, dropped: 0, retried: 0, failed: 0, refused: 0, postponed: 0 },
  /** Attempts to deliver a message to a webhook, by their result. */
  webhooks: { delivered: 0, failed: 0 },
});
export type DeliveryCounters = ReturnType<typeof createCounters>;

/** The keys are the counters of the core, which all views of a database share. */
const byDatabase = new WeakMap<Counters, DeliveryCounters>();

/** Numbers since this process opened the database, which only grow. */
export function getDeliveryCounters({ counters }: Pick<Database, 'counters'>): DeliveryCounters {
  const found = byDatabase.get(counters) ?? createCounters();
  byDatabase.set(counters, found);
  return found;
}
