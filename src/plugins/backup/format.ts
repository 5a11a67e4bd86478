import { createHash, timingSafeEqual } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { Type, type Static } from '@sinclair/typebox';

/** A ZIP file of `manifest.json` and `tables/<name>.copy` in COPY text format; its comment is its SHA-256. */
export const formatName = 'course-booking-service backup';
export const formatVersion = 1;
export const manifestEntry = 'manifest.json';
export const tableEntry = (table: string) => `tables/${table}.copy`;

/** Pattern without control characters, since commands print the values. */
const printable = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';
const Name = Type.String({ minLength: 1, maxLength: 63, pattern: printable });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Version = Type.String({ maxLength: 255, pattern: printable });

const BackupTable = Type.Object({
  ...{ name: Name, columns: Type.Array(Name, { minItems: 1 }), rows: Count, bytes: Count },
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});
const BackupSequence = Type.Object({
  name: Name,
  lastValue: Type.String({ pattern: '^-?\\d{1,19}$' }),
  isCalled: Type.Boolean(),
});
export const ManifestFields = Type.Object({
  serviceVersion: Version,
  /** The moment of the snapshot by the clock of the database, in UTC. */
  createdAt: Type.String({ pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{1,6}Z$/.source }),
  serverVersion: Version,
  /** The applied migrations, the oldest first. */
  migrations: Type.Array(Type.Object({ hash: Version, createdAt: Count })),
  tables: Type.Array(BackupTable),
  sequences: Type.Array(BackupSequence),
});

export type BackupTable = Static<typeof BackupTable>;
export type BackupSequence = Static<typeof BackupSequence>;
export type Manifest = Static<typeof ManifestFields> & { format: typeof formatName; formatVersion: number };

export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

export const countRows = ({ tables }: Manifest) => tables.reduce((sum, { rows }) => sum + rows, 0);

const newline = 10;
/** COPY drops the rows behind such a line; as a value it would be `\\.`. */
const endMarker = '\n\\.';

/** Passes COPY text through, and counts rows, which end with the only newline in them, and the largest id at `idAt`. */
export function meterCopy(idAt = -1) {
  const hash = createHash('sha256');
  const counted = { rows: 0, bytes: 0, hasEndMarker: false, lastId: 0 };
  let before = Buffer.from('\n');
  let unended = '';
  const readIds = (text: string) => {
    const lines = `${unended}${text}`.split('\n');
    unended = lines.pop()!;
    for (const line of lines) counted.lastId = Math.max(counted.lastId, Number(line.split('\t', idAt + 1)[idAt]) || 0);
  };
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      if (idAt >= 0) readIds(chunk.toString('latin1'));
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

/** Characters of the trailer: SHA-256 in hexadecimal. */
const length = 64;
/** The end of a stream that `writeTrailer` replaces. */
export const trailerPlaceholder = '0'.repeat(length);

/** Replaces the last 64 bytes of a stream by the SHA-256 of all bytes before them, so that no byte is unprotected. */
export function writeTrailer() {
  const hash = createHash('sha256');
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const all = Buffer.concat([held, chunk]);
      const body = all.subarray(0, Math.max(0, all.length - length));
      held = all.subarray(body.length);
      hash.update(body);
      done(null, body);
    },
    flush(done) {
      done(null, hash.digest('hex'));
    },
  });
}

/** True if the file ends with the SHA-256 of all bytes before. */
export async function hasValidTrailer(file: string) {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    if (size <= length) return false;
    const trailer = Buffer.alloc(length);
    await handle.read(trailer, 0, length, size - length);
    const hash = createHash('sha256');
    // One buffer for all: those of a stream stay in memory until a garbage collection.
    const buffer = Buffer.alloc(2 ** 18);
    for (let at = 0; at < size - length;) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - length - at), at);
      if (bytesRead === 0) return false;
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    return timingSafeEqual(trailer, Buffer.from(hash.digest('hex')));
  } finally {
    await handle.close();
  }
}
