import { and, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { Type, type Static, type TProperties, type TSchema } from '@sinclair/typebox';
import { List, named, findName, OneOf, type Moment } from '../core/schema/types.ts';
import type { Ctx } from '../database/context.ts';
import { type Filter, type Filters, filter } from './filters.ts';
import { spreadsheetParameters, type Spreadsheet } from './spreadsheet.ts';

const defaultLimit = 75;
export const maxLimit = 250;
const { MAX_SAFE_INTEGER } = Number;

/** Paging parameters of a list; `false` for a list without any. */
export type Paging = false | { defaultLimit?: number; sinceId?: boolean };

export type ItemQuery = { include_deleted?: boolean; include?: string[] };
type PageQuery = ItemQuery & { limit?: number; page?: number; since_id?: number };
type FilterQuery<F extends Filters> = { [K in keyof F]?: F[K] extends Filter<infer S> ? Static<S> : never };
/** Validated parameters of a list whose filters are F and of which R are required. */
export type ListQuery<F extends Filters, R extends keyof F = never> = PageQuery &
  FilterQuery<F> &
  Required<Pick<FilterQuery<F>, R>>;

/** The page size of a query, at most 250. */
export const getLimit = ({ limit }: PageQuery, paging: Paging = {}) =>
  Math.min(limit ?? (paging || {}).defaultLimit ?? defaultLimit, maxLimit);

type ItemSpec = { serializer: { schema: TSchema; names: string[] }; notDeleted?: unknown; includeName?: string };

/** Parameters that a list and a single item share. */
export function itemParameters({ serializer, notDeleted, includeName }: ItemSpec): TProperties {
  const Include = named(includeName ?? `${findName(serializer.schema)}Include`, OneOf(serializer.names));
  const deleted = Type.Boolean({ default: false, description: 'true: with deleted items' });
  return {
    ...(notDeleted !== undefined && { include_deleted: Type.Optional(deleted) }),
    ...(serializer.names.length > 0 && {
      include: Type.Optional(List(Include, { maxItems: 100, description: 'Related data to embed; none unless sent' })),
    }),
  };
}

type ParameterSpec = { filters: Filters; paging?: Paging; requiredFilters?: PropertyKey[]; spreadsheet?: Spreadsheet };

export function listParameters({
  filters,
  paging = {},
  requiredFilters = [],
  spreadsheet,
}: ParameterSpec): TProperties {
  const all = { ...filters, ...(spreadsheet && spreadsheetParameters) };
  const optional = Object.entries<{ schema: TSchema }>(all).map(([name, { schema }]): [string, TSchema] =>
    requiredFilters.includes(name) ? [name, schema] : [name, Type.Optional(schema)],
  );
  return { ...(paging && pagingParameters(paging)), ...Object.fromEntries(optional) };
}

function pagingParameters({ defaultLimit: limit = defaultLimit, sinceId = true }): TProperties {
  const pageSize = Type.Integer({
    minimum: 1,
    maximum: MAX_SAFE_INTEGER,
    default: limit,
    description: `Items per page; more than ${maxLimit} counts as ${maxLimit}`,
  });
  const pageNumber = Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    default: 1,
    description: 'Number of the page, from 1; after the last one the list is empty',
  });
  const afterId = Type.Integer({
    minimum: 0,
    maximum: MAX_SAFE_INTEGER,
    description: 'Only items with a greater id; from the first one unless sent',
  });
  return {
    limit: Type.Optional(pageSize),
    page: Type.Optional(pageNumber),
    ...(sinceId && { since_id: Type.Optional(afterId) }),
  };
}

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
