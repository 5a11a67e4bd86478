import { eq, sql, type SQL } from 'drizzle-orm';
import { itemAt } from '../../../core/errors.ts';
import type { Reader, Tx } from '../../../database/client.ts';
import { events } from '../../../database/tables/events.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { bind, entries, erasedValues, rowsOf, type Entry, type Person } from './schema.ts';

/** The numbers of the rows of a person that erasures and merges count. */
export async function countRows(db: Reader, person: Person) {
  const counts: Partial<Record<NonNullable<Entry['count']>[0], SQL<number>>> = {};
  for (const { table, find, count: [name, only = 'true'] = [] } of entries) {
    if (name === undefined) continue;
    const rows = db.$count(table, sql`${rowsOf({ table, find }, person)} and ${bind(only, person)}`);
    counts[name] = counts[name] === undefined ? sql`${rows}` : sql`${counts[name]} + ${rows}`;
  }
  return itemAt(await db.select(counts as Required<typeof counts>).from(sql`(select) one`));
}

/** Deletes the rows of a person in the tables whose entry says so for this act. */
export async function deleteRows(tx: Tx, person: Person, act: 'erase' | 'merge') {
  for (const entry of entries) if (entry[act] === 'delete') await tx.delete(entry.table).where(rowsOf(entry, person));
}

/** Clears the personal columns of the rows of a person in a table. Returns the number of rows that this changes. */
export const clearRows = (tx: Tx, now: string, entry: Entry, person: Person) =>
  tx.updateChanged(entry.table, rowsOf(entry, person), erasedValues(entry), now);

/** Records an event in the place of that of the item's update or deletion. */
export async function replaceEvent(tx: Tx, replaced: 'updated' | 'deleted', event: typeof events.$inferInsert) {
  const isNew = sql`${events.id} >= first_event_id() and ${events.resourceId} = ${event.resourceId}`;
  const isReplaced = [eq(events.resource, event.resource), eq(events.change, replaced)];
  await tx.delete(events).where(tenantWhere(event, events, isNew, ...isReplaced));
  await tx.insert(events).values(event);
}
