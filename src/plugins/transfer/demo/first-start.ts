import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../../core/config.ts';
import { newApiKey } from '../../../core/api-key.ts';
import { makeFolder } from '../../../core/make-folder.ts';
import type { Database, AuditContext } from '../../../database/client.ts';
import { loadDemo } from './load.ts';
import { isForPeople, type Log } from '../../../core/log.ts';
import { isKnownKey } from '../../../resources/auth/key-service.ts';
import { createTitledProvider, hasNoProviders } from '../../../resources/schools/provider-service.ts';
import { toSettings } from '../../../database/store.ts';

const serverAudit = (action: string): AuditContext => ({ actor: 'server', actorId: null, action });

/** Creates the configured first provider in a database without providers. */
export async function bootstrap(config: Config, database: Database, log: Log) {
  const { BOOTSTRAP_PROVIDER: title, BOOTSTRAP_API_KEY: key } = config;
  if (title === undefined || key === undefined) return;
  await database.withAudit(serverAudit('first provider')).atomically(async (within) => {
    if (!(await hasNoProviders(within))) return;
    const { providerId } = await createTitledProvider(within, title, null, key);
    log.info(`Created the first provider, ${providerId}, with the key from BOOTSTRAP_API_KEY`);
  });
}

const keyFile = ({ DATA_DIR }: Config) => join(DATA_DIR, 'demo-api-key');

/** Loads the demo data into an empty database if configured. Returns the demo school's key, or null without one. */
export async function demoData(config: Config, database: Database, log: Log): Promise<string | null> {
  if (!config.DEMO_DATA) return null;
  if (
    (await hasNoProviders(database)) &&
    (await createDemo(config, database.withAudit(serverAudit('demo')))) !== null
  ) {
    log.info(
      'Loaded the demo data: a school with courses, dates, participants and orders, its partners and a sub-school',
    );
  }
  return readDemoKey(config, database);
}

/**
 * Returns the demo school's key, or null if the database has providers. The key file is written before the commit, so
 * that a crash leaves an unused key instead of a school whose key nobody has.
 */
export function createDemo(config: Config, database: Database): Promise<string | null> {
  return loadDemo(database, toSettings(config), () => {
    const key = newApiKey();
    makeFolder(config.DATA_DIR);
    // writeFileSync would preserve the mode of an existing file.
    rmSync(keyFile(config), { force: true });
    writeFileSync(keyFile(config), `${key}\n`, { mode: 0o600 });
    return key;
  });
}

/** Null unless this database has the key: the file may belong to another database. */
async function readDemoKey(config: Config, database: Database) {
  try {
    const key = readFileSync(keyFile(config), 'utf8').trim();
    return (await isKnownKey(database, key)) ? key : null;
  } catch {
    return null;
  }
}

/** Prints the address and the demo school's key. The log never contains the key. */
export function printWelcome(config: Config, log: Log, port: number, demoKey: string | null) {
  const { HOST, LOG_FORMAT } = config;
  const isReachableAsLocalhost = ['0.0.0.0', '::', '127.0.0.1', 'localhost'].includes(HOST);
  const local = isReachableAsLocalhost ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST;
  const address = `http://${local}:${port}`;
  if (!isForPeople(LOG_FORMAT)) {
    if (demoKey !== null) log.info(`The API key of the demo school is in ${resolve(keyFile(config))}`);
    log.info(`Course Booking Service is running at ${address}`);
    return;
  }
  const lines = [
    '',
    `  Course Booking Service is running at ${address}`,
    `  Try it in the browser: ${address}/docs`,
    ...(demoKey === null
      ? []
      : [
          '',
          `  API key of the demo school: ${demoKey}`,
          '',
          `  curl -H 'X-API-Key: ${demoKey}' '${address}/v2/courses?limit=3'`,
        ]),
    '',
  ];
  console.log(lines.join('\n'));
}
