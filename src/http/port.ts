import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../core/config.ts';
import { ListenError } from '../database/describe-error.ts';

/** Throws a `ListenError` if the server cannot listen, before the database is opened and migrated. */
export async function assertPortIsFree(config: Config) {
  const probe = createServer().listen({ host: config.HOST, port: config.PORT });
  await once(probe, 'listening').catch((error: unknown) => {
    throw new ListenError(config, error);
  });
  await once(probe.close(), 'close');
}
