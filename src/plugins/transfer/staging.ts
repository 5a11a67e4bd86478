import type { Database } from '../../database/client.ts';
import { caseFoldedSql, columnName, foldedSql } from '../../database/tables/columns.ts';
import { hashedRefSql } from '../../database/tables/imports.ts';
import { describeRule } from './expected-formats.ts';
import { isBulk, tableName, type BulkRecordType, type RecordType, type StagedRow } from './record-type.ts';

/** A line's rows, its text that must be unique, and a hash of its fields. */
export type StagedLine = {
  line: number;
  kind: string;
  unique?: string;
  content?: string;
  rows: StagedRow[];
  bad?: boolean;
};
/** `expected` describes the invalid fields. */
export type BadLine = { line: number; reason: string; expected?: string | undefined };

/** Deletes the provider's staged lines: those of an interrupted import before, and the own ones after. */
export const clearStaging = ({ pool }: Database, providerId: number) =>
  pool.query('delete from staged_lines where provider_id = $1', [providerId]);

export async function stageLines({ pool }: Database, providerId: number, lines: StagedLine[]) {
  const rows = lines.flatMap(({ line, kind, unique, content, rows, bad }) =>
    rows.map((row, part) => ({
      ...{ provider_id: providerId, line, part, kind, ...row },
      ...(part === 0 ? { unique_text: unique, content, bad } : {}),
    })),
  );
  const defaults = `json_populate_record(null::staged_lines, json_build_object('staged_at', now()))`;
  await pool.query(`insert into staged_lines select * from json_populate_recordset(${defaults}, $1)`, [
    JSON.stringify(rows),
  ]);
}

/** Called after the last row is staged. */
export const analyzeStaging = ({ pool }: Database) => pool.query('analyze staged_lines');

/** Replaces the refs of erased items by their hashes, so that an import takes those for imported. */
export async function recognizeErased({ pool }: Database, providerId: number) {
  const { rowCount } = await pool.query('select from erasures where provider_id = $1 limit 1', [providerId]);
  if (rowCount === 0) return;
  await pool.query(hashOwnRefs, [providerId]);
  await pool.query(hashReferences, [providerId]);
}

const isErased = (kind: string, ref: string) =>
  `exists (select from import_refs i where i.provider_id = $1 and i.kind = ${kind} and i.ref = ${hashedRefSql(ref)})`;
const hashOwnRefs = `update staged_lines r set ref = ${hashedRefSql('r.ref')}
  where r.provider_id = $1 and r.ref is not null and ${isErased('r.ref_kind', 'r.ref')}`;
const isErasedReference = isErased('f.value->>0', 'f.value->>1');
const hashReferences = `update staged_lines r set refs = (
    select jsonb_object_agg(f.key, case when ${isErasedReference}
      then jsonb_build_array(f.value->>0, ${hashedRefSql('f.value->>1')}) else f.value end) from jsonb_each(r.refs) f)
  where r.provider_id = $1 and exists (select from jsonb_each(r.refs) f where ${isErasedReference})`;

/** Lines whose refs an earlier run imported with other values. */
export async function findChangedLines({ pool }: Database, providerId: number): Promise<BadLine[]> {
  const { rows } = await pool.query<BadRow>(
    `select r.line, r.kind, r.ref from staged_lines r
     join import_refs i on i.provider_id = $1 and i.kind = r.kind and i.ref = r.ref
     where r.provider_id = $1 and r.part = 0 and r.bad is not true and i.content <> r.content order by r.line`,
    [providerId],
  );
  return rows.map(({ line, kind, ref }) => ({
    line,
    reason: `The ${kind} ${ref} was imported before with other values; give it another ref, change it through the interface, or use --skip-changed`,
  }));
}

/** Deletes lines that an earlier run has imported. Returns their number. */
export async function deleteImported({ pool }: Database, providerId: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `with known as (
       select r.line from staged_lines r join import_refs i on i.provider_id = $1 and i.kind = r.kind and i.ref = r.ref
       where r.provider_id = $1 and r.part = 0 and r.bad is not true
     ), dropped as (delete from staged_lines r using known where r.provider_id = $1 and r.line = known.line)
     select count(*)::int as count from known`,
    [providerId],
  );
  return rows[0]!.count;
}

