import { setImmediate } from 'node:timers/promises';
import { Column, getTableName, is, noopDecoder, SQL, type DriverValueDecoder } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { PgArray } from 'drizzle-orm/pg-core';
import type { Pool, PoolClient } from 'pg';
import {
  bytesRead,
  maxResultBound,
  resultAfterWrite,
  ResultTooLarge,
  defaultResultBound,
  type ResultBound,
} from './result-bounds.ts';
import { readManyRecords, parseComposites, recordsAtOnce, type Kind } from './composite-literals.ts';
import { isLongText } from '../tables/columns.ts';

type Field = { path: string[]; field: unknown };
type Value = unknown;
type Nullable = Record<string, boolean> | undefined;

/** As far as it is needed here; the query builder's types keep it to themselves. */
type Prepared = { customResultMapper?: (rows: Value[][]) => unknown; joinsNotNullableMap?: Nullable };
type Query = { sql: string };
type Prepare = (query: Query, fields: Field[] | undefined, name: string | undefined, ...rest: unknown[]) => Prepared;
type Session = { prepareQuery: Prepare };

/** How the name of a statement begins whose rows are to come as records: read at once they take a fraction of cell by cell. */
export const asRecords = 'r_';
/** Name prefix of a statement about one row, bounded by `largestResult`. */
export const asManyRecords = 'r_m_';
/** Name prefix of a statement that reads a row after a write, bounded by `resultAfterWrite`. */
export const asRecordsAfterWrite = 'r_w_';

/** How columns are named that have no other name. */
export const casing = 'snake_case';

/**
 * The query builder over a connection or a pool. It reads rows as it always does, but for a statement with a name it decides
 * once how each column is read, and not anew for each value of each row.
 */
export function createQueryBuilder(client: Pool | PoolClient): NodePgDatabase {
  const builder = drizzle({ client, casing });
  const { session } = builder as unknown as { session: Session };
  const { prepareQuery } = session;
  session.prepareQuery = (query, fields, name, ...rest) => {
    const records = fields && name?.startsWith(asRecords) ? getRecords(fields, getBound(name)) : undefined;
    const asked = records ? { ...query, sql: records.toSql(query.sql) } : query;
    const prepared = prepareQuery.call(session, asked, fields, name, ...rest);
    // To write a reader out pays for what is asked again and again.
    if (fields && name && !prepared.customResultMapper) {
      let read: Read | undefined;
      prepared.customResultMapper = (rows) => {
        read ??= compileRowDecoder(records?.fields ?? fields, prepared.joinsNotNullableMap, records !== undefined);
        return records ? records.read(rows as (string | null)[][], read) : rows.map(read);
      };
    }
    return prepared;
  };
  return builder;
}

function getBound(name: string) {
  if (name.startsWith(asRecordsAfterWrite)) return resultAfterWrite;
  return name.startsWith(asManyRecords) ? maxResultBound : defaultResultBound;
}

/**
 * How rows of these fields come as records, in their order: one after another in one text, or, where a row has long texts,
 * which a record would quote, each with those beside it. `fields` are in the order of their cells. The database sends
 * nothing beyond the bound.
 */
