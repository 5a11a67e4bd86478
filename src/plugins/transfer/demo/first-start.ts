import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { newApiKey } from '../../../core/api-key.ts';
import { toSettings, type Config } from '../../../core/config.ts';
import { makeFolder } from '../../../core/make-folder.ts';
import type { Database } from '../../../database/client.ts';
import type { FirstData, ServerContext } from '../../../interfaces/plugin/define-plugin.ts';
import { findKeyProvider } from '../../../domains/school/auth/key-service.ts';
import { getCatalogSettings } from '../../../domains/school/catalog-settings/service.ts';
import { createContext, hasNoProviders } from '../../../domains/school/schools/provider-service.ts';
import { transferSettings } from '../settings.ts';
import { loadDemo } from './load.ts';

type StartContext = Pick<ServerContext, 'config' | 'database' | 'log'>;

const keyFile = ({ DATA_DIR }: Config) => join(DATA_DIR, 'demo-api-key');

/** Loads the demo data into an empty database if configured. Undefined without a demo school. */
export async function loadDemoAtStart({ config, database, log }: StartContext): Promise<FirstData | undefined> {
  if (!config.of(transferSettings).DEMO_DATA) return undefined;
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'demo' });
  if ((await hasNoProviders(database)) && (await createDemo(config, audited)) !== null)
    log.info(
      'Loaded the demo data: a school with courses, dates, participants and orders, its partners and a sub-school',
    );
  const found = await readDemoKey(config, database);
  if (found === null) return undefined;
  const { key, providerId } = found;
  const { url } = await getCatalogSettings(await createContext(database, toSettings(config), providerId));
  return {
    notes: [
      `The API key of the demo school is in ${resolve(keyFile(config))}`,
      ...(url === null ? [] : [`The public catalog of the demo school is at ${url}`]),
    ],
    welcome: (address) => [
      `  API key of the demo school: ${key}`,
      ...(url === null ? [] : [`  Its public catalog: ${url}`]),
      '',
      `  curl -H 'X-API-Key: ${key}' '${address}/v2/courses?limit=3'`,
    ],
  };
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
    const providerId = await findKeyProvider(database, key);
    return providerId === undefined ? null : { key, providerId };
  } catch {
    return null;
  }
}
