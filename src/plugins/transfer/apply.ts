import { sql } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import type { Ctx, WriteCtx } from '../../database/context.ts';
import { itemAt, Problem } from '../../core/errors.ts';
import { classifyError, getRootCause } from '../../core/database-errors.ts';
import { allAreas } from '../../database/areas.ts';
import type { Database, Tx } from '../../database/client.ts';
import { importRefs } from '../../database/tables/imports.ts';
import { columnName } from '../../database/tables/columns.ts';
import { grouped } from '../../lists/relations.ts';
import { type BulkRecordType, type Fields, type Item, type Part, type SingleRecordType } from './record-type.ts';

type Target = { table: PgTable; columns: PgColumn[]; computed: Record<string, string>; hasRefs: boolean };

/** Staged lines of one type. With `asResync` their changes leave one event per resource. */
export type Range = { first: number; last: number; asResync: boolean };

/** Writes the staged lines of a range, all or none, in a few statements. Returns their number. */
export function writeLines(ctx: Ctx, kind: BulkRecordType, { first, last, asResync }: Range): Promise<number> {
  const range = sql`r.provider_id = ${ctx.providerId} and r.kind = ${kind.kind} and r.line between ${first} and ${last}`;
  return ctx.write(allAreas, (w) =>
    withSavepoint(w.tx, async () => {
      if (asResync) await w.tx.execute(sql`select record_as_resync(${ctx.providerId})`);
      let lines = 0;
      for (const target of toTargets(kind)) {
        if (target.hasRefs) await assignIds(w, target, range);
        const { rowCount } = await insertRows(w, target, range);
        if (target.table === kind.table) lines = rowCount ?? 0;
      }
      if (kind.touches) await w.tx.execute(kind.touches(ctx.providerId, w.now, lineIdsSql(ctx, range)));
      await kind.afterInsert?.(w, lineIdsSql(ctx, range));
      return lines;
    }),
  );
}

/** Runs work in a savepoint: a failed statement must not end the larger transaction that an import may be part of. */
async function withSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await tx.execute('savepoint lines');
  try {
    const result = await work();
    await tx.execute('release savepoint lines');
    return result;
  } catch (error) {
    // Fails on a lost connection, which has rolled back anyway.
    await tx.execute('rollback to savepoint lines; release savepoint lines').catch(() => undefined);
    throw error;
  }
}

/** Writes one line through its service; `refused` is the error of the service or of the database. */
export async function writeSingleLine(database: Database, ctx: Ctx, kind: SingleRecordType, line: number) {
  const { fields, ref, content } = await loadSingleLine(database, ctx.providerId, kind, line);
  try {
    const itemId = await kind.create(database, ctx, fields);
    await ctx.write(allAreas, ({ tx }) =>
      tx.insert(importRefs).values({ providerId: ctx.providerId, kind: kind.kind, ref, itemId, content }),
    );
    return { lines: 1 };
  } catch (error) {
    const reason = error instanceof Problem ? error.message : describeRefusal(error);
    if (reason === undefined) throw error;
    return { lines: 0, refused: { line, reason } };
  }
}

/** The reason for which the database refuses the values of a line; undefined for other errors. */
export function describeRefusal(error: unknown) {
  const failure = classifyError(error);
  if (failure?.kind === 'input') return 'A value is out of range';
  if (failure?.kind !== 'rule') return undefined;
  if (failure.constraint !== '') return `Refused by the rule ${failure.constraint}`;
  return `Refused by the database: ${(getRootCause(error) as Error).message}`;
}

/** Fields of a staged line, with refs replaced by ids, and its own ref. */
async function loadSingleLine({ pool }: Database, providerId: number, kind: SingleRecordType, line: number) {
  type Row = { data: Fields; ref: string; content: string; items: Record<string, number> };
  const { rows } = await pool.query<Row>(
    `select r.data, r.ref, r.content, coalesce((
       select jsonb_object_agg(f.key, i.item_id) from jsonb_each(r.refs) f
       join import_refs i on i.provider_id = $1 and i.kind = f.value->>0 and i.ref = f.value->>1
     ), '{}') as items from staged_lines r where r.provider_id = $1 and r.kind = $2 and r.line = $3`,
    [providerId, kind.kind, line],
  );
  const { data, ref, content, items } = itemAt(rows);
  const findId = (name: string, n: number) => items[`${name}/${n}`];
  const resolved = Object.keys(kind.references ?? {}).flatMap<[string, unknown]>((name) => {
    const value = data[name];
    if (value === undefined) return [];
    return [[name, Array.isArray(value) ? value.map((_, n) => findId(name, n)) : findId(name, 0)]];
  });
  return { fields: { ...data, ...Object.fromEntries(resolved) }, ref, content };
}

