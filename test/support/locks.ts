import type { Client } from 'pg';
import { expect } from 'vitest';
import type { Database } from '../../src/database/client.ts';
import { createGate } from './gate.ts';
import { write } from './orders.ts';
import type { Provider } from './test-app.ts';

const blocked = `select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))
  and clock_timestamp() - waitstart >= make_interval(secs => $1)`;

/** Waits until that many statements of others have waited for a lock of this client, each for at least so many seconds. */
export const waitForBlocked = (client: Pick<Client, 'query'>, count: number, seconds = 0) =>
  expect.poll(async () => (await client.query(blocked, [seconds])).rowCount).toBe(count);

/** Sends writes of a school while another one is in progress: each is sent once the one before it waits for the lock. */
export async function sendQueued<T>(database: Database, me: Provider, sends: (() => Promise<T>)[]) {
  const started = createGate();
  const { opened, open } = createGate();
  const holding = write(me, () => {
    started.open();
    return opened;
  });
  await started.opened;
  const sent: Promise<T>[] = [];
  for (const send of sends) {
    sent.push(send());
    await expect.poll(() => database.usage().writes.waiting).toBe(sent.length);
  }
  open();
  await holding;
  return Promise.all(sent);
}