function getRecords(all: Field[], bound: ResultBound) {
  const [short, long] = [all.filter((one) => !isLong(one)), all.filter(isLong)];
  const kinds = short.map(({ field }) => getKind(field));
  const getName = (one: Field) => `c${all.indexOf(one)}`;
  const cells = short.map((one, n) => (kinds[n] === 'json' ? `to_json(${getName(one)})` : getName(one)));
  const record = `row(${cells.join(', ')})::text`;
  const longNames = long.map(getName);
  const bounded = (text: string) =>
    `(select * from (${text}) as t(${all.map(getName).join(', ')}) limit ${bound.rows + 1}) as t`;
  const inOneText = (text: string) =>
    `select case when octet_length(records) <= ${bound.bytes} then records end
      from (select coalesce(string_agg(${record}, ''), '') as records from ${bounded(text)}) as t`;
  // The size of a text is known without reading it.
  const bytes = longNames.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ');
  const oneByOne = (text: string) =>
    `select ${[record, ...longNames].map((cell) => `case when bytes <= ${bound.bytes} then ${cell} end`).join(', ')}, bytes
      from (select *, sum(${bytes}) over (rows unbounded preceding) as bytes from ${bounded(text)}) as t`;

  function readText(rows: (string | null)[][], read: Read) {
    const text = rows[0]![0] ?? null;
    if (text === null) throw new ResultTooLarge();
    if (bound !== defaultResultBound)
      return readManyRecords(text, kinds, read).then((found) => sized(found, text.length));
    return sized(parseComposites(text, kinds, read), text.length);
  }
  function readEach(rows: (string | null)[][], read: Read) {
    if (rows.some(([text]) => text === null)) throw new ResultTooLarge();
    const size = Number(rows.at(-1)?.at(-1) ?? 0);
    const readOne = ([text, ...beside]: (string | null)[]) =>
      parseComposites(text!, kinds, (row) => read([...row, ...beside]))[0];
    return bound === defaultResultBound ? sized(rows.map(readOne), size) : readInSlices();

    async function readInSlices() {
      const found: Value[] = [];
      for (let from = 0; from < rows.length; from += recordsAtOnce) {
        if (from > 0) await setImmediate();
        for (const row of rows.slice(from, from + recordsAtOnce)) found.push(readOne(row));
      }
      return sized(found, size);
    }
  }
  function sized(found: Value[], size: number) {
    if (found.length > bound.rows) throw new ResultTooLarge();
    bytesRead.set(found, size);
    return found;
  }
  const isInOneText = long.length === 0;
  return {
    fields: [...short, ...long],
    toSql: isInOneText ? inOneText : oneByOne,
    read: isInOneText ? readText : readEach,
  };
}

const isLong = ({ field }: Field) => isLongText(field);

/** An expression comes as JSON, which tells its type: a numeric is a number there. So does an array, for its members. */
function getKind(field: unknown): Kind {
  const decoder = getDecoder(field);
  if (!is(decoder, Column) || is(decoder, PgArray)) return 'json';
  const type = decoder.getSQLType();
  if (decoder.dataType === 'number' && /^(big|small)?(int|integer|serial)$/.test(type)) return 'number';
  return type === 'boolean' ? 'boolean' : 'text';
}

type Read = (row: Value[]) => Value;

function compileRowDecoder(fields: Field[], notNull: Nullable, areRecords: boolean): Read {
  const reads = fields.map(({ field }, n) => getRead(field, n, areRecords));
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

/** Written out member by member, since an object that is filled in a loop takes several times as long to make and to read. */
function compileObject(names: string[], reads: Read[]): Read {
  const members = names.map(
    (name, n) =>
      `${JSON.stringify(name)}: ${getPlace.has(reads[n]!) ? `row[${getPlace.get(reads[n]!)}]` : `reads[${n}](row)`}`,
  );
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the names are those of our own columns
  return (new Function('reads', `return (row) => ({ ${members.join(', ')} })`) as (reads: Read[]) => Read)(reads);
}

const identity = Column.prototype.mapFromDriverValue;
/** The place of each column that is taken as it comes. */
const getPlace = new WeakMap<Read, number>();

function getRead(field: unknown, n: number, isRecord: boolean): Read {
  const decoder = getDecoder(field);
  const isRead = isRecord && (/number|boolean/.test(getKind(field)) || decoder === noopDecoder || isLongText(field));
  if (isRead || decoder.mapFromDriverValue === identity) {
    const read: Read = (row) => row[n];
    getPlace.set(read, n);
    return read;
  }
  return (row) => (row[n] === null ? null : decoder.mapFromDriverValue(row[n]));
}

function getDecoder(field: unknown): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field;
  const { sql = field } = field as { sql?: unknown };
  return (sql as SQL & { decoder: DriverValueDecoder<unknown, unknown> }).decoder;
}

/** The row of an outer join may be absent: then its first column is null, which is part of its key. */
function isAbsentable(columns: unknown[], notNull: Nullable) {
  const tables = new Set(columns.map((column) => (is(column, Column) ? getTableName(column.table) : undefined)));
  const [table] = tables;
  return notNull !== undefined && tables.size === 1 && table !== undefined && !notNull[table];
}
