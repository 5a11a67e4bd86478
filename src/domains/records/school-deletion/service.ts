import { eq, or, sql, type SQL } from 'drizzle-orm';
import { itemAt, Problem } from '../../../core/errors.ts';
import type { Database, Reader } from '../../../database/client.ts';
import { queryBuilderOn } from '../../../database/reader.ts';
import type { Queryable } from '../../../database/statements.ts';
import { partnerConnections, providers, providerState } from '../../../database/tables/providers.ts';
import { readTenantTables, readUnsetValues, type TenantTable } from '../../../database/tenant-tables.ts';
import * as statements from './sql.ts';

/** A provider without sub-schools; once its deletion began, it has no row in `provider_state`, which writes lock. */
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
type Deletion = { database: SchoolDatabase; providerId: number; limit: number };
type DeletionOptions = { keepOrders?: boolean; batchSize?: number; tables?: TenantTable[] };

/** Deletes a provider's rows, but those that `keepOrders` keeps, in transactions; a second call continues. */
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
    for (const table of tables)
      deleted += await emptyTable({ database, providerId, limit: batchSize }, table, keepOrders);
  }
  const unset = keepOrders ? await findUnset(database, 'providers', statements.invoiceSeller) : [];
  await database.writeShared(async ({ tx, now }) => {
    await statements.rememberDeletion(tx, { providerId, now, keepOrders });
    if (keepOrders) await tx.execute(statements.unsetColumns('providers', sql`t.id = ${providerId}`, unset));
    else await tx.delete(providers).where(eq(providers.id, providerId));
    tx.auditItem(providerId);
  });
  return rows;
}

/** A deletion that a list beside the backups has: of a provider where it names no user. */
type Listed = { provider: number; user?: number; created_at: string; orders_kept?: boolean };

/** The providers of a list that a restored backup still has. */
export const findDeletedSchools = (on: Queryable, list: Listed[]) =>
  statements.findListed(on, {
    list: list.filter(({ user }) => user === undefined).map((one) => ({ orders_kept: null, ...one })),
  });

/** Ends keys, sessions, links, webhooks and partner connections, and all writes: those in progress hold the lock. */
async function endAccess(database: SchoolDatabase, providerId: number) {
  if ((await findDeletable(database, providerId)).isBegun) return;
  // Partners are known under the lock alone, and locked in the next transaction.
  for (let partners: number[] | undefined = []; partners;)
    partners = await endConnected(database, providerId, partners);
}

/** Returns all partners, and changes nothing, if one is not locked. */
const endConnected = (database: SchoolDatabase, providerId: number, locked: number[]) =>
  database.write([providerId, ...locked], ['school'], async ({ tx, now }) => {
    // A sub-school may have been created before the lock.
    await findDeletable({ db: tx }, providerId);
    const connected = or(eq(partnerConnections.providerId, providerId), eq(partnerConnections.partnerId, providerId));
    const connections = await tx.select().from(partnerConnections).where(connected);
    const partners = connections.map((one) => (one.providerId === providerId ? one.partnerId : one.providerId));
    if (partners.some((partner) => !locked.includes(partner))) return tx.rollBack(partners);
    const closedAt = sql`coalesce(${providers.closedAt}, ${now})`;
    await tx.update(providers).set({ closedAt, updatedAt: now }).where(eq(providers.id, providerId));
    await tx.delete(partnerConnections).where(connected);
    await tx.delete(providerState).where(eq(providerState.providerId, providerId));
    tx.auditItem(providerId);
    return undefined;
  });

/** Deletes the rows of a provider in one table. Returns their number. */
async function emptyTable(deletion: Deletion, table: TenantTable, keepOrders: boolean) {
  const { name, ownReferences } = table;
  const { database, limit } = deletion;
  for (const column of ownReferences.filter((column) => column !== statements.boundReferences[name]))
    await inBatches(deletion, statements.unlinkRows(table, deletion, column));
  const kept = keepOrders ? statements.keptForInvoices[name] : undefined;
  const deleted = kept ? await reduceTable(deletion, name, kept) : await deleteAll(deletion, table);
  // The checks of foreign keys to the next tables would read the dead rows.
  if (deleted >= limit) await database.pool.query(`vacuum (analyze, truncate off) ${name}`);
  return deleted;
}

async function reduceTable(
  deletion: Deletion,
  table: string,
  kept: NonNullable<(typeof statements.keptForInvoices)[string]>,
) {
  if (kept.condition === undefined && kept.columns === undefined) return 0;
  const unset = kept.columns === undefined ? [] : await findUnset(deletion.database, table, kept.columns);
  for (let [last, deleted] = [0, 0]; ;) {
    const page = itemAt((await step<Page>(deletion, statements.reduceRows(table, deletion, last, kept, unset))).rows);
    deleted += page.deleted;
    if (page.read < deletion.limit) return deleted;
    last = page.last;
  }
}
type Page = { last: number; read: number; deleted: number };

async function findUnset({ pool }: Pick<Database, 'pool'>, table: string, kept: string) {
  return (await readUnsetValues(pool, table)).filter(({ column }) => !kept.split(/\s+/).includes(column));
}

/** Deletes the rows; those that others need follow these in a later round. */
async function deleteAll(deletion: Deletion, table: TenantTable) {
  for (let total = 0; ;) {
    const deleted = await inBatches(deletion, statements.deleteRows(table, deletion));
    total += deleted;
    if (deleted === 0 || statements.boundReferences[table.name] === undefined) return total;
  }
}

/** Repeats a statement until it changes no full batch. Returns the number of rows. */
async function inBatches(deletion: Deletion, statement: SQL) {
  for (let total = 0; ;) {
    const { rowCount } = await step(deletion, statement);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < deletion.limit) return total;
  }
}

/** Runs a statement in a transaction of its own. */
async function step<Row extends Record<string, unknown>>({ database, providerId }: Deletion, statement: SQL) {
  const result = await database.exclusively(`deletion of provider ${providerId}`, async (client) => {
    // As after 1,000 changes: each resource leaves one event instead of one a row.
    await client.query("select set_config('change_feed.changes', '1001', true)");
    return queryBuilderOn(client).execute<Row>(statement);
  });
  if (!result) throw new Problem('unavailable', `Provider ${providerId} is being deleted by another process`);
  return result;
}
