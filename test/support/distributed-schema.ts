import type { Database } from '../../src/database/client.ts';
import { functionsQuery, type Functions } from './distributed-sql.ts';

/** Tables without a provider, or needed before it is known: each server of a distributed database has a copy. */
export const referenceTables = [
  'service_state',
  'categories',
  'places',
  'providers',
  'admin_users',
  'api_keys',
  'partner_connections',
];
/** Tables of the coordinator alone. */
export const localTables = ['backup_runs'];
export const outsideTenancy = { localTables, referenceTables };

export async function readFunctions({ pool }: Pick<Database, 'pool'>): Promise<Functions> {
  const { rows } = await pool.query<{ name: string; isVolatile: boolean }>(functionsQuery);
  const notImmutable = new Set(rows.map(({ name }) => name));
  return { notImmutable, volatile: new Set(rows.filter(({ isVolatile }) => isVolatile).map(({ name }) => name)) };
}
