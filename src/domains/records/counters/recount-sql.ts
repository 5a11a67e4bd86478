import { asc, eq, type SQL } from 'drizzle-orm';
import type { Reader } from '../../../database/client.ts';
import type { Key } from '../../../lists/loaders.ts';
import { sameTenant, type TenantTable } from '../../../lists/tenant-scope.ts';

/** Counters of an item by column name, as PostgreSQL formats them. */
export type Counters = Record<string, string>;

/** Stored and recounted counters of an item. */
export type CountedItem = Key & { stored: Counters; counted: Counters };

/** Subquery with the ids of a page, in the order of the primary key. */
export const selectPage = (db: Reader, table: TenantTable, condition: SQL, limit: number) =>
  db
    .select({ providerId: table.providerId, id: table.id })
    .from(table)
    .where(condition)
    .orderBy(asc(table.providerId), asc(table.id))
    .limit(limit)
    .as('page');
type Page = ReturnType<typeof selectPage>;

/** Join condition of a page's ids and their table. */
export const matchesPage = (table: TenantTable, page: Page) => sameTenant(table, page, eq(table.id, page.id));

/** Stored counters that can be recounted from other rows. */
export type Check = {
  /** Name of the items in reports, such as `course_dates`. */
  items: string;
  table: TenantTable;
  /** Only these rows of the table, which a report does not count. */
  only?: SQL;
  /** Another check of the same rows counts them in a report. */
  isPartial?: boolean;
  /** Differences stay as they are. */
  isReportOnly?: boolean;
  /** Items of a page in its order, read in one statement for a consistent snapshot. */
  recount(db: Reader, page: Page): Promise<CountedItem[]>;
};
