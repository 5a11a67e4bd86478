import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';
import { openDestination } from './log-destination.ts';

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
