import type { Config } from '../../core/config.ts';
import { isForPeople, type Log } from '../../core/log.ts';
import { findDocsPath, type FirstData, type Plugin } from './define-plugin.ts';

type Added = { plugins: readonly Plugin[]; firstData: FirstData[] };

/** Prints where the server is, its reference, and what is said of the first data. The log never contains a key. */
export function printWelcome({ HOST, LOG_FORMAT }: Config, log: Log, port: number, { plugins, firstData }: Added) {
  const isReachableAsLocalhost = ['0.0.0.0', '::', '127.0.0.1', 'localhost'].includes(HOST);
  const local = isReachableAsLocalhost ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST;
  const address = `http://${local}:${port}`;
  if (!isForPeople(LOG_FORMAT)) {
    for (const note of firstData.flatMap(({ notes }) => notes)) log.info(note);
    log.info(`Course Booking Service is running at ${address}`);
    return;
  }
  const docsPath = findDocsPath(plugins);
  const lines = [
    '',
    `  Course Booking Service is running at ${address}`,
    ...(docsPath === undefined ? [] : [`  Try it in the browser: ${address}${docsPath}`]),
    ...firstData.flatMap(({ welcome }) => ['', ...welcome(address)]),
    '',
  ];
  console.log(lines.join('\n'));
}
