import { setImmediate } from 'node:timers/promises';
import { Column, getTableName, is, noopDecoder, SQL, type DriverValueDecoder } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { PgArray } from 'drizzle-orm/pg-core';
import { parseManyComposites, parseComposites, rowsPerSlice, type Kind } from './composite-literals.ts';
import {
  bytesRead,
  defaultResultBound,
  maxResultBound,
  resultBoundAfterWrite,
  ResultTooLarge,
  statementPrefix,
  type ResultBound,
} from '../result-bounds.ts';
import type { PreparedQuery } from './internals.ts';
import { isLongText } from '../tables/columns.ts';

type Field = { path: string[]; field: unknown };
type Value = unknown;
type Nullable = Record<string, boolean> | undefined;

type Query = { sql: string };
type Prepare = (
  query: Query,
  fields: Field[] | undefined,
  name: string | undefined,
  ...rest: unknown[]
) => PreparedQuery;
type Session = { prepareQuery: Prepare };

/**
 * Replaces how a query builder decodes rows. For a statement with a name the decoder of a row is compiled once; a name
 * that begins with one of `statementPrefix` has its rows sent as composite literals, within a bound.
 */
export function decodeRows(builder: NodePgDatabase): NodePgDatabase {
  const { session } = builder as unknown as { session: Session };
  const { prepareQuery } = session;
  session.prepareQuery = function (this: Session, query, fields, name, ...rest) {
    const composites =
      fields && name?.startsWith(statementPrefix.page) ? toComposites(fields, getBound(name)) : undefined;
    const sent = composites ? { ...query, sql: composites.toSql(query.sql) } : query;
    const prepared = prepareQuery.call(this, sent, fields, name, ...rest);
    // Compiling pays off for statements that are sent again, which have a name.
    if (fields && name && !prepared.customResultMapper) {
      let decode: DecodeRow | undefined;
      prepared.customResultMapper = (rows) => {
        decode ??= compileRowDecoder(
          composites?.fields ?? fields,
          prepared.joinsNotNullableMap,
          composites !== undefined,
        );
        return composites ? composites.decode(rows as (string | null)[][], decode) : rows.map(decode);
      };
    }
    return prepared;
  };
  return builder;
}

function getBound(name: string) {
  if (name.startsWith(statementPrefix.afterWrite)) return resultBoundAfterWrite;
  return name.startsWith(statementPrefix.item) ? maxResultBound : defaultResultBound;
}

/**
 * The rows of a statement as composite literals, in their order: all in one text, or, where a row has long texts, which
 * a literal would quote, one row at a time with its long texts in columns of their own. `all` is in the order of the
 * cells. The database sends nothing beyond the bound.
 */
function toComposites(all: Field[], bound: ResultBound) {
  const [short, long] = [all.filter((one) => !isLong(one)), all.filter(isLong)];
  const kinds = short.map(({ field }) => getKind(field));
  const getName = (one: Field) => `c${all.indexOf(one)}`;
  const names = { all: all.map(getName), long: long.map(getName) };
  const cells = short.map((one, n) => (kinds[n] === 'json' ? `to_json(${getName(one)})` : getName(one)));
  const isInOneText = long.length === 0;
  const sized = (rows: Value[], bytes: number) => {
    if (rows.length > bound.rows) throw new ResultTooLarge();
    bytesRead.set(rows, bytes);
    return rows;
  };
  const decodeInSlices = bound !== defaultResultBound;

  function decodeText(rows: Cells[], decode: DecodeRow) {
    const text = rows[0]![0] ?? null;
    if (text === null) throw new ResultTooLarge();
    return decodeInSlices
      ? parseManyComposites(text, kinds, decode).then((parsed) => sized(parsed, text.length))
      : sized(parseComposites(text, kinds, decode), text.length);
  }
  function decodeEach(rows: Cells[], decode: DecodeRow) {
    if (rows.some(([text]) => text === null)) throw new ResultTooLarge();
    const bytes = Number(rows.at(-1)?.at(-1) ?? 0);
    const decodeOne = ([text, ...others]: Cells) =>
      parseComposites(text!, kinds, (row) => decode([...row, ...others]))[0];
    return decodeInSlices
      ? mapInSlices(rows, decodeOne).then((decoded) => sized(decoded, bytes))
      : sized(rows.map(decodeOne), bytes);
  }
  return {
    fields: [...short, ...long],
    toSql: isInOneText ? allRowsSql(names.all, cells, bound) : rowByRowSql(names, cells, bound),
    decode: isInOneText ? decodeText : decodeEach,
  };
}

type Cells = (string | null)[];

const boundedSql = (text: string, names: string[], bound: ResultBound) =>
  `(select * from (${text}) as t(${names.join(', ')}) limit ${bound.rows + 1}) as t`;

