import { sql, type Placeholder, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../database/context.ts';
import { prepareRows, type RowStatement, type Select } from '../database/query-builder/index.ts';
import { statementBuilder } from '../database/reader.ts';
import { storedColumns } from '../database/tables/columns.ts';
import { charge, statementBound } from './response-budget.ts';
import { equalsAnyTenant } from './tenant-predicate.ts';
import { allOf, type TenantTable } from './tenant-scope.ts';

/** Identifies one row among all providers' rows. */
export type Key = { providerId: number; id: number };

/** The providers and the ids of a page's rows. */
export type Keys = { providerIds: number[]; ids: number[] };
export const toKeySet = (rows: Key[]): Keys => ({
  providerIds: [...new Set(rows.map((row) => row.providerId))],
  ids: rows.map((row) => row.id),
});

export type LoaderContext = Pick<Ctx, 'db' | 'providerId' | 'budget'>;

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
  match: (table, id) => allOf(equalsAnyTenant(table.providerId, idsParam(providerIds)), matchShared(id)),
  matchShared,
});
const equalsAny = (ids: unknown) => (column: PgColumn) => sql`${column} = any(${idsParam(ids)})`;

/** Limits a statement that is not prepared to the rows of a page. */
export function matchesKeys(rows: Key[]): KeyPredicate {
  const { providerIds, ids } = toKeySet(rows);
  return toPredicate(providerIds, equalsAny(ids));
}

/** A prepared statement is the same for every provider, so it is built without one. */
type Build<Found> = (context: Pick<Ctx, 'db'> & { providerId: Placeholder }, predicate: KeyPredicate) => Select<Found>;

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
export function batchLoader<Found>(build: Build<Found>): BatchLoader<Found> {
  const loadByKeys = prepareOnce(build);
  const load = (context: LoaderContext, { providerIds, ids }: Keys) =>
    loadByKeys(context, '', () => byPlaceholders, {
      providerIds: toArrayLiteral(providerIds),
      ids: toArrayLiteral(ids),
    });

  const loadFromSubquery: BatchLoader<Found>['loadFromSubquery'] = () => {
    const loadBySubquery = prepareOnce(build);
    return (context, statementKey, ids, values) => {
      const found: IdCondition = (id) => sql`${id} = any(array(${ids(tenantParam)}))`;
      const providerIds = toArrayLiteral([context.providerId]);
      return loadBySubquery(context, statementKey, () => toPredicate(providerIdsParam, found), {
        ...values,
        providerIds,
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
        .select(storedColumns(table))
        .from(table as TenantTable)
        .where(keys.match(table, table.id)) as unknown as Select<T['$inferSelect']>,
  );

/** Builds and prepares a query once for each `statementKey`; charges its rows to the budget of the response. */
function prepareOnce<Found>(build: Build<Found>) {
  const statements = new Map<string, RowStatement<Found>>();
  return async function run(
    { db, providerId, budget }: LoaderContext,
    statementKey: string,
    predicate: () => KeyPredicate,
    values: Record<string, unknown>,
  ): Promise<Found[]> {
    let statement = statements.get(statementKey);
    if (!statement) {
      const query = build({ db: statementBuilder, providerId: tenantParam }, predicate());
      statement = prepareRows(query, { maxRows: statementBound.rows });
      statements.set(statementKey, statement);
    }
    const maxBytes = Math.min(statementBound.bytes, budget?.bytes ?? Infinity);
    return charge(budget, await statement(db, { ...values, tenantParam: providerId }, maxBytes));
  };
}

/** PostgreSQL's array literal; the driver would quote and escape each id. */
const toArrayLiteral = (ids: number[]) => `{${ids.join(',')}}`;
