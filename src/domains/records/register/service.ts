import { eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { itemAt } from '../../../core/errors.ts';
import type { Reader, Tx, Write } from '../../../database/client.ts';
import { events } from '../../../database/tables/events.ts';
import { bind, erasedValues, rowsOf, type Entry, type Person } from '../../../lists/personal-data.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { entries, register } from './schema.ts';

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

/** Clears the personal columns of the rows of whom `choose` names for an entry. Returns the numbers of changed rows. */
export async function clearRows({ tx, now }: Write, choose: (entry: Entry) => Person | undefined) {
  const changed: Record<string, number> = {};
  for (const [name, entry] of Object.entries<Entry>(register)) {
    const person = typeof entry.erase === 'object' ? choose(entry) : undefined;
    if (person === undefined) continue;
    changed[name] = await tx.updateChanged(entry.table, rowsOf(entry, person), erasedValues(entry), now);
  }
  return changed;
}

type Ids = { providerId: number; id: number; into: number };
/** Moves the rows of a course user, those of an entry that `isAbout` names or all, to the one that stays. */
export async function moveRows({ tx, now }: Write, ids: Ids, moved: Entry[] = entries, isAbout?: SQL) {
  for (const { table, merge } of moved)
    for (const key of Array.isArray(merge) ? merge : []) {
      const isOwn = eq(getTableColumns<typeof table>(table)[key] as PgColumn, ids.id);
      await tx.updateChanged(table, tenantWhere(ids, table, isOwn, isAbout), { [key]: ids.into }, now);
    }
}

/** Records an event in the place of that of the item's update or deletion. */
export async function replaceEvent(tx: Tx, replaced: 'updated' | 'deleted', event: typeof events.$inferInsert) {
  const isNew = sql`${events.id} >= first_event_id() and ${events.resourceId} = ${event.resourceId}`;
  const isReplaced = [eq(events.resource, event.resource), eq(events.change, replaced)];
  await tx.delete(events).where(tenantWhere(event, events, isNew, ...isReplaced));
  await tx.insert(events).values(event);
}
