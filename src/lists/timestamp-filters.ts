import { Type, type Static } from '@sinclair/typebox';
import { and, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Moment } from '../core/schema/types.ts';
import type { Ctx } from '../database/context.ts';
import { filter } from './filters.ts';
import { listParameters } from './list-query.ts';

type Bounds = 'created_at_min' | 'created_at_max' | 'updated_at_min' | 'updated_at_max';
export type TimestampQuery = { [K in Bounds]?: Static<ReturnType<typeof Moment>> };

/** The query of a list without paging, and the condition that it makes on a table. */
export function defineTimestampFilters(table: { createdAt: PgColumn; updatedAt: PgColumn }) {
  const filters = filter.timestamps(table);
  const Query = Type.Unsafe<TimestampQuery>(Type.Object(listParameters({ filters, paging: false })));
  /** Undefined without any of them. */
  const where = (ctx: Ctx, query: TimestampQuery): SQL | undefined =>
    and(...toBounds(query).map(([name, value]) => filters[name].where(value, ctx, query, false) as SQL));
  return { Query, where };
}

const toBounds = (query: TimestampQuery) => Object.entries(query) as [Bounds, string][];
