import { getTableColumns } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { Problem } from '../core/errors.ts';
import { named, OneOf } from '../core/schema/types.ts';
import { type Filters, filter } from './filters.ts';
import type { Order } from './paging/index-probes.ts';
import type { TenantTable } from './tenant-scope.ts';

/** Values of `order_by` beside `id` and the timestamps; `name` is that of the enum in the OpenAPI document. */
export type Sorting = { name?: string; columns?: Record<string, PgColumn> };

const OrderDirection = named('OrderDirection', OneOf(['asc', 'desc']));

type Sorted = { table: TenantTable; filters: Filters; sorting?: Sorting; order?(query: never): Order | undefined };

/** The filters of a list with `order_by` and `order_direction`, and the order of a query, where clients choose it. */
export function addSorting({ table, filters, sorting, order }: Sorted) {
  if (!sorting) return { filters, order };
  const sorted = sortBy(table, sorting);
  return { filters: { ...filters, ...sorted.parameters }, order: sorted.order };
}

/** An order is undefined by id, ascending. */
function sortBy(table: TenantTable, { name = 'ListOrder', columns: more = {} }: Sorting) {
  const { createdAt, updatedAt }: Record<string, PgColumn> = getTableColumns(table);
  const dated = { ...(createdAt && { created_at: createdAt }), ...(updatedAt && { updated_at: updatedAt }) };
  const columns = new Map(Object.entries({ id: table.id, ...dated, ...more }));
  const OrderBy = named(name, OneOf([...columns.keys()]));
  const parameters: Filters = {
    order_by: filter.parameter({ ...OrderBy, default: 'id', description: 'Sort by this; equal values by id' }),
    order_direction: filter.parameter({
      ...OrderDirection,
      default: 'asc',
      description: 'Ascending or descending; `since_id` needs the ascending order of ids',
    }),
  };
  return { parameters, order };

  function order(query: Record<string, unknown>): Order | undefined {
    const name = (query['order_by'] as string | undefined) ?? 'id';
    const column = columns.get(name)!;
    const descending = query['order_direction'] === 'desc';
    if (column === table.id && !descending) return undefined;
    if (query['since_id'] !== undefined)
      throw Problem.coded('since_id_with_order', sinceIdMessage, { notValid: ['since_id'] });
    return { column, descending, name };
  }
}

const sinceIdMessage =
  'since_id continues a list in the ascending order of ids: leave out order_by and order_direction';
