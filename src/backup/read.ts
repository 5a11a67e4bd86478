import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { json } from 'node:stream/consumers';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { Problem } from '../core/errors.ts';
import { hasValidTrailer } from './checksum-trailer.ts';
import {
  formatName,
  formatVersion,
  manifestEntry,
  meterCopy,
  tableEntry,
  type BackupTable,
  type Manifest,
} from './format.ts';

export type OpenBackup = { manifest: Manifest; readTable(table: string): Promise<Readable> };

/** Opens a backup for `work`. Reads its manifest only: `assertWhole` and the digests of tables detect damage. */
export async function withBackup<T>(file: string, work: (backup: OpenBackup) => Promise<T>): Promise<T> {
  const zip = await openPromise(file, { autoClose: false }).catch((error: unknown) => {
    throw notWhole(file, error);
  });
  try {
    const entries = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
    const manifest = await readManifest(file, zip, entries.get(manifestEntry));
    const readTable = async (table: string) => {
      const entry = entries.get(tableEntry(table));
      if (!entry) throw new Problem('invalid', `${file} lacks the table ${table}`);
      return zip.openReadStreamPromise(entry);
    };
    return await work({ manifest, readTable });
  } finally {
    zip.close();
  }
}

/** As read from a file: of any format. */
type Unchecked = Omit<Manifest, 'format'> & { format?: string };

async function readManifest(file: string, zip: ZipFile, entry: Entry | undefined): Promise<Manifest> {
  if (!entry) throw new Problem('invalid', `${file} is no backup: it has no ${manifestEntry}`);
  const manifest = await zip
    .openReadStreamPromise(entry)
    .then((stream) => json(stream) as Promise<Unchecked>)
    .catch((error: unknown) => {
      throw notWhole(file, error);
    });
  if (manifest.format !== formatName) throw new Problem('invalid', `${file} is no backup of this service`);
  if (manifest.formatVersion !== formatVersion)
    throw new Problem('invalid', `${file} is of format ${manifest.formatVersion}: read it with a newer version`);
  return { ...manifest, format: formatName };
}

function notWhole(file: string, error: unknown) {
  const { code, message } = error as NodeJS.ErrnoException;
  const isUnreadable = code !== undefined && !code.startsWith('Z_');
  return new Problem('invalid', isUnreadable ? `${file} cannot be read (${code})` : `${file} is damaged: ${message}`);
}

/** Detects any changed, missing or added byte of the file. */
export async function assertWhole(file: string) {
  const isWhole = await hasValidTrailer(file).catch((error: unknown) => {
    throw notWhole(file, error);
  });
  if (!isWhole)
    throw new Problem('invalid', `${file} is damaged: its bytes differ from its checksum, or its end is missing`);
}

/** Passes a table to `target`, and compares its rows and digest with the manifest. */
export async function transferTable({ readTable }: OpenBackup, table: BackupTable, target: Writable) {
  const meter = meterCopy();
  await pipeline(await readTable(table.name), meter.stream, target);
  const { rows, bytes, sha256 } = meter.result();
  if (rows !== table.rows || bytes !== table.bytes || sha256 !== table.sha256)
    throw new Problem('invalid', `The table ${table.name} differs from the backup's manifest`);
}

/** Reads the whole backup and compares it with its checksums. */
export async function verifyBackup(file: string): Promise<Manifest> {
  await assertWhole(file);
  return withBackup(file, async (backup) => {
    for (const table of backup.manifest.tables)
      await transferTable(backup, table, new Writable({ write: (_chunk, _encoding, done) => done() }));
    return backup.manifest;
  });
}
