import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parentOf } from './usage.ts';
import { openDatabase, type Database } from '../../src/database/client.ts';
import { openEmbeddedDatabase } from '../../src/database/embedded/index.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';

/** A PostgreSQL to measure, with our tables in it: as the service uses it and as psql and pgbench reach it. `pid` is its first process. */
export type Subject = {
  database: Database;
  url: string;
  socket: { host: string; user: string; name: string };
  pid: number;
};

/** Brings up an empty one that writes to disk before it says so, and removes it after the work. */
export async function withDatabase<T>(work: (subject: Subject) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'booking-bench-'));
  // As root the database runs as another user, which shall find its files here.
  chmodSync(dataDir, 0o755);
  const embedded = await openEmbeddedDatabase({ dataDir });
  try {
    const { connection } = embedded;
    await migrateDatabase(connection);
    const database = openDatabase({
      connection,
      timezone: 'Europe/Oslo',
      poolSize: 1,
      acquireMs: 10_000,
      statementMs: 600_000,
      writeMs: 10_000,
    });
    const { host, user, database: name } = connection;
    const url = `postgres://${encodeURIComponent(user)}@localhost/${name}?host=${encodeURIComponent(host)}`;
    const { rows } = await database.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = parentOf(rows[0]!.pid);
    return await work({ database, url, socket: { host, user, name }, pid }).finally(() => database.close());
  } finally {
    await embedded.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