/** One text; null where it is longer than the bound. */
const allRowsSql = (names: string[], cells: string[], bound: ResultBound) => (text: string) =>
  `select case when octet_length(records) <= ${bound.bytes} then records end
      from (select coalesce(string_agg(row(${cells.join(', ')})::text, ''), '') as records
        from ${boundedSql(text, names, bound)}) as t`;

/** A literal, the long texts and the bytes so far in each row; null beyond the bound. octet_length reads no text. */
const rowByRowSql = (names: { all: string[]; long: string[] }, cells: string[], bound: ResultBound) => {
  const bytes = names.long.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ');
  const columns = [`row(${cells.join(', ')})::text`, ...names.long];
  const bounded = columns.map((column) => `case when bytes <= ${bound.bytes} then ${column} end`).join(', ');
  return (text: string) =>
    `select ${bounded}, bytes
      from (select *, sum(${bytes}) over (rows unbounded preceding) as bytes
        from ${boundedSql(text, names.all, bound)}) as t`;
};

async function mapInSlices<T>(rows: Cells[], map: (row: Cells) => T): Promise<T[]> {
  const mapped: T[] = [];
  for (let from = 0; from < rows.length; from += rowsPerSlice) {
    if (from > 0) await setImmediate();
    for (const row of rows.slice(from, from + rowsPerSlice)) mapped.push(map(row));
  }
  return mapped;
}

const isLong = ({ field }: Field) => isLongText(field);

/** An expression is sent as JSON, which has its type: a numeric is a number there. So is an array, for its members. */
function getKind(field: unknown): Kind {
  const decoder = getDecoder(field);
  if (!is(decoder, Column) || is(decoder, PgArray)) return 'json';
  const type = decoder.getSQLType();
  if (decoder.dataType === 'number' && /^(big|small)?(int|integer|serial)$/.test(type)) return 'number';
  return type === 'boolean' ? 'boolean' : 'text';
}

type DecodeRow = (row: Value[]) => Value;

function compileRowDecoder(fields: Field[], notNull: Nullable, areComposites: boolean): DecodeRow {
  const reads = fields.map(({ field }, n) => getRead(field, n, areComposites));
  if (fields.every(({ path }) => path.length === 1)) {
    return compileObject(
      fields.map(({ path }) => path[0]!),
      reads,
    );
  }
  if (fields.some(({ path }) => path.length > 2)) throw new Error('rows nest one level deep at most');

  const names = [...new Set(fields.map(({ path }) => path[0]!))];
  const parts = names.map((name) => {
    const places = fields.flatMap(({ path }, n) => (path[0] === name ? [n] : []));
    if (fields[places[0]!]!.path.length === 1) return reads[places[0]!]!;
    const read = compileObject(
      places.map((n) => fields[n]!.path[1]!),
      places.map((n) => reads[n]!),
    );
    return isAbsentable(
      places.map((n) => fields[n]!.field),
      notNull,
    )
      ? (row: Value[]) => (row[places[0]!] === null ? null : read(row))
      : read;
  });
  return compileObject(names, parts);
}

/** Generated code: an object that is filled in a loop takes several times as long to create and to read. */
function compileObject(names: string[], reads: DecodeRow[]): DecodeRow {
  const members = names.map(
    (name, n) =>
      `${JSON.stringify(name)}: ${columnIndexes.has(reads[n]!) ? `row[${columnIndexes.get(reads[n]!)}]` : `reads[${n}](row)`}`,
  );
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the names are those of our own columns
  return (new Function('reads', `return (row) => ({ ${members.join(', ')} })`) as (reads: DecodeRow[]) => DecodeRow)(
    reads,
  );
}

const identity = Column.prototype.mapFromDriverValue;
/** Position of each column whose value is used unchanged. */
const columnIndexes = new WeakMap<DecodeRow, number>();

function getRead(field: unknown, n: number, isComposite: boolean): DecodeRow {
  const decoder = getDecoder(field);
  const isDecoded =
    isComposite && (/number|boolean/.test(getKind(field)) || decoder === noopDecoder || isLongText(field));
  if (isDecoded || decoder.mapFromDriverValue === identity) {
    const read: DecodeRow = (row) => row[n];
    columnIndexes.set(read, n);
    return read;
  }
  return (row) => (row[n] === null ? null : decoder.mapFromDriverValue(row[n]));
}

function getDecoder(field: unknown): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field;
  const { sql = field } = field as { sql?: unknown };
  return (sql as SQL & { decoder: DriverValueDecoder<unknown, unknown> }).decoder;
}

/** The row of an outer join may be absent: then its first column, a part of its key, is null. */
function isAbsentable(columns: unknown[], notNull: Nullable) {
  const tables = new Set(columns.map((column) => (is(column, Column) ? getTableName(column.table) : undefined)));
  const [table] = tables;
  return notNull !== undefined && tables.size === 1 && table !== undefined && !notNull[table];
}
