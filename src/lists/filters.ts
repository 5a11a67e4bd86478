import { sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Static, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../core/context.ts';
import { Moment, NowOrMoment } from '../schema/types.ts';

/** A query parameter: what it may hold, and what it then asks of the database; undefined asks nothing. */
export type Filter<S extends TSchema = TSchema> = {
  schema: S;
  /** `query` holds the other parameters, for one that modifies this; `isNarrowed` tells that one of them is narrow. */
  where(
    value: Static<S>,
    ctx: Ctx,
    query: Record<string, unknown>,
    hasSelective: boolean,
  ): SQL | undefined | Promise<SQL>;
  /** Has a few values, of which each asks the same of the database whoever asks: so it is planned once for each. */
  isConstant?: true;
  /** Whether a value names what only few rows belong to, by an index of their own: they are found by that, whatever else is asked. */
  isSelective?(value: Static<S>): boolean;
  /** The column that it bounds. */
  range?: PgColumn;
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table of filters over different schemas
export type Filters = Record<string, Filter<any>>;

export const filter = <S extends TSchema>(schema: S, where: Filter<S>['where']): Filter<S> => ({ schema, where });

/** A filter by what only few rows belong to, such as a course date by its course; for all values unless told. */
export const selectiveFilter = <S extends TSchema>(
  schema: S,
  where: Filter<S>['where'],
  isSelective: (value: Static<S>) => boolean = () => true,
): Filter<S> => ({ ...filter(schema, where), isSelective });

/** A parameter that asks nothing of the database by itself: the service, a loader or another filter reads it. */
export const parameter = <S extends TSchema>(schema: S) => filter(schema, () => undefined);

const written = 'yyyy-mm-dd or yyyy-mm-dd hh:mm:ss, in the service time zone unless it carries an offset';

/** `<name>_min` keeps what is at or after the instant, `<name>_max` what is strictly before it: windows tile. */
export const dateRange = <N extends string>(name: N, column: PgColumn) =>
  range(
    name,
    column,
    Moment,
    (value) => sql`${column} >= ${value}::timestamptz`,
    (value) => sql`${column} < ${value}::timestamptz`,
  );

/** The same for what lies in the future too: either bound may also be `now`, the moment of asking. */
export const momentRange = <N extends string>(name: N, column: PgColumn) => {
  const instant = (value: string) => (value === 'now' ? sql`now()` : sql`${value}::timestamptz`);
  return range(
    name,
    column,
    NowOrMoment,
    (value) => sql`${column} >= ${instant(value)}`,
    (value) => sql`${column} < ${instant(value)}`,
  );
};

const range = <N extends string>(
  name: N,
  column: PgColumn,
  word: typeof Moment,
  atOrAfter: (value: string) => SQL,
  before: (value: string) => SQL,
) => {
  const also = word === NowOrMoment ? '`now`, ' : '';
  return {
    [`${name}_min`]: { ...filter(word({ description: `At or after: ${also}${written}` }), atOrAfter), range: column },
    [`${name}_max`]: { ...filter(word({ description: `Before: ${also}${written}` }), before), range: column },
  } as Record<`${N}_min` | `${N}_max`, Filter<ReturnType<typeof Moment>>>;
};
