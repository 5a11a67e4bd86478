import { and, eq } from 'drizzle-orm';
import type { Reader } from '../database/client.ts';
import type { Key } from '../lists/loaders.ts';
import type { selectPageKeys } from '../lists/paging/range-scan.ts';
import type { TenantTable } from '../lists/tenant-scope.ts';

/** Figures of one item by the names of their columns, as PostgreSQL writes them. */
export type Figures = Record<string, string>;

/** One item: the figures that are stored of it, and the same figures counted anew. */
export type Recounted = Key & { stored: Figures; counted: Figures };

/** The ids of a page, to join with. */
export type Page = ReturnType<ReturnType<typeof selectPageKeys>['as']>;

/** Joins a page's ids back to their table. */
export const onPage = (table: TenantTable, page: Page) =>
  and(eq(table.providerId, page.providerId), eq(table.id, page.id));

/** One kind of stored figures that can be counted anew from other rows. */
export type Check = {
  /** What the items are called: `course_dates`. */
  items: string;
  table: TenantTable;
  /** The items of a page, in its order: one statement, so that all of it is of one moment, also while others write. */
  recount(db: Reader, page: Page): Promise<Recounted[]>;
};
