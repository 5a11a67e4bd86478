import type { Reader } from '../database/client.ts';
import type { PageIds, TenantTable } from '../lists/list.ts';
import type { Key } from '../lists/part.ts';

/** Figures of one item by the names of their columns, as PostgreSQL writes them. */
export type Figures = Record<string, string>;

/** One item: the figures that are stored of it, and the same figures counted anew. */
export type Recounted = Key & { stored: Figures; counted: Figures };

/** One kind of stored figures that can be counted anew from other rows. */
export type Check = {
  /** What the items are called: `course_dates`. */
  items: string;
  table: TenantTable;
  /** The items of a page, in its order: one statement, so that all of it is of one moment, also while others write. */
  recount(db: Reader, page: PageIds): Promise<Recounted[]>;
};
