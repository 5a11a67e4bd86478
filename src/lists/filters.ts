import { sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Static, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../database/context.ts';
import { Moment, NowOrMoment } from '../core/schema/types.ts';

/** A query parameter and the condition that a value makes; undefined makes none. */
export type Filter<S extends TSchema = TSchema> = {
  schema: S;
  /** `query` has the other parameters; `hasSelective` is true if one of them is selective. */
  where(
    value: Static<S>,
    ctx: Ctx,
    query: Record<string, unknown>,
    hasSelective: boolean,
  ): SQL | undefined | Promise<SQL>;
  isConstant?: true;
  /** True for a value that few rows match, by an index of their own. */
  isSelective?(value: Static<S>): boolean;
  /** The column that a range filter bounds. */
  range?: PgColumn;
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table of filters over different schemas
export type Filters = Record<string, Filter<any>>;

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

const parameter = <S extends TSchema>(schema: S) => plain(schema, () => undefined);

const formatHint = 'yyyy-mm-dd or yyyy-mm-dd hh:mm:ss, in the service time zone unless it has an offset';

/** `start_date_at` is `Start date`. */
const toLabel = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replace(/_at$/, '').replaceAll('_', ' ');

const range =
  (schemaOf: typeof Moment, formats: string) =>
  <N extends string>(name: N, column: PgColumn) => {
    const instant = (value: string) => (value === 'now' ? sql`now()` : sql`${value}::timestamptz`);
    const bound = (when: string, where: (value: string) => SQL) => ({
      ...plain(schemaOf({ description: `${toLabel(name)} ${when} this time: ${formats}` }), where),
      range: column,
    });
    return {
      [`${name}_min`]: bound('at or after', (value) => sql`${column} >= ${instant(value)}`),
      [`${name}_max`]: bound('before', (value) => sql`${column} < ${instant(value)}`),
    } as Record<`${N}_min` | `${N}_max`, Filter<ReturnType<typeof Moment>>>;
  };

/** The kinds of filters that a list declares. */
export const filter = {
  /** A condition on each row. */
  plain,
  /** A constant predicate for each of a few values, the same for every tenant: a prepared statement for each. */
  constant,
  /** A filter that few rows match, such as course dates by their course; for all values unless `isSelective` is given. */
  selective,
  /** `<name>_min` is inclusive and `<name>_max` exclusive, so that windows tile. */
  dateRange: range(Moment, formatHint),
  /** `dateRange` whose bounds may also be `now`. */
  momentRange: range(NowOrMoment, `\`now\`, ${formatHint}`),
  /** A parameter without a condition of its own, which a service, a loader or another filter reads. */
  parameter,
};
