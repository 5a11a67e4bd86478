import type { SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Static, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../database/context.ts';

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
  /** The condition of other providers' rows where the reader is shown some of the members that it reads. */
  whereShown?(value: Static<S>, ctx: Ctx, isShown: (member: string) => boolean): SQL | undefined;
  isConstant?: true;
  /** True for a value that few rows match, by an index of their own. */
  isSelective?(value: Static<S>): boolean;
  /** An index finds the provider's rows, however many there are. */
  indexed?: Indexed<S>;
};

type Indexed<S extends TSchema> = {
  /** The column or expression that the index sorts by after `provider_id`; filters of one column share a probe. */
  column?: PgColumn | SQL;
  /** The condition that the index finds rows by, where `where` is for each row. */
  condition?(value: Static<S>, ctx: Ctx): SQL;
  /** True in the database if `condition` leaves out rows, because too many match. */
  isBroad?(value: Static<S>, ctx: Ctx): SQL;
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table of filters over different schemas
export type Filters = Record<string, Filter<any>>;
