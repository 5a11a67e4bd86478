import { eq, getTableColumns, notInArray } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { WriteCtx } from '../database/context.ts';
import { tenantWhere } from './tenant-scope.ts';

type LinkTable = PgTable & { providerId: PgColumn };

/** Replaces an owner's items in a link table, by column names: `{ courseId }`, `tagId`. Returns true if any changed. */
export async function replaceLinks<T extends LinkTable>(
  { providerId, tx }: WriteCtx,
  table: T,
  owner: { [K in keyof T['$inferInsert']]?: number },
  item: string & keyof T['$inferInsert'],
  ids: number[],
): Promise<boolean> {
  const links: LinkTable = table;
  const columns: Record<string, PgColumn> = getTableColumns(links);
  const isOwner = Object.entries<number | undefined>(owner).map(([name, id]) => eq(columns[name]!, id));
  const others = tenantWhere({ providerId }, links, ...isOwner, notInArray(columns[item]!, ids));
  const removed = await tx.delete(links).where(others).returning();
  if (ids.length === 0) return removed.length > 0;
  const rows = ids.map((id) => ({ providerId, ...owner, [item]: id }));
  const added = await tx.insert(links).values(rows).onConflictDoNothing().returning();
  return removed.length + added.length > 0;
}
