import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../config.ts';

export type Log = ReturnType<typeof openLog>;

/** Programs read the output line by line where it is no terminal. */
export const isForPeople = (format: Config['LOG_FORMAT']) =>
  format === 'pretty' || (format === 'auto' && process.stdout.isTTY);

/** One JSON object a line for machines; for a person at a terminal, lines to read. */
export function openLog({ LOG_LEVEL, LOG_FORMAT }: Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'>) {
  const options = {
    level: LOG_LEVEL,
    base: null,
    redact: ['req.headers', 'busboyOptions.headers', 'err.query', 'err.params', 'err.parameters'],
  };
  // In step with the process's own output, so that what is printed last stands last.
  return isForPeople(LOG_FORMAT)
    ? pino(options, pretty({ sync: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' }))
    : pino(options, pino.destination({ sync: true }));
}
