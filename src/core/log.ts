import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';

export type Log = ReturnType<typeof openLog>;

export const isForPeople = (format: Config['LOG_FORMAT']) =>
  format === 'pretty' || (format === 'auto' && process.stdout.isTTY);

/** Logs JSON lines, or readable lines on a terminal. */
export function openLog({ LOG_LEVEL, LOG_FORMAT }: Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'>) {
  const options = {
    level: LOG_LEVEL,
    base: null,
    redact: ['req.headers', 'err.query', 'err.params', 'err.parameters'],
  };
  // Synchronous, so that log lines and console output stay in order.
  if (isForPeople(LOG_FORMAT))
    return pino(
      options,
      pretty({ sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }),
    );
  const destination = openDestination((dropped) =>
    log.warn({ dropped }, `${dropped} log lines were dropped, since nobody read the output`),
  );
  const log = pino(options, destination);
  return log;
}

/** JSON lines on standard error, written at once. */
export const logToErrors = () => pino({ base: null }, pino.destination({ dest: process.stderr.fd, sync: true }));

/** Bytes of lines that the reader of the output has not taken yet. */
const maxBufferBytes = 1_048_576;
/** Time for the lines that are left when the process ends. */
const flushMs = 1_000;

/** Writes to standard output without waiting for its reader; reports the number of lines dropped beyond the buffer. */
function openDestination(onDropped: (count: number) => void) {
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
