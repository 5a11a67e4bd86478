import { and, sql, type Placeholder, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../core/context.ts';
import { bytesRead, ResultTooLarge } from '../database/query-builder/result-bounds.ts';
import { asManyRecords, asRecords, asRecordsAfterWrite } from '../database/query-builder/row-decoder.ts';
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
export type Asking = Pick<Ctx, 'db' | 'guards' | 'providerId' | 'budget'>;

/** What the words may depend on: they are the same for whoever asks. */
type Wording = Pick<Ctx, 'db' | 'guards'>;

/** How a query's words tell whose rows are meant, and which of them. */
type Naming = { ofProvider(column: PgColumn): SQL; ofId(column: PgColumn): SQL };

/** The condition that a table's rows belong to a page's rows, by provider and id. */
export const ofKeys = (ctx: Pick<Ctx, 'guards'>, provider: PgColumn, id: PgColumn, naming: Naming): SQL =>
  and(ctx.guards.scope ? naming.ofProvider(provider) : undefined, naming.ofId(id))!;

/** A value in a select of its own: PostgreSQL does not look what it is, and so keeps the plan that it made for any. */
export const anyValue = (value: unknown, type: 'bigint' | 'bigint[]'): SQL =>
  sql`(select ${sql.param(value)}::${sql.raw(type)})`;

const isAny = (ids: unknown) => (column: PgColumn) => sql`${column} = any(${anyValue(ids, 'bigint[]')}::bigint[])`;

/** Names the rows by the keys themselves. */
export const namingOf = ({ providerIds, ids }: Keys): Naming => ({ ofProvider: isAny(providerIds), ofId: isAny(ids) });

type Prepared<Found> = { execute(keys: Record<string, unknown>): Promise<Found[]> };
type Query<Found> = { toSQL(): { sql: string }; prepare(name: string): Prepared<Found> };

const asker = sql.placeholder('asker');
const byPlaceholders: Naming = {
  ofProvider: isAny(sql.placeholder('providerIds')),
  ofId: isAny(sql.placeholder('ids')),
};

/** Fetches rows by their keys. */
export type ByKeys<Found> = {
  (asking: Asking, keys: Keys): Promise<Found[]>;
  /** Makes what fetches, in any order, those of the asker's own whose ids a query finds; each variant of it is put into words once. */
  ofFound(): (
    asking: Asking,
    variant: string,
    ids: (asker: Placeholder) => SQLWrapper,
    values: Record<string, unknown>,
  ) => Promise<Found[]>;
};

/** Makes of a query by keys one that is put into words once, and then only asked. */
export function byKeys<Found>(
  build: (wording: Wording & { providerId: Placeholder }, naming: Naming) => Query<Found>,
): ByKeys<Found> {
  const prepare = (kind = asRecords) =>
    wordedOnce<Found>((wording, naming) => build({ ...wording, providerId: asker }, naming), kind);
  const query = prepare();
  const largeQuery = prepare(asManyRecords);
  const queryAfterWrite = prepare(asRecordsAfterWrite);
  /** By fewer keys at a time where all of them find more than a statement may. */
  const fetch = async (asking: Asking, { providerIds, ids }: Keys): Promise<Found[]> => {
    const values = { asker: asking.providerId, providerIds: arrayOf(providerIds), ids: arrayOf(ids) };
    try {
      return await query(asking, '', () => byPlaceholders, values);
    } catch (error) {
      if (!(error instanceof ResultTooLarge) || asking.budget?.isSpent()) throw error;
      if (ids.length === 1) {
        const ofOne = asking.budget?.isAfterWrite ? queryAfterWrite : largeQuery;
        return ofOne(asking, '', () => byPlaceholders, values);
      }
      const half = Math.ceil(ids.length / 2);
      const first = await fetch(asking, { providerIds, ids: ids.slice(0, half) });
      return first.concat(await fetch(asking, { providerIds, ids: ids.slice(half) }));
    }
  };
  const ofFound: ByKeys<Found>['ofFound'] = () => {
    const found = prepare();
    return (asking, variant, ids, values) => {
      const naming = (): Naming => ({ ...byPlaceholders, ofId: (id) => sql`${id} = any(array(${ids(asker)}))` });
      const { providerId } = asking;
      return found(asking, variant, naming, { ...values, asker: providerId, providerIds: arrayOf([providerId]) });
    };
  };
  return Object.assign(fetch, { ofFound });
}

/** A query that is put into words once for each database, and each variant of it, and then only asked; its rows come as records. */
function wordedOnce<Found>(build: (wording: Wording, naming: Naming) => Query<Found>, kind: string) {
  const prepared = new WeakMap<Ctx['db'], Map<string, Prepared<Found>>>();
  return async function ask(
    { db, guards, budget }: Asking,
    variant: string,
    naming: () => Naming,
    values: Record<string, unknown>,
  ): Promise<Found[]> {
    const ofDatabase = prepared.get(db) ?? new Map<string, Prepared<Found>>();
    prepared.set(db, ofDatabase);
    const key = `${guards.scope} ${variant}`;
    let query = ofDatabase.get(key);
    if (!query) {
      const built = build({ db, guards }, naming());
      query = built.prepare(namedBy(kind, built.toSQL().sql));
      ofDatabase.set(key, query);
    }
    const found = await query.execute(values);
    budget?.take(found.length, bytesRead.get(found) ?? 0);
    return found;
  };
}

/** As PostgreSQL reads it: the driver would quote and escape each of them. */
const arrayOf = (ids: number[]) => `{${ids.join(',')}}`;
