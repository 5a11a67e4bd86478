import { execute, type Queryable, type PoolOrClient } from './statements.ts';

const findSecret = { name: 'find_service_secret', text: 'select secret from service_state' };

/** The secret of the database. */
export async function loadServiceSecret(on: Queryable) {
  const [row] = await execute<{ secret: string }>(on, findSecret, []);
  return row!.secret;
}

/** Stores the host name in the UIDs of calendar entries for good, except that of a trial on one machine. */
export async function keepUidHost(database: PoolOrClient, publicUrl: string) {
  const { hostname } = new URL(publicUrl);
  if (/\.[a-z]/i.test(hostname))
    await database.query('update service_state set uid_host = $1 where uid_host is null', [hostname]);
}
