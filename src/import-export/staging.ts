import type { Database } from '../database/client.ts';
import { caseFoldedSql } from '../database/tables/columns.ts';
import { ruleOf } from './expected-formats.ts';
import { isBulk, getName, tableOf, type BulkRecordType, type RecordType, type StagedRow } from './record-type.ts';

/** A line as it waits: its rows, and the text that no other item may share. Without rows it is a bad line. */
export type StagedLine = { line: number; kind: string; unique?: string; rows: StagedRow[]; bad?: boolean };
/** `expected` is the form of the fields at fault, where they have one. */
export type BadLine = { line: number; reason: string; expected?: string | undefined };

/**
 * Rows wait in a table of the session, so that nothing of an import is left behind when it breaks off, and a dry run
 * writes nothing at all. It takes a database that holds just one connection.
 */
export async function openStaging({ pool }: Database) {
  await pool.query(`create temporary table import_rows (
    line int not null, part int not null, kind text not null, "table" text not null,
    data jsonb not null, refs jsonb not null, ref_kind text, ref text, unique_text text, bad boolean
  )`);
}

export const closeStaging = ({ pool }: Database) => pool.query('drop table if exists import_rows');

export async function stage({ pool }: Database, lines: StagedLine[]) {
  const rows = lines.flatMap(({ line, kind, unique, rows, bad }) =>
    rows.map((row, part) => ({ line, part, kind, ...row, ...(part === 0 ? { unique_text: unique, bad } : {}) })),
  );
  await pool.query(
    `insert into import_rows select * from json_populate_recordset(null::import_rows, $1)`,
    // Written as the table's columns are named.
    [JSON.stringify(rows)],
  );
}

/** Once all rows wait: they are told apart fast. */
export async function indexStaging({ pool }: Database) {
  await pool.query(`create index on import_rows (kind, line)`);
  await pool.query(`create index on import_rows (ref_kind, ref) where ref is not null`);
  await pool.query('analyze import_rows');
}

/** Lets go of the lines that an earlier run has written already; answers how many they were. */
export async function deleteKnown({ pool }: Database, providerId: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `with known as (
       select r.line from import_rows r join import_refs i on i.provider_id = $1 and i.kind = r.kind and i.ref = r.ref
       where r.part = 0 and r.bad is not true
     ), dropped as (delete from import_rows r using known where r.line = known.line)
     select count(*)::int as count from known`,
    [providerId],
  );
  return rows[0]!.count;
}

/** What can only be seen across lines: the first fault of each line, in the order of the file. */
export async function badLines({ pool }: Database, providerId: number, kinds: RecordType[]): Promise<BadLine[]> {
  const bad = new Map<number, Omit<BadLine, 'line'>>();
  const look = async (text: string, values: unknown[], reason: (row: Found) => string, expected?: string) => {
    const { rows } = await pool.query<Found>(text, values);
    for (const row of rows) if (!bad.has(row.line)) bad.set(row.line, { reason: reason(row), expected });
  };
  await look(repeatedRefs, [], ({ kind, ref, first }) => `The ${kind} ${ref} is on line ${first} already`);
  await look(knownPartRefs, [providerId], ({ kind, ref }) => `The ${kind} ${ref} was imported before`);
  await look(danglingRefs, [providerId], ({ kind, ref }) => `No ${kind} has the ref ${ref} before this line`);
  for (const kind of kinds) {
    if (!isBulk(kind)) continue;
    for (const { field, text } of kind.checks ?? [])
      await look(text, [providerId], () => `Field(s) not valid: ${field}`, ruleOf(field));
    if (kind.unique === undefined) continue;
    const { field } = kind.unique;
    const again = ({ first }: Found) =>
      first === null ? `Another ${kind.kind} has this ${field} already` : `Line ${first} has the same ${field}`;
    await look(repeatedTexts, [kind.kind], again);
    await look(takenTexts(kind), [providerId, kind.kind], again);
  }
  return [...bad].map(([line, why]) => ({ line, ...why })).sort((a, b) => a.line - b.line);
}

type Found = { line: number; kind: string; ref: string; first: number | null };

const repeatedRefs = `
  select * from (
    select line, ref_kind as kind, ref, min(line) over (partition by ref_kind, ref) as first,
      row_number() over (partition by ref_kind, ref order by line, part) as nth
    from import_rows where ref is not null
  ) r where nth > 1 order by line`;

/** Of parts alone: a line whose own ref is known was let go of. */
const knownPartRefs = `
  select r.line, r.ref_kind as kind, r.ref from import_rows r
  join import_refs i on i.provider_id = $1 and i.kind = r.ref_kind and i.ref = r.ref
  where r.part > 0 order by r.line`;

const danglingRefs = `
  select distinct r.line, f.value->>0 as kind, f.value->>1 as ref from import_rows r, jsonb_each(r.refs) f
  where not exists (select from import_rows b where b.ref_kind = f.value->>0 and b.ref = f.value->>1 and (b.line, b.part) < (r.line, r.part))
    and not exists (
      select from import_refs i where i.provider_id = $1 and i.kind = f.value->>0 and i.ref = f.value->>1
    ) order by 1`;

const foldedText = caseFoldedSql('unique_text');
const repeatedTexts = `
  select * from (
    select line, min(line) over (partition by ${foldedText}) as first,
      row_number() over (partition by ${foldedText} order by line) as nth
    from import_rows where kind = $1 and unique_text is not null
  ) r where nth > 1 order by line`;

const takenTexts = (kind: BulkRecordType) => {
  const { field, among } = kind.unique!;
  const column = `t.${getName(kind.fields[field]!.column)}`;
  return `select r.line, null::int as first from import_rows r
    where r.kind = $2 and r.unique_text is not null and exists (
      select from ${tableOf(kind)} t
      where t.provider_id = $1 and ${caseFoldedSql(column)} = ${caseFoldedSql('r.unique_text')}
        and ${among}
    ) order by 1`;
};

/** From which line to which the lines of a kind stand, so many at once. */
export async function getRanges({ pool }: Database, kind: string, atOnce: number) {
  const { rows } = await pool.query<{ first: number; last: number }>(
    `select min(line) as first, max(line) as last from (
       select line, (row_number() over (order by line) - 1) / $2 as batch from import_rows where kind = $1 and part = 0
     ) numbered group by batch order by batch`,
    [kind, atOnce],
  );
  return rows;
}
