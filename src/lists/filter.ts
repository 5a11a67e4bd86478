import { sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Static, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../core/context.ts';
import { readMoment } from '../core/moment.ts';
import { invalidFields } from '../core/problem.ts';
import { Moment, NowOrMoment } from '../core/schema.ts';

/** A query parameter: what it may hold, and what it then asks of the database; undefined asks nothing. */
export type Filter<S extends TSchema = TSchema> = {
  schema: S;
  /** `query` holds the other parameters, for one that modifies this. */
  where(value: Static<S>, ctx: Ctx, query: Record<string, unknown>): SQL | undefined;
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table of filters over different schemas
export type Filters = Record<string, Filter<any>>;

export const filter = <S extends TSchema>(schema: S, where: Filter<S>['where']): Filter<S> => ({ schema, where });

/** A parameter that asks nothing of the database by itself: the service, a loader or another filter reads it. */
export const parameter = <S extends TSchema>(schema: S) => filter(schema, () => undefined);

/** `<name>_min` keeps what is at or after the instant, `<name>_max` what is strictly before it: windows tile. */
export const dateRange = <N extends string>(name: N, column: PgColumn) => {
  const written = 'yyyy-mm-dd or yyyy-mm-dd hh:mm:ss, in the service time zone unless it carries an offset';
  return {
    [`${name}_min`]: filter(
      Moment({ description: `At or after: ${written}` }),
      (value) => sql`${column} >= ${value}::timestamptz`,
    ),
    [`${name}_max`]: filter(
      Moment({ description: `Before: ${written}` }),
      (value) => sql`${column} < ${value}::timestamptz`,
    ),
  } as Record<`${N}_min` | `${N}_max`, Filter<ReturnType<typeof Moment>>>;
};

/** The same for what lies in the future too: either bound may also be `now`, the moment of asking. */
export const momentRange = <N extends string>(name: N, column: PgColumn) => {
  const written = 'now, yyyy-mm-dd or yyyy-mm-dd hh:mm:ss, in the service time zone unless it carries an offset';
  const read = (bound: string, value: string) => {
    if (value === 'now') return sql`now()`;
    const moment = readMoment(value);
    if (moment === undefined) throw invalidFields({ notValid: [bound] });
    return sql`${moment}::timestamptz`;
  };
  return {
    [`${name}_min`]: filter(
      NowOrMoment({ description: `At or after: ${written}` }),
      (value) => sql`${column} >= ${read(`${name}_min`, value)}`,
    ),
    [`${name}_max`]: filter(
      NowOrMoment({ description: `Before: ${written}` }),
      (value) => sql`${column} < ${read(`${name}_max`, value)}`,
    ),
  } as Record<`${N}_min` | `${N}_max`, Filter<ReturnType<typeof NowOrMoment>>>;
};
