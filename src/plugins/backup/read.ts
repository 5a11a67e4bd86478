import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { Problem } from '../../core/errors.ts';
import { hasValidTrailer, manifestEntry, meterCopy, tableEntry, type BackupTable, type Manifest } from './format.ts';
import { maxManifestBytes, parseManifest } from './manifest.ts';

/** An archive of this service has an entry for each table and the manifest. */
const maxEntries = 10_000;

export type OpenBackup = { manifest: Manifest; readTable(table: string): Promise<Readable> };

/** Opens a backup for `work`. Reads its manifest only: `assertWhole` and the digests of tables detect damage. */
export async function withBackup<T>(file: string, work: (backup: OpenBackup) => Promise<T>): Promise<T> {
  const zip = await openPromise(file, { autoClose: false }).catch((error: unknown) => {
    throw notWhole(file, error);
  });
  try {
    if (zip.entryCount > maxEntries) throw new Problem('invalid', `${file} has more than ${maxEntries} entries`);
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

export const readBackupManifest = (file: string) => withBackup(file, async ({ manifest }) => Promise.resolve(manifest));

async function readManifest(file: string, zip: ZipFile, entry: Entry | undefined): Promise<Manifest> {
  if (!entry) throw new Problem('invalid', `${file} is no backup: it has no ${manifestEntry}`);
  // The library fails where an entry has more bytes than it declares.
  if (entry.uncompressedSize > maxManifestBytes)
    throw new Problem('invalid', `${file} is no backup of this service: its ${manifestEntry} is too large`);
  return zip
    .openReadStreamPromise(entry)
    .then((stream) => parseManifest(file, stream))
    .catch((error: unknown) => {
      throw error instanceof Problem ? error : notWhole(file, error);
    });
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

/** Passes a table to `target`, compares it with the manifest, and returns the sequence if its next id is too low. */
export async function transferTable({ manifest, readTable }: OpenBackup, table: BackupTable, target: Writable) {
  // Some roles have ids that are not of their sequence.
  const sequence = manifest.sequences.find(({ name }) => name === `${table.name}_id_seq` && name !== 'roles_id_seq');
  const meter = meterCopy(sequence && table.columns.indexOf('id'));
  await pipeline(await readTable(table.name), meter.stream, target);
  const { rows, bytes, sha256, hasEndMarker, lastId } = meter.result();
  if (hasEndMarker)
    throw new Problem('invalid', `The table ${table.name} has an end marker (\\.) among its rows, which COPY ends at`);
  if (rows !== table.rows || bytes !== table.bytes || sha256 !== table.sha256)
    throw new Problem('invalid', `The table ${table.name} differs from the backup's manifest`);
  return sequence && lastId >= Number(sequence.lastValue) + Number(sequence.isCalled) ? [sequence.name] : [];
}

/** Reads the whole backup and compares it with its checksums. Returns the sequences that are behind their rows, too. */
export async function verifyBackup(file: string): Promise<Manifest & { behind: string[] }> {
  await assertWhole(file);
  return withBackup(file, async (backup) => {
    const behind: string[] = [];
    for (const table of backup.manifest.tables)
      behind.push(
        ...(await transferTable(backup, table, new Writable({ write: (_chunk, _encoding, done) => done() }))),
      );
    return { ...backup.manifest, behind };
  });
}
