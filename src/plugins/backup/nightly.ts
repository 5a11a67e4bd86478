import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, ClientConfig } from 'pg';
import type { Log } from '../../core/log.ts';
import { packageVersion } from '../../core/project.ts';
import { tryLock } from '../../database/client.ts';
import { describeError } from '../../database/describe-error.ts';
import type { Job } from '../../database/periodic.ts';
import type { ServerContext } from '../../interfaces/plugin/define-plugin.ts';
import { readDatabaseId } from './catalog.ts';
import { inTransaction } from './connection.ts';
import { erasuresJobs } from './erasures.ts';
import { backupName, damagedName, deleteDamaged, deleteUnfinished, pruneBackups } from './files.ts';
import { countRows } from './format.ts';
import { verifyBackup } from './read.ts';
import { findDue, recordResult, recordStart, type RestoreTest, type Result } from './runs.ts';
import { restoreIntoScratch, type ScratchResult } from './scratch.ts';
import { backupSettings } from './settings.ts';
import { writeBackup } from './write.ts';

/** Advisory lock of the process that makes the nightly backup. */
export const nightlyLock = 'nightly backup';

export type NightlyOptions = {
  connection: ClientConfig;
  folder: string;
  /** Local time such as `03:15`. */
  at: string;
  timezone: string;
  serviceVersion: string;
  /** The database is on the disk of this machine. */
  isEmbedded: boolean;
  signal?: AbortSignal;
};

type Nightly = Result & {
  rows?: number;
  cause?: unknown;
  test?: ScratchResult;
  deleted?: string[];
  /** Reason for which obsolete backups could not be deleted. */
  pruneCause?: unknown;
};

/** Makes the nightly backup if due in no other process; stores its start first, so that a crash does not repeat it. */
export async function runNightly(options: NightlyOptions): Promise<Nightly | undefined> {
  const { connection, signal } = options;
  const store = <T>(work: (client: Client) => Promise<T>) => inTransaction(connection, '', work);
  let result: Nightly | undefined;
  const attempted = inTransaction(
    connection,
    '',
    async (client) => {
      if (!(await tryLock(client, nightlyLock))) return;
      const due = await findDue(client, options);
      if (!due) return;
      const id = await store((other) => recordStart(other, true, due.startedAt));
      const backup = await attempt(options, await readDatabaseId(client), due);
      await store((other) => recordResult(other, id, backup));
      result = backup;
    },
    signal,
  );
  await attempted.catch((error: unknown) => {
    if (result === undefined) throw error;
  });
  return result;
}

type Due = { startedAt: string; restoreTestDue: boolean };

async function attempt(options: NightlyOptions, database: string, { startedAt, restoreTestDue }: Due) {
  const { connection, folder, signal } = options;
  const began = performance.now();
  const file = join(folder, backupName(new Date(startedAt), 'nightly', database));
  const elapsedMs = () => Math.round(performance.now() - began);
  try {
    await deleteUnfinished(folder, database);
    await writeBackup(connection, file, options);
    const rows = countRows(await verifyOrRename(folder, file, database));
    const { size: bytes } = await stat(file);
    const test = restoreTestDue ? await testRestore(options, file) : undefined;
    const success = { elapsedMs: elapsedMs(), file, bytes, error: null, restoreTest: toRestoreTest(test), rows };
    // Only now, since a failure must leave the older ones.
    return { ...success, ...(await prune(options, database)), ...(test && { test }) };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    return { elapsedMs: elapsedMs(), file: null, bytes: null, error: toText(cause), restoreTest: null, cause };
  }
}

/** A damaged file must not count as a backup. The last one is kept, to be examined. */
const verifyOrRename = (folder: string, file: string, database: string) =>
  verifyBackup(file).catch(async (error: unknown) => {
    await deleteDamaged(folder, database);
    await rename(file, damagedName(file));
    throw error;
  });

async function testRestore({ connection, timezone, signal, isEmbedded }: NightlyOptions, file: string) {
  const tested = restoreIntoScratch(connection, file, { timezone, isEmbedded, signal });
  const test = await tested.catch((cause: unknown) => ({ cause }));
  signal?.throwIfAborted();
  return test;
}

const prune = ({ folder, timezone }: NightlyOptions, database: string) =>
  pruneBackups(folder, database, timezone).then(
    (deleted) => ({ deleted }),
    (pruneCause: unknown) => ({ pruneCause }),
  );

function toRestoreTest(test: ScratchResult | undefined): RestoreTest | null {
  if (test === undefined) return null;
  if ('skipped' in test) return 'skipped';
  return 'differences' in test && test.differences === 0 ? 'passed' : 'failed';
}

const toText = (cause: unknown) => {
  const { code, message } = cause as NodeJS.ErrnoException;
  return code ?? message;
};

type BackupLog = Pick<Log, 'info' | 'warn' | 'error'>;

const intervalMs = 60_000;

type JobContext = Pick<ServerContext, 'config' | 'connection'> & { log: BackupLog };

/** The jobs of a process that makes backups. */
export const backupJobs = (context: JobContext & Pick<ServerContext, 'database'>): Job[] => [
  ...nightlyJobs(context),
  ...erasuresJobs(context),
];

/** Makes the nightly backup, in one of all processes; a missed one within a minute of the start. */
export function nightlyJobs({ config, connection, log }: JobContext): Job[] {
  const { TIMEZONE: timezone, isEmbedded } = config;
  const { nightlyAt: at, BACKUP_DIR: folder } = config.of(backupSettings);
  if (at === undefined) return [];
  const options = { connection, folder, at, timezone, isEmbedded, serviceVersion: packageVersion() };
  let lastCause: string | undefined;
  const run = async (signal: AbortSignal) => {
    try {
      const result = await runNightly({ ...options, signal });
      if (result) report(result, log);
      lastCause = undefined;
    } catch (error) {
      const cause = describeError(error);
      // It is tried every minute.
      if (!signal.aborted && cause !== lastCause) log.error(`The nightly backup could not be made: ${cause}`);
      lastCause = cause;
    }
  };
  return [{ name: 'The nightly backup', intervalMs, isDelayed: true, run }];
}

function report(nightly: Nightly, log: BackupLog) {
  const { file, bytes, rows, elapsedMs, deleted = [], cause, pruneCause, test } = nightly;
  if (cause !== undefined) {
    log.error(
      `The nightly backup failed, and is tried again in ten minutes; older backups are kept: ${describeError(cause)}`,
    );
    return;
  }
  const seconds = Math.round(elapsedMs / 1_000);
  log.info({ file, bytes, rows, seconds, deleted: deleted.length }, 'Made and verified the nightly backup');
  if (pruneCause !== undefined) log.error(`Obsolete backups could not be deleted: ${describeError(pruneCause)}`);
  if (test !== undefined) reportTest(test, log);
}

function reportTest(test: ScratchResult, log: BackupLog) {
  if ('skipped' in test) {
    log.warn(`The weekly restore of a backup for a test was skipped: ${test.skipped}`);
    return;
  }
  if (test.notDropped !== undefined)
    log.warn(`The database of the test could not be dropped: ${describeError(test.notDropped)}`);
  if ('cause' in test) log.error(`The backup could not be restored for a test: ${describeError(test.cause)}`);
  else if (test.differences > 0)
    log.error(`The restored backup has ${test.differences} stored counters that differ from a recount: run \`doctor\``);
  else log.info('Restored the backup for a test: all rows and counters are right');
}
