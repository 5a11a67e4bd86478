import { and, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../core/context.ts';
import { asRecords } from '../database/reading.ts';
import { namedBy } from '../database/statements.ts';

/** Names one row among all providers' rows. */
export type Key = { providerId: number; id: number };

/** The providers and the ids of a page's rows: what a loader's one query asks for. */
export type Keys = { providerIds: number[]; ids: number[] };
export const keysOf = (rows: Key[]): Keys => ({
  providerIds: [...new Set(rows.map((row) => row.providerId))],
  ids: rows.map((row) => row.id),
});

/** Who asks a query that is put into words once. */
export type Asking = Pick<Ctx, 'db' | 'guards' | 'providerId'>;

/** What the words may depend on: they are the same for whoever asks. */
type Wording = Pick<Ctx, 'db' | 'guards'>;

/** The condition that a table's rows belong to a page's rows, by provider and id. */
export const ofKeys = (ctx: Pick<Ctx, 'guards'>, provider: PgColumn, id: PgColumn, keys: Keys): SQL =>
  and(ctx.guards.scope ? isAny(provider, keys.providerIds) : undefined, isAny(id, keys.ids))!;

export const isAny = (column: PgColumn, ids: number[]) => sql`${column} = any(${sql.param(ids)}::bigint[])`;

type Prepared<Found> = { execute(keys: Record<string, unknown>): Promise<Found[]> };
type Query<Found> = { toSQL(): { sql: string }; prepare(name: string): Prepared<Found> };

const asker = sql.placeholder('asker');
const placeholders = { providerIds: sql.placeholder('providerIds'), ids: sql.placeholder('ids') } as unknown as Keys;

/**
 * A query that is put into words once for each database, and each variant of it, and then only asked; its kind tells how its
 * rows come.
 */
export function wordedOnce<Found, Of>(build: (wording: Wording, of: Of) => Query<Found>, kind = byCell) {
  const prepared = new WeakMap<Ctx['db'], Map<string, Prepared<Found>>>();
  return function ask(
    asking: Asking,
    variant: string,
    of: () => Of,
    values: Record<string, unknown>,
  ): Promise<Found[]> {
    const { db, guards } = asking;
    const ofDatabase = prepared.get(db) ?? new Map<string, Prepared<Found>>();
    prepared.set(db, ofDatabase);
    const key = `${guards.scope} ${variant}`;
    let query = ofDatabase.get(key);
    if (!query) {
      const built = build({ db, guards }, of());
      query = built.prepare(namedBy(kind, built.toSQL().sql));
      ofDatabase.set(key, query);
    }
    return query.execute(values);
  };
}
const byCell = 'c_';

/** Makes of a query by keys one that is put into words once for each database, and then only asked; its rows come as records. */
export function byKeys<Found>(build: (wording: Wording & { providerId: Placeholder }, keys: Keys) => Query<Found>) {
  const query = wordedOnce<Found, Keys>((wording, keys) => build({ ...wording, providerId: asker }, keys), asRecords);
  return (asking: Asking, { providerIds, ids }: Keys): Promise<Found[]> => {
    const values = { asker: asking.providerId, providerIds: arrayOf(providerIds), ids: arrayOf(ids) };
    return query(asking, '', () => placeholders, values);
  };
}

/** As PostgreSQL reads it: the driver would quote and escape each of them. */
const arrayOf = (ids: number[]) => `{${ids.join(',')}}`;
