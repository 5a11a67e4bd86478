import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

/**
 * A backup is a ZIP file: `tables/<name>.copy` for each table, in PostgreSQL's COPY text format, and `manifest.json`.
 * The ZIP comment is the SHA-256 of all bytes before it.
 */
export const formatName = 'course-booking-service backup';
export const formatVersion = 1;
export const manifestEntry = 'manifest.json';
export const tableEntry = (table: string) => `tables/${table}.copy`;

export type BackupTable = { name: string; columns: string[]; rows: number; bytes: number; sha256: string };
export type BackupSequence = { name: string; lastValue: string; isCalled: boolean };
export type Manifest = {
  format: typeof formatName;
  formatVersion: number;
  serviceVersion: string;
  /** The moment of the snapshot by the clock of the database, in UTC. */
  createdAt: string;
  serverVersion: string;
  /** The applied migrations, the oldest first. */
  migrations: { hash: string; createdAt: number }[];
  tables: BackupTable[];
  sequences: BackupSequence[];
};

export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

export const countRows = ({ tables }: Manifest) => tables.reduce((sum, { rows }) => sum + rows, 0);

const newline = 10;
/** COPY drops the rows behind such a line; as a value it would be `\\.`. */
const endMarker = '\n\\.';

/** Passes COPY text through and measures it. In this format each row ends with the only newline in it. */
export function meterCopy() {
  const hash = createHash('sha256');
  const counted = { rows: 0, bytes: 0, hasEndMarker: false };
  let before = Buffer.from('\n');
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      counted.bytes += chunk.length;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) counted.rows += 1;
      counted.hasEndMarker ||=
        chunk.includes(endMarker) || Buffer.concat([before, chunk.subarray(0, 2)]).includes(endMarker);
      before = Buffer.concat([before, chunk.subarray(-2)]).subarray(-2);
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ ...counted, sha256: hash.digest('hex') }) };
}