/** Names of the tables that lines of a bulk type are written to. */
export const tableNames = (kind: BulkRecordType) => toTargets(kind).map(({ table }) => getTableConfig(table).name);

/** Tables of a bulk type in write order, each once: an item before its parts. */
function toTargets(kind: BulkRecordType): Target[] {
  const byTable = grouped(toItemTargets(kind, [], true), ({ table }) => table);
  return [...byTable.values()].map((targets) => ({
    ...itemAt(targets),
    columns: targets.flatMap(({ columns }) => columns),
    computed: Object.assign({}, ...targets.map(({ computed }) => computed)) as Target['computed'],
  }));
}

function toItemTargets(item: Item, more: PgColumn[], hasRefs: boolean): Target[] {
  const { table, fields, derived = {}, parts = {}, computed = {} } = item;
  const columns = [...Object.values(fields).map(({ column }) => column), ...Object.values(derived), ...more];
  return [{ table, columns, computed, hasRefs }, ...Object.values(parts).flatMap(toPartTargets)];
}

function toPartTargets(part: Part): Target[] {
  const { owner } = part;
  if (part.form === 'links')
    return [{ table: part.other.table, columns: [owner, part.other], computed: {}, hasRefs: false }];
  if (part.form === 'by-key') return toItemTargets(part.item, [owner, part.key], false);
  return toItemTargets(part.item, [owner], part.kind !== undefined);
}

/** Assigns ids to refs in file order and stores them in `import_refs`. */
const assignIds = ({ providerId, tx }: WriteCtx, { table }: Target, range: ReturnType<typeof sql>) =>
  tx.execute(sql`
    insert into import_refs (provider_id, kind, ref, item_id, content)
    select ${providerId}, ref_kind, ref, nextval(pg_get_serial_sequence(${getTableConfig(table).name}, 'id')), content
    from (
      select ref_kind, ref, content from staged_lines r
      where ${range} and r.table = ${getTableConfig(table).name} and ref is not null order by line, part
    ) named`);

/** Subquery for the id of a ref; a join would be planned with statistics from before the import. */
const itemIdSql = (ctx: Ctx, kind: string, ref: string) =>
  sql`(select item_id from import_refs where provider_id = ${ctx.providerId} and kind = ${sql.raw(kind)} and ref = ${sql.raw(ref)})`;

/** Query for the ids of the lines' main items. */
const lineIdsSql = (ctx: Ctx, range: ReturnType<typeof sql>) =>
  sql`select ${itemIdSql(ctx, 'r.ref_kind', 'r.ref')} as id from staged_lines r where ${range} and r.part = 0`;

function insertRows(w: WriteCtx, target: Target, range: ReturnType<typeof sql>) {
  const { name, columns } = getTableConfig(target.table);
  // Rows without a ref get their id from the table.
  const standard = new Set(['provider_id', ...(target.hasRefs ? ['id'] : []), 'created_at', 'updated_at']);
  const written = new Set([
    ...columns.map(columnName).filter((column) => standard.has(column)),
    ...target.columns.map(columnName),
  ]);
  const names = sql.raw([...written].join(', '));
  const values = sql.raw([...written].map((column) => target.computed[column] ?? `v.${column}`).join(', '));
  return w.tx.execute(sql`
    insert into ${sql.identifier(name)} (${names}) overriding system value
    select ${values} from staged_lines r
    cross join lateral (
      select coalesce(jsonb_object_agg(f.key, ${itemIdSql(w, 'f.value->>0', 'f.value->>1')}), '{}') as found from jsonb_each(r.refs) f
    ) items
    cross join lateral jsonb_populate_record(null::${sql.identifier(name)}, r.data || items.found || jsonb_build_object(
      'provider_id', ${w.providerId}::bigint, 'id', ${itemIdSql(w, 'r.ref_kind', 'r.ref')},
      'created_at', ${w.now}::text, 'updated_at', ${w.now}::text
    )) v
    where ${range} and r.table = ${name} order by r.line, r.part`);
}
