import { setImmediate } from 'node:timers/promises';
import { Column, getTableName, is, noopDecoder, SQL, type DriverValueDecoder } from 'drizzle-orm';
import { PgArray } from 'drizzle-orm/pg-core';
import { isLongText } from '../tables/columns.ts';

/** The parser takes a few milliseconds for this number of rows. */
export const rowsPerSlice = 2_000;

/** How the text of a cell is parsed. */
type Kind = 'number' | 'boolean' | 'json' | 'text';

// Character codes: comparing them is faster than comparing strings of one character.
const [quote, minus, zero, nine] = [0x22, 0x2d, 0x30, 0x39];
const [letterT, separator, closing] = [0x74, 0x2c, 0x29];

/**
 * Parses rows that PostgreSQL sent as composite literals one after another, such as `(1,,"of ""two"" words")`. Numbers are
 * integers below 2^53; an empty cell is null. Throws where a cell is not of its kind or the text ends early.
 * @see https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX
 */
export function parseComposites<T>(text: string, kinds: Kind[], toRow: (cells: unknown[]) => T): T[] {
  const rows: T[] = [];
  parseRows(text, 0, kinds, (cells) => rows.push(toRow(cells)));
  return rows;
}

/** `parseComposites` with pauses for the event loop. */
export async function parseInSlices<T>(text: string, kinds: Kind[], toRow: (cells: unknown[]) => T): Promise<T[]> {
  const rows: T[] = [];
  for (let from = 0; from < text.length;) {
    if (from > 0) await setImmediate();
    from = parseRows(text, from, kinds, (cells) => rows.push(toRow(cells)), rowsPerSlice);
  }
  return rows;
}

/** Parses at most `maxRows` rows; returns the position after them. */
function parseRows(text: string, from: number, kinds: Kind[], add: (cells: unknown[]) => void, maxRows = Infinity) {
  const last = kinds.length - 1;
  let at = from;
  for (let rows = 0; at < text.length && rows < maxRows; rows += 1) {
    const cells = new Array<unknown>(kinds.length);
    for (let n = 0; n <= last; n += 1) {
      // Skip the opening parenthesis or the separator.
      at += 1;
      const first = text.charCodeAt(at);
      const kind = kinds[n]!;
      if (first === separator || first === closing) {
        cells[n] = null;
      } else if (kind === 'number') {
        let value = 0;
        if (first === minus) at += 1;
        for (let digit = text.charCodeAt(at); digit >= zero && digit <= nine; digit = text.charCodeAt(at)) {
          value = value * 10 + (digit - zero);
          at += 1;
        }
        cells[n] = first === minus ? -value : value;
      } else if (kind === 'boolean') {
        cells[n] = first === letterT;
        at += 1;
      } else {
        const start = at;
        at = first === quote ? findQuotedEnd(text, start) : text.indexOf(n === last ? ')' : ',', start);
        const cell = first === quote ? unquoted(text.slice(start + 1, at - 1)) : text.slice(start, at);
        cells[n] = kind === 'json' ? JSON.parse(cell) : cell;
      }
      if (text.charCodeAt(at) !== (n === last ? closing : separator)) throw new Error(`cell ${n} is no ${kind}`);
    }
    at += 1;
    add(cells);
  }
  return at;
}

/** The position after the closing quote; a quote inside is doubled. */
function findQuotedEnd(text: string, from: number) {
  let at = text.indexOf('"', from + 1) + 1;
  while (at > 0 && text.charCodeAt(at) === quote) at = text.indexOf('"', at + 1) + 1;
  return at;
}

const unquoted = (cell: string) => (/["\\]/.test(cell) ? cell.replace(/(["\\])\1/g, '$1') : cell);

/** A column of a result, and its place in the object that a row becomes. */
export type Field = { path: string[]; field: unknown };
/** True by table name if its join never returns a null row; false for the nullable side of an outer join. */
export type JoinsNotNull = Record<string, boolean> | undefined;
export type Cells = (string | null)[];
/** `maxBytes` is a parameter of the statement. */
type Bounds = { maxRows: number; maxBytes: string };
type Found<Row> = { rows: Row[]; bytes: number } | undefined;

/**
 * The text of a statement that sends its rows as composite literals in their order, and the decoder of its result: all
 * in one text, or, where a row has long texts, which a literal would quote, one row at a time with its long texts in
 * columns of their own. The database sends nothing beyond the bounds.
 */
