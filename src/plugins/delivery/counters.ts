import type { Database } from '../../database/client.ts';
import type { Counters } from '../../database/counters.ts';

const createCounters = () => ({
  /** Attempts to send a mail, by their result. */
  mails: { sent: 0, written: 0, dropped: 0, retried: 0, failed: 0, refused: 0, postponed: 0 },
  /** Attempts to deliver a message to a webhook, by their result. */
  webhooks: { delivered: 0, failed: 0 },
});
export type DeliveryCounters = ReturnType<typeof createCounters>;

/** By the counters of the core, which all views of a database share. */
const byDatabase = new WeakMap<Counters, DeliveryCounters>();

/** Numbers since this process opened the database, which only grow. */
export function getDeliveryCounters({ counters }: Pick<Database, 'counters'>): DeliveryCounters {
  const found = byDatabase.get(counters) ?? createCounters();
  byDatabase.set(counters, found);
  return found;
}
