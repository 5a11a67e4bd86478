import type { Database } from '../../src/database/client.ts';
import { localTables, referenceTables } from '../../src/database/distribution.ts';
import { functionsQuery, type Functions } from './distributed-sql.ts';

export const outsideTenancy = { localTables, referenceTables };

export async function readFunctions({ pool }: Pick<Database, 'pool'>): Promise<Functions> {
  const { rows } = await pool.query<{ name: string; isVolatile: boolean }>(functionsQuery);
  const notImmutable = new Set(rows.map(({ name }) => name));
  return { notImmutable, volatile: new Set(rows.filter(({ isVolatile }) => isVolatile).map(({ name }) => name)) };
}
