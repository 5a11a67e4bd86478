import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { newApiKey } from '../lib/api-key.ts';
import type { Database, Doing } from '../database/client.ts';
import { loadDemo } from '../demo/load.ts';
import { isForPeople, type Log } from './log.ts';
import { isKnownKey } from '../resources/auth/key-service.ts';
import { createTitledProvider, hasNoProviders } from '../resources/schools/provider-service.ts';
import { toSettings } from './store.ts';

/** What the audit log says of it. */
const starting = (action: string): Doing => ({ actor: 'server', actorId: null, action });

/** A container's first provider, with a key the operator chose, in a database that has none. */
export async function bootstrap(config: Config, database: Database, log: Log) {
  const { BOOTSTRAP_PROVIDER: title, BOOTSTRAP_API_KEY: key } = config;
  if (title === undefined || key === undefined) return;
  await database.withAudit(starting('first provider')).atomically(async (within) => {
    if (!(await hasNoProviders(within))) return;
    const { providerId } = await createTitledProvider(within, title, null, key);
    log.info(`Made the first provider, ${providerId}, with the key from BOOTSTRAP_API_KEY`);
  });
}

const keyFile = ({ DATA_DIR }: Config) => join(DATA_DIR, 'demo-api-key');

/** Loads the demo data into an empty database, when configured; tells the demo school's key, or null when there is none. */
export async function demoData(config: Config, database: Database, log: Log): Promise<string | null> {
  if (!config.DEMO_DATA) return null;
  if ((await hasNoProviders(database)) && (await createDemo(config, database.withAudit(starting('demo')))) !== null) {
    log.info(
      'Loaded the demo data: a school with courses, dates, participants and orders, its partners and a sub-school',
    );
  }
  return knownDemoKey(config, database);
}

/**
 * The key is written down before the data is committed: a crash between leaves a key that opens nothing, not a school
 * that nobody can open. It alone lies in a file, so that each start can show it; the database has only its hash.
 */
export function createDemo(config: Config, database: Database): Promise<string | null> {
  return loadDemo(database, toSettings(config), () => {
    const key = newApiKey();
    mkdirSync(config.DATA_DIR, { recursive: true });
    // A new file each time: writing into an existing one would keep its mode.
    rmSync(keyFile(config), { force: true });
    writeFileSync(keyFile(config), `${key}\n`, { mode: 0o600 });
    return key;
  });
}

/** The key of the file, if this database knows it: the file may be of another one. */
async function knownDemoKey(config: Config, database: Database) {
  try {
    const key = readFileSync(keyFile(config), 'utf8').trim();
    return (await isKnownKey(database, key)) ? key : null;
  } catch {
    return null;
  }
}

/** Prints the address and the demo school's key; the log gets the address only. */
export function printWelcome(config: Config, log: Log, port: number, demoKey: string | null) {
  const { HOST, LOG_FORMAT } = config;
  const everywhere = ['0.0.0.0', '::', '127.0.0.1', 'localhost'].includes(HOST);
  const local = everywhere ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST;
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
