import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Transform } from 'node:stream';

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
    for await (const chunk of createReadStream(file, { end: size - length - 1, highWaterMark: 2 ** 18 }))
      hash.update(chunk as Buffer);
    return timingSafeEqual(trailer, Buffer.from(hash.digest('hex')));
  } finally {
    await handle.close();
  }
}
