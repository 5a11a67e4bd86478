import type { TObject } from '@sinclair/typebox';
import type { SQL } from 'drizzle-orm';
import type { Filters } from './filters.ts';
import type { ListQuery, Paging } from './list-query.ts';
import type { BatchLoader, Key } from './loaders.ts';
import type { FoundPage, PageSource, Position } from './paging/index.ts';
import type { Serializer } from './relations.ts';
import type { Sorting } from './sorting.ts';
import type { Spreadsheet } from './spreadsheet.ts';
import type { TenantScope } from './tenant-scope.ts';

export type Page<T> = {
  items: T[];
  /** Ids of the items, in their order. */
  ids: number[];
  /** True if the page ends before its limit because of the response budget. */
  isTruncated: boolean;
  page: number;
  limit: number;
  hasMore: boolean;
  /** Parameter of the next page; `since_id` stays right while rows are added. */
  nextBy: FoundPage<unknown>['nextBy'];
  /** The position of the last item; undefined on an empty page. */
  lastKey: Position | undefined;
  /** Sync cursor: the version before this page was read. */
  syncedThrough: string;
  /** Number of items on all pages, with `withTotal`. */
  total?: number;
};

export type PageOptions = {
  scope?: TenantScope;
  withTotal?: boolean;
  /** The page is that after this position, whatever `since_id` says. */
  after?: Position | undefined;
};

export type ListSpec<
  Row extends Key,
  V extends TObject,
  F extends Filters,
  P extends Filters,
  R extends keyof F,
> = Omit<PageSource<Row>, 'scope' | 'filters' | 'order' | 'fetch' | 'isShown'> & {
  /** Rows that partners and the public may see; without it, the list shows the provider's own rows alone. */
  isPublic?: SQL;
  /** A condition on every row. */
  condition?: SQL;
  serializer: Serializer<Row, V>;
  /** All columns of the table by default. */
  fetch?: BatchLoader<Row>;
  filters: F;
  /** Filters that the service sets; the query string has none of them. */
  pathFilters?: P;
  requiredFilters?: R[];
  /** Name of the values of `include[]` in the OpenAPI document; follows from the name of the items. */
  includeName?: string;
  paging?: Paging;
  /** The orders that clients may choose: by `id`, `created_at`, `updated_at` of the table, or one of its columns. */
  sorting?: Sorting;
  /** Set if clients may read the list as CSV. */
  spreadsheet?: Spreadsheet;
  order?(query: ListQuery<F>): ReturnType<NonNullable<PageSource<Row>['order']>>;
};