/** Checks across lines. Returns the first error of each bad line, in file order. */
export async function findBadLines({ pool }: Database, providerId: number, kinds: RecordType[]): Promise<BadLine[]> {
  const bad = new Map<number, Omit<BadLine, 'line'>>();
  const findBad = async (
    text: string,
    values: unknown[],
    reason: (row: BadRow) => string,
    expected?: (row: BadRow) => string | undefined,
  ) => {
    const { rows } = await pool.query<BadRow>(text, values);
    for (const row of rows)
      if (!bad.has(row.line)) bad.set(row.line, { reason: reason(row), expected: expected?.(row) });
  };
  await findBad(repeatedRefs, [providerId], ({ kind, ref, first }) => `The ${kind} ${ref} is on line ${first} already`);
  await findBad(importedPartRefs, [providerId], ({ kind, ref }) => `The ${kind} ${ref} was imported before`);
  await findBad(danglingRefs, [providerId], ({ kind, ref }) => `No ${kind} has the ref ${ref} before this line`);
  for (const kind of kinds) {
    if (!isBulk(kind)) continue;
    for (const { field, text } of kind.checks ?? [])
      await findBad(
        text,
        [providerId],
        ({ path = field }) => `Field(s) not valid: ${path}`,
        ({ path = field }) => describeRule(path),
      );
    if (kind.unique === undefined) continue;
    const { field } = kind.unique;
    const describeDuplicate = ({ first }: BadRow) =>
      first === null ? `Another ${kind.kind} has this ${field} already` : `Line ${first} has the same ${field}`;
    await findBad(repeatedTexts(kind), [providerId, kind.kind], describeDuplicate);
    await findBad(existingTexts(kind), [providerId, kind.kind], describeDuplicate);
  }
  return [...bad].map(([line, reason]) => ({ line, ...reason })).sort((a, b) => a.line - b.line);
}

/** `path`: of a field of a part. */
type BadRow = { line: number; kind: string; ref: string; first: number | null; path?: string };

const repeatedRefs = `
  select * from (
    select line, ref_kind as kind, ref, min(line) over (partition by ref_kind, ref) as first,
      row_number() over (partition by ref_kind, ref order by line, part) as nth
    from staged_lines where provider_id = $1 and ref is not null
  ) r where nth > 1 order by line`;

/** Only parts: lines whose own ref was imported are deleted by now. */
const importedPartRefs = `
  select r.line, r.ref_kind as kind, r.ref from staged_lines r
  join import_refs i on i.provider_id = $1 and i.kind = r.ref_kind and i.ref = r.ref
  where r.provider_id = $1 and r.part > 0 order by r.line`;

const danglingRefs = `
  select distinct r.line, f.value->>0 as kind, f.value->>1 as ref from staged_lines r, jsonb_each(r.refs) f
  where r.provider_id = $1
    and not exists (select from staged_lines b where b.provider_id = $1 and b.ref_kind = f.value->>0 and b.ref = f.value->>1 and (b.line, b.part) < (r.line, r.part))
    and not exists (
      select from import_refs i where i.provider_id = $1 and i.kind = f.value->>0 and i.ref = f.value->>1
    ) order by 1`;

const comparable = (kind: BulkRecordType) => (kind.unique!.folded ? foldedSql : caseFoldedSql);
const repeatedTexts = (kind: BulkRecordType) => `
  select * from (
    select line, min(line) over own as first, row_number() over own as nth
    from staged_lines where provider_id = $1 and kind = $2 and unique_text is not null
    window own as (partition by ${comparable(kind)('unique_text')} order by line)
  ) r where nth > 1 order by line`;

const existingTexts = (kind: BulkRecordType) => {
  const { field, among } = kind.unique!;
  const toComparable = comparable(kind);
  const column = `t.${columnName(kind.fields[field]!.column)}`;
  return `select r.line, null::int as first from staged_lines r
    where r.provider_id = $1 and r.kind = $2 and r.unique_text is not null and exists (
      select from ${tableName(kind)} t
      where t.provider_id = $1 and ${toComparable(column)} = ${toComparable('r.unique_text')}
        and ${among}
    ) order by 1`;
};

/** First and last line numbers of batches of at most `batchSize` lines; three rows of parts count as a line. */
export async function loadRanges({ pool }: Database, providerId: number, kind: string, batchSize: number) {
  const { rows } = await pool.query<{ first: number; last: number }>(
    `select min(line) as first, max(line) as last from (
       select line, part, (sum(case part when 0 then 3 else 1 end) over (order by line, part) - 3) / (3 * $3) as batch
       from staged_lines where provider_id = $1 and kind = $2
     ) numbered where part = 0 group by batch order by batch`,
    [providerId, kind, batchSize],
  );
  return rows;
}
