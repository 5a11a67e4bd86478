import { eq, or, sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import type { Database, Reader } from '../../../database/client.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { partnerConnections, providers, providerState } from '../../../database/tables/providers.ts';
import { readTenantTables, readUnsetValues, type TenantTable } from '../../../database/tenant-tables.ts';
import {
  boundReferences,
  deleteRows,
  findListed,
  invoiceSeller,
  keptForInvoices,
  reduceRows,
  rememberDeletion,
  unlinkRows,
  unsetColumns,
} from './sql.ts';

/**
 * A provider without sub-schools, and whether its deletion has begun. From then on it has no row in `provider_state`,
 * which keys and partners need and each write locks.
 */
export async function findDeletable({ db }: { db: Reader }, providerId: number) {
  const [provider] = await db
    .select({
      title: providers.title,
      isClosed: sql<boolean>`${providers.closedAt} is not null`,
      isBegun: sql<boolean>`${providerState.providerId} is null`,
    })
    .from(providers)
    .leftJoin(providerState, eq(providerState.providerId, providers.id))
    .where(eq(providers.id, providerId));
  if (!provider) throw Problem.notFound(`Provider ${providerId}`);
  const children = await db.$count(providers, eq(providers.parentId, providerId));
  if (children > 0)
    throw new Problem('invalid', `Provider ${providerId} has sub-schools (${children}): delete them first`);
  return provider;
}

type SchoolDatabase = Pick<Database, 'db' | 'pool' | 'write' | 'writeShared' | 'exclusively'>;
/** `batchSize` is the rows of a transaction: Infinity in one that is open already. */
type Deletion = { database: SchoolDatabase; providerId: number; batchSize: number };
type DeletionOptions = { keepOrders?: boolean; batchSize?: number; tables?: TenantTable[] };

/**
 * Deletes all rows of a provider in every table, in transactions of at most 1,000 rows; a second call continues after a
 * crash. `keepOrders` keeps what invoices need. Returns the number of deleted rows.
 */
export async function deleteSchool(
  database: SchoolDatabase,
  providerId: number,
  { keepOrders = false, batchSize = 1_000, tables: known }: DeletionOptions = {},
) {
  await endAccess(database, providerId);
  const tables = (known ?? (await readTenantTables(database.pool))).filter(({ name }) => name !== 'erasures');
  let rows = 0;
  // Deletions leave events, so only a pass without any is the last one.
  for (let deleted = -1; deleted !== 0; rows += deleted) {
    deleted = 0;
    for (const table of tables) deleted += await emptyTable({ database, providerId, batchSize }, table, keepOrders);
  }
  const statement = keepOrders
    ? unsetColumns('providers', 't.id = $1', await findUnset(database, 'providers', invoiceSeller))
    : 'delete from providers where id = $1';
  await database.writeShared(async (tx, now) => {
    await execute(tx, rememberDeletion, [providerId, now, keepOrders]);
    await tx.$client.query(statement, [providerId]);
    tx.recordAffected(providerId);
  });
  return rows;
}

/** A deletion that a list beside the backups has: of a provider where it names no user. */
type Listed = { provider: number; user?: number; created_at: string; orders_kept?: boolean };

/** The providers of a list that a restored backup still has. */
export const findDeletedSchools = (on: Queryable, list: Listed[]) =>
  execute<{ id: number; keepOrders: boolean }>(on, findListed, [
    JSON.stringify(list.filter(({ user }) => user === undefined)),
  ]);

/** Ends keys, sessions, links, webhooks and partner connections, and all writes: those in progress hold the lock. */
async function endAccess(database: SchoolDatabase, providerId: number) {
  if ((await findDeletable(database, providerId)).isBegun) return;
  // Partners are known under the lock alone, and locked in the next transaction.
  for (let partners: number[] | undefined = []; partners;)
    partners = await endConnected(database, providerId, partners);
}

/** Returns all partners, and changes nothing, if one is not locked. */
const endConnected = (database: SchoolDatabase, providerId: number, locked: number[]) =>
  database.write([providerId, ...locked], ['school'], async (tx, now) => {
    // A sub-school may have been created before the lock.
    await findDeletable({ db: tx }, providerId);
    const connected = or(eq(partnerConnections.providerId, providerId), eq(partnerConnections.partnerId, providerId));
    const connections = await tx.select().from(partnerConnections).where(connected);
    const partners = connections.map((one) => (one.providerId === providerId ? one.partnerId : one.providerId));
    if (partners.some((partner) => !locked.includes(partner))) return tx.rollbackNoChange(partners);
    const closedAt = sql`coalesce(${providers.closedAt}, ${now})`;
    await tx.update(providers).set({ closedAt, updatedAt: now }).where(eq(providers.id, providerId));
    await tx.delete(partnerConnections).where(connected);
    await tx.delete(providerState).where(eq(providerState.providerId, providerId));
    tx.recordAffected(providerId);
    return undefined;
  });

/** Deletes the rows of a provider in one table. Returns their number. */
async function emptyTable(deletion: Deletion, table: TenantTable, keepOrders: boolean) {
  const { name, owners, ownReferences } = table;
  const { database, batchSize } = deletion;
  const owned = owners.map((column) => `${column} = $1`).join(' or ');
  for (const column of ownReferences.filter((column) => column !== boundReferences[name]))
    await inBatches(deletion, unlinkRows(name, owned, batchSize, column));
  const deleted =
    keepOrders && keptForInvoices[name]
      ? await reduceTable(deletion, name)
      : await deleteAll(deletion, name, deleteRows(name, owned, batchSize));
  // The checks of foreign keys to the next tables would read the dead rows.
  if (deleted >= batchSize) await database.pool.query(`vacuum (analyze, truncate off) ${name}`);
  return deleted;
}

async function reduceTable(deletion: Deletion, table: string) {
  const { condition = 'true', columns } = keptForInvoices[table]!;
  if (condition === 'true' && columns === undefined) return 0;
  const { database, batchSize } = deletion;
  const unset = columns === undefined ? [] : await findUnset(database, table, columns);
  const statement = reduceRows(table, batchSize, condition, unset);
  for (let [last, deleted] = [0, 0]; ;) {
    const page = await step<{ last: number; read: number; deleted: number }>(deletion, statement, [last]);
    const { read, ...row } = page.rows[0]!;
    deleted += row.deleted;
    if (read < batchSize) return deleted;
    last = row.last;
  }
}

async function findUnset({ pool }: Pick<Database, 'pool'>, table: string, kept: string[]) {
  return (await readUnsetValues(pool, table)).filter(({ column }) => !kept.includes(column));
}

/** Rows that others need follow those in a later round. */
async function deleteAll(deletion: Deletion, table: string, statement: string) {
  for (let total = 0; ;) {
    const deleted = await inBatches(deletion, statement);
    total += deleted;
    if (deleted === 0 || boundReferences[table] === undefined) return total;
  }
}

/** Repeats a statement until it changes no full batch. Returns the number of rows. */
async function inBatches(deletion: Deletion, statement: string) {
  for (let total = 0; ;) {
    const { rowCount } = await step(deletion, statement);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < deletion.batchSize) return total;
  }
}

/** Runs a statement in a transaction of its own. */
async function step<Row extends object>({ database, providerId }: Deletion, statement: string, values: unknown[] = []) {
  const result = await database.exclusively(`deletion of provider ${providerId}`, async (client) => {
    // As after 1,000 changes: each resource leaves one event instead of one a row.
    await client.query("select set_config('change_feed.changes', '1001', true)");
    return client.query<Row>(statement, [providerId, ...values]);
  });
  if (!result) throw new Problem('unavailable', `Provider ${providerId} is being deleted by another process`);
  return result;
}
