import { and, asc, gt, sql, type Placeholder, type SQL } from 'drizzle-orm';
import { opaqueParam, type BatchLoader, type Key, type LoaderContext } from '../loaders.ts';
import type { TenantTable } from '../tenant-scope.ts';
import type { Slice } from './index-probes.ts';

type PreparedQuery = {
  /** Equal for queries whose conditions differ by the provider alone. */
  statementKey: string;
  since_id: number | undefined;
  condition(providerId: Placeholder): SQL | undefined;
};

/** Finds a page in the order of ids and loads its rows with one statement, prepared once for each `statementKey`. */
export function preparedPage<Row extends Key>(table: TenantTable, loader: BatchLoader<Row>) {
  const load = loader.loadFromSubquery();
  return async (
    context: LoaderContext,
    { statementKey, since_id, condition }: PreparedQuery,
    { limit, offset }: Slice,
  ): Promise<Row[]> => {
    const isSince = since_id !== undefined;
    const ids = (providerId: Placeholder) => {
      const ordered = context.db
        .select({ id: table.id })
        .from(table)
        .where(and(condition(providerId), isSince ? gt(table.id, sql.placeholder('since_id')) : undefined))
        .orderBy(asc(table.id));
      const number = (name: string) => opaqueParam(sql.placeholder(name), 'bigint');
      return sql`(${ordered.getSQL()} limit ${number('limit')} offset ${number('offset')})`;
    };
    const rows = await load(context, `${statementKey} ${isSince}`, ids, { since_id, limit, offset });
    return rows.sort((one, other) => one.id - other.id);
  };
}
