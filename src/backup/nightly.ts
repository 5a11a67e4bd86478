import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import { inTransaction } from './connection.ts';
import { backupName, pruneBackups } from './files.ts';
import { countRows } from './format.ts';
import { verifyBackup } from './read.ts';
import { findDue, recordRun, type RestoreTest, type Run } from './runs.ts';
import { restoreIntoScratch, type ScratchResult } from './scratch.ts';
import { writeBackup } from './write.ts';

/** Advisory lock of the process that makes the nightly backup; any number unique to this service. */
const nightlyLockKey = 7_291_543_021;

export type NightlyOptions = {
  connection: ClientConfig;
  folder: string;
  /** Local time such as `03:15`. */
  at: string;
  timezone: string;
  serviceVersion: string;
  signal?: AbortSignal;
  /** The present moment in tests. */
  now?: string;
  /** Overrides in tests. */
  write?: typeof writeBackup;
  /** False in the negative control of a test. */
  lock?: boolean;
};

export type Nightly = Run & {
  rows?: number;
  cause?: unknown;
  test?: ScratchResult | { cause: unknown };
  deleted?: string[];
};

/**
 * Makes the nightly backup if it is due and no other process makes it; undefined otherwise. The lock lasts until the
 * result is stored, so that of several processes one makes it, and another one if that one dies.
 */
export function runNightly(options: NightlyOptions): Promise<Nightly | undefined> {
  return inTransaction(
    options.connection,
    '',
    async (client) => {
      if (options.lock !== false && !(await tryLock(client))) return undefined;
      const due = await findDue(client, options);
      if (!due) return undefined;
      const result = await attempt(options, due.startedAt, due.restoreTestDue);
      await recordRun(client, result);
      return result;
    },
    options.signal,
  );
}

async function tryLock(client: Client) {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
    nightlyLockKey,
  ]);
  return rows[0]!.locked;
}

async function attempt(options: NightlyOptions, startedAt: string, testDue: boolean): Promise<Nightly> {
  const { connection, folder, timezone, signal, write = writeBackup } = options;
  const began = performance.now();
  const file = join(folder, backupName(new Date(startedAt), 'nightly'));
  const base = { isNightly: true, startedAt, restoreTest: null };
  const elapsedMs = () => Math.round(performance.now() - began);
  try {
    await write(connection, file, options);
    const rows = countRows(await verifyOrRename(file));
    const test = testDue
      ? await restoreIntoScratch(connection, file, timezone, signal).catch((cause: unknown) => ({ cause }))
      : undefined;
    // Only now, since a failure must leave the older ones.
    const deleted = await pruneBackups(folder, timezone);
    const { size } = await stat(file);
    const success = { ...base, elapsedMs: elapsedMs(), file, bytes: size, error: null, rows, deleted };
    return test === undefined ? success : { ...success, test, restoreTest: toRestoreTest(test) };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    return { ...base, elapsedMs: elapsedMs(), file: null, bytes: null, error: toText(cause), cause };
  }
}

/** A damaged file must not count as a backup. */
const verifyOrRename = (file: string) =>
  verifyBackup(file).catch(async (error: unknown) => {
    await rename(file, `${file}.damaged`);
    throw error;
  });

function toRestoreTest(test: ScratchResult | { cause: unknown }): RestoreTest {
  if ('skipped' in test) return 'skipped';
  return 'differences' in test && test.differences === 0 ? 'passed' : 'failed';
}

const toText = (cause: unknown) => {
  const { code, message } = cause as NodeJS.ErrnoException;
  return code ?? message;
};
