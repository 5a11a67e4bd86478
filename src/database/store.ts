import { setTimeout as sleep } from 'node:timers/promises';
import { resolve } from 'node:path';
import type { PoolConfig } from 'pg';
import type { Config } from '../core/config.ts';
import { Problem } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { openDatabase, type Database, type DatabaseOptions } from './client.ts';
import { getErrorCode, classifyError, isCertificateError } from '../core/database-errors.ts';

/** The configured database, or the embedded one under DATA_DIR. */
export type Store = {
  database: Database;
  connection: PoolConfig;
  /** Messages to log at start. */
  notes: string[];
  close(): Promise<void>;
};

/** Overrides of the server's configuration for commands. */
export type StoreOptions = Partial<
  Pick<DatabaseOptions, 'poolSize' | 'idleMs' | 'acquireMs' | 'statementMs' | 'writeMs'>
> & {
  /** Create the embedded database if it does not exist; default true. */
  createEmbedded?: boolean;
};

export async function openStore(
  config: Config,
  onError: (error: Error) => void,
  { createEmbedded = true, ...overrides }: StoreOptions = {},
): Promise<Store> {
  const embedded = config.DATABASE_URL === undefined ? await openEmbedded(config, createEmbedded) : undefined;
  const connection: PoolConfig = embedded?.connection ?? { connectionString: config.DATABASE_URL };
  const database = openDatabase({
    connection,
    readConnection: config.DATABASE_READ_URL === undefined ? undefined : { connectionString: config.DATABASE_READ_URL },
    timezone: config.TIMEZONE,
    poolSize: config.POOL_SIZE,
    acquireMs: config.acquireMs,
    statementMs: config.STATEMENT_TIMEOUT_MS,
    writeMs: config.writeMs,
    onError,
    onUnprepared: () =>
      onError(
        new Error(
          'the pooler before the database does not support prepared statements; continuing without them: PgBouncer 1.21 or newer needs max_prepared_statements',
        ),
      ),
    ...overrides,
  });
  return {
    database,
    connection,
    notes: embedded?.notes ?? [],
    async close() {
      await database.close();
      await embedded?.stop();
    },
  };
}

/** Opens the database with two connections and longer time limits, for the work of a start, before requests come. */
export function openStartDatabase(config: Config, { connection }: Pick<Store, 'connection'>): Database {
  return openDatabase({
    connection,
    ...{ timezone: config.TIMEZONE, poolSize: 2 },
    ...{ acquireMs: Math.max(10_000, config.acquireMs), statementMs: 60_000, writeMs: 60_000 },
  });
}

/** Imported dynamically, because the embedded database is an optional dependency. */
async function openEmbedded({ DATA_DIR }: Config, createEmbedded: boolean) {
  const { isInitialized, openEmbeddedDatabase } = await import('../embedded-postgres/index.ts');
  if (!createEmbedded && !isInitialized(DATA_DIR)) {
    const folder = resolve(DATA_DIR);
    const advice = 'start the server once, or set DATA_DIR or DATABASE_URL';
    throw new Problem('invalid', `there is no database under ${folder}: ${advice}`);
  }
  return openEmbeddedDatabase({ dataDir: DATA_DIR });
}

/** True for errors that a retry cannot fix: wrong password, user, database name or certificate. */
const isPermanent = (error: unknown) =>
  ['28P01', '28000', '3D000'].includes(getErrorCode(error)) ||
  isCertificateError(error) ||
  (error instanceof Error && /does not support SSL/.test(error.message));

type Wait = { waitMs?: number; onWait?: () => void };

/** Retries every second until the database accepts a connection. Throws the last error after `waitMs`. */
export async function waitForDatabase({ pool }: Database, { waitMs = 30_000, onWait }: Wait = {}) {
  const deadline = performance.now() + waitMs;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await pool.query('select 1');
      return;
    } catch (error) {
      if (performance.now() > deadline || isPermanent(error) || classifyError(error)?.kind !== 'unavailable')
        throw error;
      if (attempt === 0) onWait?.();
      await sleep(1_000);
    }
  }
}

export const logSlowStatements = (database: Database, log: Pick<Log, 'warn'>) =>
  database.onSlowStatement((statement) => log.warn(statement, 'a statement took more than half a second'));
