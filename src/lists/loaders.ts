import { and, sql, type Placeholder, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../database/context.ts';
import { queryBuilder, type Prepared } from '../database/query-builder/index.ts';
import { bytesRead, ResultTooLarge, statementPrefix } from '../database/result-bounds.ts';
import { hashedName } from '../database/statements.ts';
import { equalsAnyTenant } from './tenant-predicate.ts';
import type { TenantTable } from './tenant-scope.ts';

/** Identifies one row among all providers' rows. */
export type Key = { providerId: number; id: number };

/** The providers and the ids of a page's rows. */
export type Keys = { providerIds: number[]; ids: number[] };
export const toKeySet = (rows: Key[]): Keys => ({
  providerIds: [...new Set(rows.map((row) => row.providerId))],
  ids: rows.map((row) => row.id),
});

export type LoaderContext = Pick<Ctx, 'db' | 'providerId' | 'budget'>;

/** A prepared statement is the same for every provider, so it is built without one. */
type StatementContext = Pick<Ctx, 'db'>;

/** Limits a statement to a key set. */
type KeyPredicate = {
  /** Limits a table to the rows that belong to a page's rows by a column of their ids. */
  match(table: { providerId: PgColumn }, id: PgColumn): SQL;
  /** Limits rows that all providers share. */
  matchShared(id: PgColumn): SQL;
};

/** A parameter in a subselect: PostgreSQL then keeps the generic plan, since it does not see the value. */
export const opaqueParam = (value: unknown, type: 'bigint' | 'bigint[]'): SQL =>
  sql`(select ${sql.param(value)}::${sql.raw(type)})`;

/** The parameter of a key set; the cast keeps `any` from reading the subselect as a list of rows. */
const idsParam = (ids: unknown) => sql`${opaqueParam(ids, 'bigint[]')}::bigint[]`;
type IdCondition = (id: PgColumn) => SQL;
const toPredicate = (providerIds: unknown, matchShared: IdCondition): KeyPredicate => ({
  match: (table, id) => and(equalsAnyTenant(table.providerId, idsParam(providerIds)), matchShared(id))!,
  matchShared,
});
const equalsAny = (ids: unknown) => (column: PgColumn) => sql`${column} = any(${idsParam(ids)})`;

/** Limits a statement that is not prepared to the rows of a page. */
export function matchesKeys(rows: Key[]): KeyPredicate {
  const { providerIds, ids } = toKeySet(rows);
  return toPredicate(providerIds, equalsAny(ids));
}

type Query<Found> = { toSQL(): { sql: string }; prepare(name: string): Prepared<Found[]> };

const tenantParam = sql.placeholder('tenantParam');
const providerIdsParam = sql.placeholder('providerIds');
const byPlaceholders = toPredicate(providerIdsParam, equalsAny(sql.placeholder('ids')));

/** Loads rows by their keys. */
export type BatchLoader<Found> = {
  (context: LoaderContext, keys: Keys): Promise<Found[]>;
  /** Loads, in any order, the provider's rows whose ids a subquery finds; each `statementKey` is prepared once. */
  loadFromSubquery(): (
    context: LoaderContext,
    statementKey: string,
    ids: (tenantParam: Placeholder) => SQLWrapper,
    values: Record<string, unknown>,
  ) => Promise<Found[]>;
};

/** Makes a loader of a query by keys; the statement is prepared once. */
export function batchLoader<Found>(
  build: (context: StatementContext & { providerId: Placeholder }, predicate: KeyPredicate) => Query<Found>,
): BatchLoader<Found> {
  const prepare = (prefix: string = statementPrefix.page) =>
    prepareOnce<Found>((context, predicate) => build({ ...context, providerId: tenantParam }, predicate), prefix);
  const pageQuery = prepare();
  const itemQuery = prepare(statementPrefix.item);
  const queryAfterWrite = prepare(statementPrefix.afterWrite);

  /** Halves the keys where all of them exceed the bound of a statement. */
  async function load(context: LoaderContext, { providerIds, ids }: Keys): Promise<Found[]> {
    const values = {
      tenantParam: context.providerId,
      providerIds: toArrayLiteral(providerIds),
      ids: toArrayLiteral(ids),
    };
    try {
      return await pageQuery(context, '', () => byPlaceholders, values);
    } catch (error) {
      if (!(error instanceof ResultTooLarge) || context.budget?.isExhausted()) throw error;
      if (ids.length === 1) {
        const query = context.budget?.isAfterWrite ? queryAfterWrite : itemQuery;
        return query(context, '', () => byPlaceholders, values);
      }
      const half = Math.ceil(ids.length / 2);
      const first = await load(context, { providerIds, ids: ids.slice(0, half) });
      return first.concat(await load(context, { providerIds, ids: ids.slice(half) }));
    }
  }

  const loadFromSubquery: BatchLoader<Found>['loadFromSubquery'] = () => {
    const query = prepare();
    return (context, statementKey, ids, values) => {
      const { providerId } = context;
      const found: IdCondition = (id) => sql`${id} = any(array(${ids(tenantParam)}))`;
      return query(context, statementKey, () => toPredicate(providerIdsParam, found), {
        ...values,
        tenantParam: providerId,
        providerIds: toArrayLiteral([providerId]),
      });
    };
  };
  return Object.assign(load, { loadFromSubquery });
}

/** Loads the rows of a table by their ids. */
export const rowLoader = <T extends TenantTable>(table: T): BatchLoader<T['$inferSelect']> =>
  batchLoader(
    (ctx, keys) =>
      ctx.db
        .select()
        .from(table as TenantTable)
        .where(keys.match(table, table.id)) as unknown as Query<T['$inferSelect']>,
  );

/** Builds and prepares a query once for each database and `statementKey`. */
function prepareOnce<Found>(
  build: (context: StatementContext, predicate: KeyPredicate) => Query<Found>,
  prefix: string,
) {
  const prepared = new WeakMap<Ctx['db'], Map<string, Prepared<Found[]>>>();
  return async function run(
    { db, budget }: LoaderContext,
    statementKey: string,
    predicate: () => KeyPredicate,
    values: Record<string, unknown>,
  ): Promise<Found[]> {
    const root = queryBuilder.getRoot(db);
    const cached = prepared.get(root) ?? new Map<string, Prepared<Found[]>>();
    prepared.set(root, cached);
    let query = cached.get(statementKey);
    if (!query) {
      const built = build({ db: root }, predicate());
      query = built.prepare(hashedName(prefix, built.toSQL().sql));
      cached.set(statementKey, query);
    }
    const rows = await queryBuilder.executePrepared(db, query, values);
    budget?.take(rows.length, bytesRead.get(rows) ?? 0);
    return rows;
  };
}

/** PostgreSQL's array literal; the driver would quote and escape each id. */
const toArrayLiteral = (ids: number[]) => `{${ids.join(',')}}`;
