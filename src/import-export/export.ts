import type { Database } from '../database/client.ts';
import { isBulk, getName, tableOf, type BulkRecordType, type Fields, type Item, type Part } from './record-type.ts';
import { kinds } from './record-types/index.ts';

/** How many items are read at once, each time in a short transaction of its own. */
const pageSize = 500;

/**
 * Everything of a provider as lines that an import reads back, refs being the ids as texts. It holds passwords'
 * hashes. What is written meanwhile may be missing from it.
 */
export async function* exportLines(database: Database, providerId: number, only?: string): AsyncGenerator<Fields> {
  for (const kind of kinds) {
    if (only !== undefined && kind.kind !== only) continue;
    const lines = isBulk(kind) ? bulkLines(database, providerId, kind) : await kind.lines(database, providerId);
    for await (const line of lines) yield { kind: kind.kind, ...line };
  }
}

async function* bulkLines(database: Database, providerId: number, kind: BulkRecordType) {
  for (const condition of getPasses(kind)) {
    for (let last = 0; ;) {
      const rows = await getRows(database, kind, `t.id > $2 and ${condition} order by t.id limit ${pageSize}`, [
        providerId,
        last,
      ]);
      yield* await toLines(database, providerId, kind, rows);
      if (rows.length < pageSize) break;
      last = rows.at(-1)!['id'] as number;
    }
  }
}

/** An item that belongs under a newer one comes after it, since a line refers to earlier ones alone. */
function getPasses(kind: BulkRecordType) {
  const own = Object.values(kind.fields).find(({ to }) => to === kind.kind);
  if (own === undefined) return ['true'];
  const column = getName(own.column);
  return [`(t.${column} is null or t.${column} < t.id)`, `t.${column} > t.id`];
}

async function getRows({ pool }: Database, item: Item, condition: string, values: unknown[]) {
  const changed = Object.entries(item.exported ?? {}).map(([column, text]) => `'${column}', ${text}`);
  const { rows } = await pool.query<{ row: Fields }>(
    `select to_jsonb(t) || jsonb_build_object(${changed.join(', ')}) as row from ${tableOf(item)} t
     where t.provider_id = $1 and ${condition}`,
    values,
  );
  return rows.map(({ row }) => row);
}

/** Rows as lines with all their parts: one query for each part of all of them. */
async function toLines(database: Database, providerId: number, item: Item, rows: Fields[]): Promise<Fields[]> {
  const lines = rows.map((row) => ({
    ...('id' in row ? { ref: String(row['id']) } : {}),
    ...Object.fromEntries(
      Object.entries(item.fields).flatMap(([name, { column, to }]) => {
        const value = row[getName(column)];
        if (value === null || value === undefined) return [];
        return [[name, to === undefined ? value : refText(value)]];
      }),
    ),
  })) as Fields[];
  const ids = rows.map((row) => row['id'] as number);
  for (const [name, part] of Object.entries(item.parts ?? {})) {
    const found = await getParts(database, providerId, part, ids);
    rows.forEach((row, n) => {
      const members = found.get(row['id'] as number);
      if (members !== undefined) lines[n]![name] = members;
    });
  }
  return lines;
}

/** What belongs to each owner, by the owner's id, in the form that a line has it. */
async function getParts(database: Database, providerId: number, part: Part, ids: number[]) {
  const owner = getName(part.owner);
  const item: Item = part.form === 'links' ? { table: part.other.table, fields: {} } : part.item;
  const order = part.form === 'links' ? getName(part.other) : hasIds(part) ? 'id' : '1';
  const rows = await getRows(database, item, `t.${owner} = any($2::bigint[]) order by ${order}`, [providerId, ids]);
  const lines = part.form === 'links' ? [] : await toLines(database, providerId, item, rows);
  const found = new Map<number, unknown>();
  rows.forEach((row, n) => {
    const id = row[owner] as number;
    const before = found.get(id);
    if (part.form === 'links')
      found.set(id, [...((before as string[] | undefined) ?? []), refText(row[getName(part.other)])]);
    else if (part.form === 'by-key')
      found.set(id, { ...(before as Fields), [row[getName(part.key)] as string]: lines[n] });
    else if (part.form === 'one') found.set(id, lines[n]);
    else found.set(id, [...((before as Fields[] | undefined) ?? []), lines[n]]);
  });
  return found;
}

/** Ids serve as refs. */
const refText = (id: unknown) => String(id);

const hasIds = (part: Exclude<Part, { form: 'links' }>) => 'kind' in part && part.kind !== undefined;
