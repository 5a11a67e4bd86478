import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import {
  trailerPlaceholder,
  writeTrailer,
  manifestEntry,
  tableEntry,
  type Manifest,
} from '../../src/plugins/backup/format.ts';
import { withBackup } from '../../src/plugins/backup/read.ts';

export type Contents = { manifest: Manifest; tables: Map<string, Buffer> };

/** Reads a whole backup into memory. */
export const readContents = (file: string) =>
  withBackup(file, async ({ manifest, readTable }): Promise<Contents> => {
    const tables = new Map<string, Buffer>();
    for (const { name } of manifest.tables) tables.set(name, await buffer(await readTable(name)));
    return { manifest, tables };
  });

/** Replaces the rows of a table, with the digest and number that belong to them. */
export function withRows({ manifest, tables }: Contents, table: string, rows: Buffer): Contents {
  const sha256 = createHash('sha256').update(rows).digest('hex');
  const counted = { bytes: rows.length, rows: rows.toString('latin1').split('\n').length - 1, sha256 };
  return {
    manifest: {
      ...manifest,
      tables: manifest.tables.map((one) => (one.name === table ? { ...one, ...counted } : one)),
    },
    tables: new Map(tables).set(table, rows),
  };
}

/** Writes an archive with a valid checksum, as another program would. */
export async function writeArchive(file: string, entries: Record<string, Buffer>) {
  const zip = new ZipFile();
  for (const [name, bytes] of Object.entries(entries)) zip.addBuffer(bytes, name, { compressionLevel: 1 });
  zip.end({ comment: trailerPlaceholder, forceZip64Format: false });
  await pipeline(zip.outputStream, writeTrailer(), createWriteStream(file));
}

export const writeContents = (file: string, { manifest, tables }: { manifest: unknown; tables: Contents['tables'] }) =>
  writeArchive(file, {
    ...Object.fromEntries([...tables].map(([name, rows]) => [tableEntry(name), rows])),
    [manifestEntry]: Buffer.from(JSON.stringify(manifest)),
  });
