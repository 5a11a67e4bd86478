import { and, eq } from 'drizzle-orm';
import type { Reader } from '../database/client.ts';
import type { Key } from '../lists/loaders.ts';
import type { selectPageKeys } from '../lists/paging/range-scan.ts';
import type { TenantTable } from '../lists/tenant-scope.ts';

/** Counters of an item by column name, as PostgreSQL formats them. */
export type Counters = Record<string, string>;

/** Stored and recounted counters of an item. */
export type CountedItem = Key & { stored: Counters; counted: Counters };

/** Subquery with the ids of a page. */
export type Page = ReturnType<ReturnType<typeof selectPageKeys>['as']>;

/** Join condition of a page's ids and their table. */
export const matchesPage = (table: TenantTable, page: Page) =>
  and(eq(table.providerId, page.providerId), eq(table.id, page.id));

/** Stored counters that can be recounted from other rows. */
export type Check = {
  /** Name of the items in reports, such as `course_dates`. */
  items: string;
  table: TenantTable;
  /** Items of a page in its order, read in one statement for a consistent snapshot. */
  recount(db: Reader, page: Page): Promise<CountedItem[]>;
};
