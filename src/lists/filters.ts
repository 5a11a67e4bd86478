import { inArray, or, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Static, TSchema, TString } from '@sinclair/typebox';
import { EmailParameter, Line, List, Moment, NowOrMoment } from '../core/schema/types.ts';
import { caseFolded } from '../database/tables/columns.ts';
import type { Filter } from './filter-types.ts';
import { search } from './search.ts';

const plain = <S extends TSchema>(schema: S, where: Filter<S>['where']): Filter<S> => ({ schema, where });

const constant = <S extends TSchema>(schema: S, where: Filter<S>['where']): Filter<S> => ({
  ...plain(schema, where),
  isConstant: true,
});

const selective = <S extends TSchema>(
  schema: S,
  where: Filter<S>['where'],
  isSelective: (value: Static<S>) => boolean = () => true,
): Filter<S> => ({ ...plain(schema, where), isSelective });

type TextOptions = { description: string; examples?: string[] };

/** Equal in one of the columns, without regard to case; each has an index of its own. */
const caseless =
  (toSchema: (options: TextOptions) => TString) =>
  (options: TextOptions, ...columns: PgColumn[]): Filter<TString> =>
    selective(toSchema(options), (text) =>
      or(...columns.map((column) => sql`${caseFolded(column)} = ${caseFolded(text)}`)),
    );

const indexed = <S extends TSchema>(
  schema: S,
  by: NonNullable<Filter<S>['indexed']>,
  where: Filter<S>['where'],
): Filter<S> => ({
  ...plain(schema, where),
  indexed: by,
});

const valueList = <S extends TSchema & { static: number | string }>(item: S, description: string, column: PgColumn) =>
  indexed(List(item, { description }), { column }, (values) => inArray(column, values));

const parameter = <S extends TSchema>(schema: S) => plain(schema, () => undefined);

const formatHint = 'yyyy-mm-dd or yyyy-mm-dd hh:mm:ss, in the service time zone unless it has an offset';

/** `start_date_at` is `Start date`. */
const toLabel = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replace(/_at$/, '').replaceAll('_', ' ');

const range =
  (toSchema: typeof Moment, formats: string) =>
  <N extends string>(name: N, column: PgColumn) => {
    const instant = (value: string) => (value === 'now' ? sql`now()` : sql`${value}::timestamptz`);
    const bound = (when: string, where: (value: string) => SQL) => ({
      ...plain(toSchema({ description: `${toLabel(name)} ${when} this time: ${formats}` }), where),
      indexed: { column },
    });
    return {
      [`${name}_min`]: bound('at or after', (value) => sql`${column} >= ${instant(value)}`),
      [`${name}_max`]: bound('before', (value) => sql`${column} < ${instant(value)}`),
    } as Record<`${N}_min` | `${N}_max`, Filter<ReturnType<typeof Moment>>>;
  };

const dateRange = range(Moment, formatHint);

/** The kinds of filters that a list declares. */
export const filter = {
  /** A condition on each row. */
  plain,
  /** A constant predicate for each of a few values, the same for every tenant: a prepared statement for each. */
  constant,
  /** A filter that few rows match, such as course dates by their course; for all values unless `isSelective` is given. */
  selective,
  /** `q`: words of the texts of an item. */
  search,
  text: caseless((options) => Line({ minLength: 1, ...options })),
  email: caseless(EmailParameter),
  /**
   * A filter that few or many rows match. Few are found by its index and sorted; of many a page is found in the order of
   * the list.
   */
  indexed,
  /** One of several values of an indexed column. */
  valueList,
  /** `<name>_min` is inclusive and `<name>_max` exclusive, so that windows tile. */
  dateRange,
  /** The ranges of `created_at` and `updated_at`. */
  timestamps: ({ createdAt, updatedAt }: { createdAt: PgColumn; updatedAt: PgColumn }) => ({
    ...dateRange('created_at', createdAt),
    ...dateRange('updated_at', updatedAt),
  }),
  /** `dateRange` whose bounds may also be `now`. */
  momentRange: range(NowOrMoment, `\`now\`, ${formatHint}`),
  /** A parameter without a condition of its own, which a service, a loader or another filter reads. */
  parameter,
};
