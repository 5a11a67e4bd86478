import type { Config } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';
import type { Database } from '../../database/client.ts';
import { createTitledProvider, hasNoProviders } from './provider-service.ts';

/** Creates the configured first provider in a database without providers. */
export async function createFirstProvider(config: Config, database: Database, log: Pick<Log, 'info'>) {
  const { BOOTSTRAP_PROVIDER: title, BOOTSTRAP_API_KEY: key } = config;
  if (title === undefined || key === undefined) return;
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'first provider' });
  await audited.atomically(async (within) => {
    if (!(await hasNoProviders(within))) return;
    const { providerId } = await createTitledProvider(within, title, null, key);
    log.info(`Created the first provider, ${providerId}, with the key from BOOTSTRAP_API_KEY`);
  });
}
