import type { PoolOrClient } from './statements.ts';

/**
 * The host name in the UIDs of calendar entries, which stays when the service gets another one. That of a trial on one
 * machine is not stored, since other services have the same.
 */
export async function keepUidHost(database: PoolOrClient, publicUrl: string): Promise<string | undefined> {
  const { hostname } = new URL(publicUrl);
  if (/\.[a-z]/i.test(hostname))
    await database.query('update service_state set uid_host = $1 where uid_host is null', [hostname]);
  const { rows } = await database.query('select uid_host as host from service_state');
  return (rows[0] as { host: string | null } | undefined)?.host ?? undefined;
}
