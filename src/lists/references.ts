import { hasAnyId } from '../database/tables/columns.ts';
import { eq, is, isNull, or, sql, type SQL } from 'drizzle-orm';
import { PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import type { Ctx } from '../database/context.ts';
import { Problem } from '../core/errors.ts';
import type { Reader } from '../database/client.ts';
import { tenantWhere, type TenantTable } from './tenant-scope.ts';

/** `params` are the path parameters of the route. */
type Scope = { ctx: Ctx; reader: Pick<Reader, '$count'>; params?: Record<string, number> };
type Check<V> = (value: V, scope: Scope) => Promise<boolean>;
export type References = ReturnType<typeof defineReferences>;
/** Checks of fields that name other items: by the column with their ids, or by a function. */
export type ReferenceChecks<B> = { [K in keyof B]?: PgColumn | Check<NonNullable<B[K]>> };

/** Declares the fields of a body that name other items, by the column of their ids or by a check. */
export function defineReferences<B>(fields: ReferenceChecks<B>) {
  const checks = Object.entries<PgColumn | Check<never> | undefined>(fields).flatMap(([name, one]) =>
    one === undefined ? [] : [[name, (is(one, PgColumn) ? createRowCheck(one) : one) as Check<unknown>] as const],
  );
  async function findUnknown(body: object, scope: Scope) {
    const unknown: string[] = [];
    const values: Record<string, unknown> = { ...body };
    for (const [name, isKnown] of checks) {
      const value = values[name];
      if (value !== undefined && value !== null && !(await isKnown(value, scope))) unknown.push(name);
    }
    return unknown;
  }
  async function assertKnown(body: object, scope: Scope) {
    const notValid = await findUnknown(body, scope);
    if (notValid.length > 0) throw Problem.invalidFields({ notValid });
  }
  return { findUnknown, assertKnown };
}

type Item = number | { id?: number };

/** Rows that no input may name any more, but for an item that names them already. */
const isDetachable = (table: PgTable): table is PgTable & { detachedAt: PgColumn } => 'detachedAt' in table;
const hasProvider = (table: PgTable): table is PgTable & { providerId: PgColumn } => 'providerId' in table;

/** True if each id is a row that the provider may name, or absent; `storedIn` is the item's column with the id. */
export const createRowCheck =
  (column: PgColumn, storedIn?: PgColumn) =>
  async (value: Item | Item[], { ctx, reader, params }: Scope): Promise<boolean> => {
    const ids = new Set([value].flat().flatMap((item) => (typeof item === 'number' ? item : (item.id ?? []))));
    if (ids.size === 0) return true;
    const { table } = column;
    const isNamed = hasAnyId(column, [...ids]);
    const isStored =
      storedIn && params?.['id'] !== undefined ? equalsStored(ctx, column, storedIn, params['id']) : undefined;
    const isAttached = isDetachable(table) ? or(isNull(table.detachedAt), isStored) : undefined;
    const condition = hasProvider(table) ? tenantWhere(ctx, table, isNamed, isAttached) : isNamed;
    return (await reader.$count(table, condition)) === ids.size;
  };

function equalsStored(ctx: Ctx, column: PgColumn, storedIn: PgColumn, id: number): SQL {
  const table = storedIn.table as TenantTable;
  return sql`${column} = (select ${storedIn} from ${table} where ${tenantWhere(ctx, table, eq(table.id, id))})`;
}
