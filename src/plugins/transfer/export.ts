import type { Database } from '../../database/client.ts';
import { columnName } from '../../database/tables/columns.ts';
import { isBulk, tableName, type BulkRecordType, type Fields, type Item, type Part } from './record-type.ts';
import { recordTypes } from './record-types/index.ts';
import { itemAt } from '../../core/errors.ts';

/** Items per query. */
const pageSize = 500;

/** Exports a provider as lines for `importLines`, with ids as refs and with password hashes. Not a snapshot. */
export async function* exportLines(database: Database, providerId: number, only?: string): AsyncGenerator<Fields> {
  for (const kind of recordTypes) {
    if (only !== undefined && kind.kind !== only) continue;
    const lines = isBulk(kind) ? exportBulk(database, providerId, kind) : await kind.export(database, providerId);
    for await (const line of lines) yield { kind: kind.kind, ...line };
  }
}

async function* exportBulk(database: Database, providerId: number, kind: BulkRecordType) {
  for (const condition of exportConditions(kind)) {
    for (let last = 0; ;) {
      const rows = await loadRows(database, kind, `t.id > $2 and ${condition} order by t.id limit ${pageSize}`, [
        providerId,
        last,
      ]);
      yield* await toLines(database, providerId, kind, rows);
      if (rows.length < pageSize) break;
      last = itemAt(rows, rows.length - 1)['id'] as number;
    }
  }
}

/** Conditions of one or two passes: a child that is older than its parent follows it, since lines refer only to earlier ones. */
function exportConditions(kind: BulkRecordType) {
  const parent = Object.values(kind.fields).find(({ to }) => to === kind.kind);
  if (parent === undefined) return ['true'];
  const column = columnName(parent.column);
  return [`(t.${column} is null or t.${column} < t.id)`, `t.${column} > t.id`];
}

async function loadRows({ pool }: Database, item: Item, condition: string, values: unknown[]) {
  const overrides = Object.entries(item.exported ?? {}).map(([column, text]) => `'${column}', ${text}`);
  const { rows } = await pool.query<{ row: Fields }>(
    `select to_jsonb(t) || jsonb_build_object(${overrides.join(', ')}) as row from ${tableName(item)} t
     where t.provider_id = $1 and ${condition}`,
    values,
  );
  return rows.map(({ row }) => row);
}

/** Converts rows to lines with their parts, with one query per part. */
async function toLines(database: Database, providerId: number, item: Item, rows: Fields[]): Promise<Fields[]> {
  const lines: Fields[] = rows.map((row) => ({
    ...('id' in row ? { ref: String(row['id']) } : {}),
    ...Object.fromEntries(
      Object.entries(item.fields).flatMap<[string, unknown]>(([name, { column, to }]) => {
        const value = row[columnName(column)];
        if (value === null || value === undefined) return [];
        return [[name, to === undefined ? value : toRef(value)]];
      }),
    ),
  }));
  const ids = rows.map((row) => row['id'] as number);
  for (const [name, part] of Object.entries(item.parts ?? {})) {
    const partsByOwner = await loadParts(database, providerId, part, ids);
    rows.forEach((row, n) => {
      const members = partsByOwner.get(row['id'] as number);
      if (members !== undefined) lines[n]![name] = members;
    });
  }
  return lines;
}

/** Parts as they appear in a line, by owner id. */
async function loadParts(database: Database, providerId: number, part: Part, ids: number[]) {
  const owner = columnName(part.owner);
  const item: Item = part.form === 'links' ? { table: part.other.table, fields: {} } : part.item;
  const order = part.form === 'links' ? columnName(part.other) : hasIds(part) ? 'id' : '1';
  const condition = `t.${owner} = any($2::bigint[]) and ${part.exported ?? 'true'}`;
  const rows = await loadRows(database, item, `${condition} order by ${order}`, [providerId, ids]);
  const lines = part.form === 'links' ? [] : await toLines(database, providerId, item, rows);
  const partsByOwner = new Map<number, unknown>();
  rows.forEach((row, n) => {
    const id = row[owner] as number;
    const previous = partsByOwner.get(id);
    if (part.form === 'links')
      partsByOwner.set(id, [...((previous as string[] | undefined) ?? []), toRef(row[columnName(part.other)])]);
    else if (part.form === 'by-key')
      partsByOwner.set(id, { ...(previous as Fields), [row[columnName(part.key)] as string]: lines[n] });
    else if (part.form === 'one') partsByOwner.set(id, lines[n]);
    else partsByOwner.set(id, [...((previous as Fields[] | undefined) ?? []), lines[n]]);
  });
  return partsByOwner;
}

const toRef = (id: unknown) => String(id);

const hasIds = (part: Exclude<Part, { form: 'links' }>) => 'kind' in part && part.kind !== undefined;
