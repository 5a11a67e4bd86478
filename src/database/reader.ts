import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { sendWithOrigin, type Origin } from './preparing-client.ts';
import { casing } from './tables/columns.ts';

/** Queries that need no lock. */
export type Reader = Pick<NodePgDatabase, 'select' | 'selectDistinct' | '$count' | '$with' | 'with'>;

/** The versions of a provider's data and of the shared data that a response must not be older than. */
export type NeededVersions = { providerId: number; version: string; shared: string };

/** All data at one point in time. `close` gives the connection back, and must be called once. */
export type Snapshot = { db: Reader; close(): void };

/** Opens a snapshot outside of the pool; undefined if the pool has to be read. */
export type OpenSnapshot = (needed: NeededVersions) => Promise<Snapshot | undefined>;

/** Builds statements, and sends none. */
export const statementBuilder = drizzle.mock({ casing });

/** The query builder that sends its statements to a pool or a connection. */
export const queryBuilderOn = (client: Pick<Pool, 'query'> | PoolClient): UnlockedStore =>
  drizzle({ client: client as Pool, casing });

/** Reads and writes without the tenant lock. */
export type UnlockedStore = NodePgDatabase & { readonly $client: Pick<Pool, 'query'> };

/** An object with some members of its own. */
const derive = <T extends object>(base: T, members: object): T => Object.assign(Object.create(base) as T, members);

/** A query builder whose slow statements are reported with their origin. */
export function storeWithOrigin(builder: UnlockedStore, origin: Origin): UnlockedStore {
  const $client = sendWithOrigin(builder.$client, origin);
  // All but the client is shared: a new query builder would look up the columns of each table again.
  const session = derive((builder as unknown as { session: object }).session, { client: $client });
  return derive(builder, { session, $client });
}
