import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client, ClientConfig } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { ZipFile } from 'yazl';
import { Problem } from '../../core/errors.ts';
import { migrationLockKey } from '../../database/migrate.ts';
import { readAppliedMigrations } from '../../database/migration-history.ts';
import { columnList, readOrigin, readSequences, readTables, type CopiedTable } from './catalog.ts';
import { makeFolder } from '../../core/make-folder.ts';
import { inTransaction } from './connection.ts';
import {
  trailerPlaceholder,
  writeTrailer,
  formatName,
  formatVersion,
  manifestEntry,
  meterCopy,
  quote,
  tableEntry,
  type Manifest,
} from './format.ts';
import { getErrorCode } from '../../core/database-errors.ts';

type WriteOptions = { serviceVersion: string; signal?: AbortSignal | undefined };

/**
 * Writes all tables at one snapshot to a file, which has another name until it is whole and on disk. It takes a shared
 * lock that a migration waits for: a waiting change of a table would block all other readers of it.
 */
export async function writeBackup(connection: ClientConfig, file: string, options: WriteOptions): Promise<Manifest> {
  makeBackupFolder(dirname(file));
  await assertMissing(file);
  // Of this run alone: another one may write a file of the same second.
  const part = `${file}.${randomBytes(4).toString('hex')}.part`;
  try {
    const manifest = await inTransaction(
      connection,
      'isolation level repeatable read read only',
      async (client) => {
        await client.query('set local lock_timeout = 60000');
        await client.query('select pg_advisory_xact_lock_shared($1)', [migrationLockKey]);
        return writeSnapshot(client, part, options);
      },
      options.signal,
    );
    // The snapshot may be older than the lock.
    const now = await inTransaction(connection, 'read only', readAppliedMigrations);
    if (now.length !== manifest.migrations.length)
      throw new Problem('unavailable', 'The tables were migrated meanwhile: make the backup again');
    await rename(part, file);
    await syncFolder(dirname(file));
    return manifest;
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
}

function makeBackupFolder(folder: string) {
  try {
    makeFolder(folder, 0o700);
  } catch (error) {
    throw new Problem('invalid', `The folder ${folder} cannot be made (${getErrorCode(error)})`, { cause: error });
  }
}

/** A stream, of which yazl's types lack a method. */
type Output = NodeJS.ReadableStream & { destroy(error: Error): void };

async function writeSnapshot(client: Client, part: string, { serviceVersion }: WriteOptions) {
  const manifest: Manifest = {
    ...{ format: formatName, formatVersion, serviceVersion },
    ...(await readOrigin(client)),
    tables: [],
    sequences: await readSequences(client),
  };
  const tables = await readTables(client);
  const zip = new ZipFile();
  const output = zip.outputStream as Output;
  // After a failure, yazl continues to write to the destroyed stream.
  output.on('error', () => undefined);
  const options = { mtime: new Date(manifest.createdAt), mode: 0o600, compressionLevel: 1 };
  for (const table of tables)
    zip.addReadStreamLazy(tableEntry(table.name), options, (ready) =>
      ready(
        null,
        copyTable(client, table, manifest, (error) => output.destroy(error)),
      ),
    );
  zip.addReadStreamLazy(manifestEntry, options, (ready) =>
    ready(null, Readable.from([`${JSON.stringify(manifest, null, 2)}\n`])),
  );
  zip.end({ comment: trailerPlaceholder, forceZip64Format: false });
  await pipeline(output, writeTrailer(), createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }));
  return manifest;
}

/** Starts the COPY of a table, which adds itself to the manifest at its end. */
function copyTable(
  client: Client,
  { name, columns, order }: CopiedTable,
  manifest: Manifest,
  fail: (error: Error) => void,
) {
  const source = `select ${columnList(columns)} from ${quote(name)}${order === null ? '' : ` order by ${order}`}`;
  const meter = meterCopy();
  const copy = client.query(copyTo(`copy (${source}) to stdout`));
  copy.on('error', fail);
  meter.stream.on('end', () => {
    const { rows, bytes, sha256 } = meter.result();
    manifest.tables.push({ name, columns, rows, bytes, sha256 });
  });
  return copy.pipe(meter.stream);
}

const assertMissing = (file: string) =>
  access(file).then(
    () => {
      throw new Problem('invalid', `${file} already exists and is not overwritten`);
    },
    () => undefined,
  );

async function syncFolder(folder: string) {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
