import { itemAt } from '../core/errors.ts';
import type { UnlockedStore } from './reader.ts';
import type { PoolOrClient } from './statements.ts';
import { serviceState } from './tables/providers.ts';

/** The secret of the database. */
export const loadServiceSecret = async (on: UnlockedStore) =>
  itemAt(await on.select({ secret: serviceState.secret }).from(serviceState)).secret;

/** Stores the host name in the UIDs of calendar entries for good, except that of a trial on one machine. */
export async function keepUidHost(database: PoolOrClient, publicUrl: string) {
  const { hostname } = new URL(publicUrl);
  if (/\.[a-z]/i.test(hostname))
    await database.query('update service_state set uid_host = $1 where uid_host is null', [hostname]);
}
