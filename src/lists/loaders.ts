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
export const toKeySet = (rows: Key[]): Keys => ({
  providerIds: [...new Set(rows.map((row) => row.providerId))],
  ids: rows.map((row) => row.id),
});

/** Who asks a query that is put into words once. */
export type LoaderContext = Pick<Ctx, 'db' | 'guards' | 'providerId' | 'budget'>;

/** What the words may depend on: they are the same for whoever asks. */
type StatementContext = Pick<Ctx, 'db' | 'guards'>;

/** How a query's words tell whose rows are meant, and which of them. */
type KeyPredicate = { ofProvider(column: PgColumn): SQL; ofId(column: PgColumn): SQL };

/** The condition that a table's rows belong to a page's rows, by provider and id. */
export const matchesKeys = (ctx: Pick<Ctx, 'guards'>, provider: PgColumn, id: PgColumn, predicate: KeyPredicate): SQL =>
  and(ctx.guards.scope ? predicate.ofProvider(provider) : undefined, predicate.ofId(id))!;

/** A value in a select of its own: PostgreSQL does not look what it is, and so keeps the plan that it made for any. */
export const opaqueParam = (value: unknown, type: 'bigint' | 'bigint[]'): SQL =>
  sql`(select ${sql.param(value)}::${sql.raw(type)})`;

const isAny = (ids: unknown) => (column: PgColumn) => sql`${column} = any(${opaqueParam(ids, 'bigint[]')}::bigint[])`;

/** Names the rows by the keys themselves. */
export const keyPredicate = ({ providerIds, ids }: Keys): KeyPredicate => ({
  ofProvider: isAny(providerIds),
  ofId: isAny(ids),
});

type Prepared<Found> = { execute(keys: Record<string, unknown>): Promise<Found[]> };
type Query<Found> = { toSQL(): { sql: string }; prepare(name: string): Prepared<Found> };

const tenantParam = sql.placeholder('tenantParam');
const byPlaceholders: KeyPredicate = {
  ofProvider: isAny(sql.placeholder('providerIds')),
  ofId: isAny(sql.placeholder('ids')),
};

/** Fetches rows by their keys. */
export type BatchLoader<Found> = {
  (querying: LoaderContext, keys: Keys): Promise<Found[]>;
  /** Makes what fetches, in any order, those of the asker's own whose ids a query finds; each variant of it is put into words once. */
  loadFromSubquery(): (
    querying: LoaderContext,
    statementKey: string,
    ids: (tenantParam: Placeholder) => SQLWrapper,
    values: Record<string, unknown>,
  ) => Promise<Found[]>;
};

/** Makes of a query by keys one that is put into words once, and then only asked. */
export function batchLoader<Found>(
  build: (statementContext: StatementContext & { providerId: Placeholder }, predicate: KeyPredicate) => Query<Found>,
): BatchLoader<Found> {
  const prepare = (kind = asRecords) =>
    prepareOnce<Found>(
      (statementContext, predicate) => build({ ...statementContext, providerId: tenantParam }, predicate),
      kind,
    );
  const query = prepare();
  const largeQuery = prepare(asManyRecords);
  const queryAfterWrite = prepare(asRecordsAfterWrite);
  /** By fewer keys at a time where all of them find more than a statement may. */
  const fetch = async (querying: LoaderContext, { providerIds, ids }: Keys): Promise<Found[]> => {
    const values = {
      tenantParam: querying.providerId,
      providerIds: toArrayLiteral(providerIds),
      ids: toArrayLiteral(ids),
    };
    try {
      return await query(querying, '', () => byPlaceholders, values);
    } catch (error) {
      if (!(error instanceof ResultTooLarge) || querying.budget?.isSpent()) throw error;
      if (ids.length === 1) {
        const ofOne = querying.budget?.isAfterWrite ? queryAfterWrite : largeQuery;
        return ofOne(querying, '', () => byPlaceholders, values);
      }
      const half = Math.ceil(ids.length / 2);
      const first = await fetch(querying, { providerIds, ids: ids.slice(0, half) });
      return first.concat(await fetch(querying, { providerIds, ids: ids.slice(half) }));
    }
  };
  const loadFromSubquery: BatchLoader<Found>['loadFromSubquery'] = () => {
    const found = prepare();
    return (querying, statementKey, ids, values) => {
      const predicate = (): KeyPredicate => ({
        ...byPlaceholders,
        ofId: (id) => sql`${id} = any(array(${ids(tenantParam)}))`,
      });
      const { providerId } = querying;
      return found(querying, statementKey, predicate, {
        ...values,
        tenantParam: providerId,
        providerIds: toArrayLiteral([providerId]),
      });
    };
  };
  return Object.assign(fetch, { loadFromSubquery });
}

/** A query that is put into words once for each database, and each variant of it, and then only asked; its rows come as records. */
function prepareOnce<Found>(
  build: (statementContext: StatementContext, predicate: KeyPredicate) => Query<Found>,
  kind: string,
) {
  const prepared = new WeakMap<Ctx['db'], Map<string, Prepared<Found>>>();
  return async function ask(
    { db, guards, budget }: LoaderContext,
    statementKey: string,
    predicate: () => KeyPredicate,
    values: Record<string, unknown>,
  ): Promise<Found[]> {
    const ofDatabase = prepared.get(db) ?? new Map<string, Prepared<Found>>();
    prepared.set(db, ofDatabase);
    const key = `${guards.scope} ${statementKey}`;
    let query = ofDatabase.get(key);
    if (!query) {
      const built = build({ db, guards }, predicate());
      query = built.prepare(namedBy(kind, built.toSQL().sql));
      ofDatabase.set(key, query);
    }
    const found = await query.execute(values);
    budget?.take(found.length, bytesRead.get(found) ?? 0);
    return found;
  };
}

/** As PostgreSQL reads it: the driver would quote and escape each of them. */
const toArrayLiteral = (ids: number[]) => `{${ids.join(',')}}`;
