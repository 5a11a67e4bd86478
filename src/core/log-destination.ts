import { pino } from 'pino';

/** Of lines that the reader of the output has not taken yet. */
const maxBufferBytes = 1_048_576;
/** For the lines that are left when the process ends. */
const flushMs = 1_000;

/**
 * Writes to standard output without waiting for its reader. Drops lines beyond the buffer, and calls back with their
 * number once the reader has taken the others.
 */
export function openDestination(onDropped: (count: number) => void) {
  let flushUntil = Infinity;
  const destination = pino.destination({
    dest: process.stdout.fd,
    sync: false,
    maxLength: maxBufferBytes,
    retryEAGAIN: () => performance.now() < flushUntil,
  });
  let dropped = 0;
  destination.on('drop', () => (dropped += 1));
  destination.on('drain', () => {
    const count = dropped;
    dropped = 0;
    if (count > 0) onDropped(count);
  });
  const { flushSync } = destination;
  destination.flushSync = function flushForAWhile() {
    flushUntil = performance.now() + flushMs;
    try {
      flushSync.call(this);
    } catch {
      // Nobody reads.
    }
  };
  return destination;
}
