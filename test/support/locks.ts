import type { Client } from 'pg';
import { expect } from 'vitest';

const blocked = `select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))
  and clock_timestamp() - waitstart >= make_interval(secs => $1)`;

/** Waits until that many statements of others have waited for a lock of this client, each for at least so many seconds. */
export const waitForBlocked = (client: Pick<Client, 'query'>, count: number, seconds = 0) =>
  expect.poll(async () => (await client.query(blocked, [seconds])).rowCount).toBe(count);
