import { statement } from './statement.ts';
import type { Queryable, PoolOrClient } from './statements.ts';

const findSecret = statement(
  'find_service_secret',
  { takes: {}, returns: { secret: 'text' }, acrossSchools: 'the database has one secret' },
  'select secret from service_state',
);

/** The secret of the database. */
export const loadServiceSecret = async (on: Queryable) => (await findSecret.one(on, {})).secret;

/** Stores the host name in the UIDs of calendar entries for good, except that of a trial on one machine. */
export async function keepUidHost(database: PoolOrClient, publicUrl: string) {
  const { hostname } = new URL(publicUrl);
  if (/\.[a-z]/i.test(hostname))
    await database.query('update service_state set uid_host = $1 where uid_host is null', [hostname]);
}