export function toCompositeRows<Row>(sql: string, all: Field[], notNull: JoinsNotNull, { maxRows, maxBytes }: Bounds) {
  const [short, long] = [all.filter((one) => !isLong(one)), all.filter(isLong)];
  const kinds = short.map(({ field }) => getKind(field));
  const getName = (one: Field) => `c${all.indexOf(one)}`;
  const cells = short.map((one, n) => (kinds[n] === 'json' ? `to_json(${getName(one)})` : getName(one)));
  const literal = `row(${cells.join(', ')})::text`;
  const bounded = `(select * from (${sql}) as t(${all.map(getName).join(', ')}) limit ${maxRows + 1}) as t`;
  const toRow = compileRowDecoder([...short, ...long], notNull) as (cells: Value[]) => Row;
  const sized = (rows: Row[], bytes: number) => (rows.length > maxRows ? undefined : { rows, bytes });

  async function decodeText([[text = null] = []]: Cells[]): Promise<Found<Row>> {
    return text === null ? undefined : sized(await parseInSlices(text, kinds, toRow), text.length);
  }
  async function decodeEach(sent: Cells[]): Promise<Found<Row>> {
    if (sent.some(([text]) => text === null)) return undefined;
    const rows: Row[] = [];
    for (const [n, [text, ...longCells]] of sent.entries()) {
      if (n > 0 && n % rowsPerSlice === 0) await setImmediate();
      const [row] = parseComposites(text!, kinds, (cells) => toRow([...cells, ...longCells]));
      rows.push(row!);
    }
    return sized(rows, Number(sent.at(-1)?.at(-1) ?? 0));
  }
  return long.length === 0
    ? { text: oneTextSql(literal, bounded, maxBytes), decode: decodeText }
    : { text: rowByRowSql(literal, long.map(getName), bounded, maxBytes), decode: decodeEach };
}

/** One text; null where it is longer than the bound. */
const oneTextSql = (literal: string, rows: string, maxBytes: string) =>
  `select case when octet_length(records) <= ${maxBytes} then records end
    from (select coalesce(string_agg(${literal}, ''), '') as records from ${rows}) as t`;

/** A literal, the long texts and the bytes so far in each row; null beyond the bound. octet_length reads no text. */
function rowByRowSql(literal: string, long: string[], rows: string, maxBytes: string) {
  const bytes = long.map((name) => `coalesce(octet_length(${name}), 0)`).join(' + ');
  const bounded = [literal, ...long].map((column) => `case when bytes <= ${maxBytes} then ${column} end`);
  return `select ${bounded.join(', ')}, bytes
    from (select *, sum(${bytes}) over (rows unbounded preceding) as bytes from ${rows}) as t`;
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

type Value = unknown;
type DecodeRow = (row: Value[]) => Value;

/** Generates code: an object that is filled in a loop takes several times as long to create and to read. */
function compileRowDecoder(fields: Field[], notNull: JoinsNotNull): DecodeRow {
  if (fields.some(({ path }) => path.length > 2)) throw new Error('rows nest one level deep at most');
  const decoders = fields.map(({ field }) => getDecoder(field));
  const toValue = (n: number) =>
    isDecoded(fields[n]!.field)
      ? `row[${n}]`
      : `row[${n}] === null ? null : decoders[${n}].mapFromDriverValue(row[${n}])`;
  const toObject = (members: [name: string, value: string][]) =>
    `({ ${members.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')} })`;
  const toMember = (name: string): [string, string] => {
    const places = fields.flatMap(({ path }, n) => (path[0] === name ? [n] : []));
    const first = places[0]!;
    if (fields[first]!.path.length === 1) return [name, toValue(first)];
    const object = toObject(places.map((n) => [fields[n]!.path[1]!, toValue(n)]));
    const members = places.map((n) => fields[n]!.field);
    const isAbsentable = isOfOuterJoin(members, notNull);
    return [name, isAbsentable ? `row[${first}] === null ? null : ${object}` : object];
  };
  const names = [...new Set(fields.map(({ path }) => path[0]!))];
  const code = `return (row) => ${toObject(names.map(toMember))}`;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the names are those of our own columns
  return (new Function('decoders', code) as (all: typeof decoders) => DecodeRow)(decoders);
}

const identity = Column.prototype.mapFromDriverValue;

/** True for a cell that is the value after parsing. */
function isDecoded(field: unknown) {
  const decoder = getDecoder(field);
  const isParsed = /number|boolean/.test(getKind(field)) || isLongText(field);
  return isParsed || decoder === noopDecoder || decoder.mapFromDriverValue === identity;
}

function getDecoder(field: unknown): DriverValueDecoder<unknown, unknown> {
  if (is(field, Column)) return field;
  const { sql = field } = field as { sql?: unknown };
  return (sql as SQL & { decoder: DriverValueDecoder<unknown, unknown> }).decoder;
}

/** The row of an outer join may be absent: then its first column, a part of its key, is null. */
function isOfOuterJoin(columns: unknown[], notNull: JoinsNotNull) {
  const tables = new Set(columns.map((column) => (is(column, Column) ? getTableName(column.table) : undefined)));
  const [table] = tables;
  return notNull !== undefined && tables.size === 1 && table !== undefined && !notNull[table];
}
