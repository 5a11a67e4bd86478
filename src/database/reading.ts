import { Column, getTableName, is, noopDecoder, SQL, type DriverValueDecoder } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { readRecords, type Kind } from './records.ts';

type Field = { path: string[]; field: unknown };
type Value = unknown;
type Nullable = Record<string, boolean> | undefined;

/** As far as it is needed here; the query builder's types keep it to themselves. */
type Prepared = { customResultMapper?: (rows: Value[][]) => unknown; joinsNotNullableMap?: Nullable };
type Query = { sql: string };
type Prepare = (query: Query, fields: Field[] | undefined, name: string | undefined, ...rest: unknown[]) => Prepared;
type Session = { prepareQuery: Prepare };

/** How the name of a statement begins whose rows are to come as one text: read at once they take a fraction of cell by cell. */
export const inOneText = 't_';

/**
 * The query builder over a connection or a pool. It reads rows as it always does, but for a statement with a name it decides
 * once how each column is read, and not anew for each value of each row.
 */
export function builderOn(client: Pool | PoolClient): NodePgDatabase {
  const builder = drizzle({ client, casing: 'snake_case' });
  const { session } = builder as unknown as { session: Session };
  const { prepareQuery } = session;
  session.prepareQuery = (query, fields, name, ...rest) => {
    const isText = fields !== undefined && name?.startsWith(inOneText) === true;
    const asked = isText ? { ...query, sql: asOneText(query.sql, fields) } : query;
    const prepared = prepareQuery.call(session, asked, fields, name, ...rest);
    // To write a reader out pays for what is asked again and again.
    if (fields && name && !prepared.customResultMapper) {
      let read: Read | undefined;
      const kinds = fields.map(({ field }) => kindOf(field));
      prepared.customResultMapper = (rows) => {
        read ??= readerOf(fields, prepared.joinsNotNullableMap, isText);
        return isText ? readRecords((rows[0]![0] ?? '') as string, kinds, read) : rows.map(read);
      };
    }
    return prepared;
  };
  return builder;
}

/** The rows one after another, in their order; an expression that tells no type comes as JSON, which does. */
function asOneText(text: string, fields: Field[]) {
  const names = fields.map((_, n) => `c${n}`);
  const cells = fields.map(({ field }, n) => (kindOf(field) === 'json' ? `to_json(c${n})` : `c${n}`));
  return `select string_agg(row(${cells.join(', ')})::text, '') from (${text}) as t(${names.join(', ')})`;
}

function kindOf(field: unknown): Kind {
  const decoder = decoderOf(field);
  if (decoder === noopDecoder) return 'json';
  if (!is(decoder, Column)) return 'text';
  const type = decoder.getSQLType();
  if (/^(big|small)?(int|integer|serial)$/.test(type)) return 'number';
  return type === 'boolean' ? 'boolean' : 'text';
}

type Read = (row: Value[]) => Value;

function readerOf(fields: Field[], notNull: Nullable, isText: boolean): Read {
  const reads = fields.map(({ field }, n) => readOf(field, n, isText));
  if (fields.every(({ path }) => path.length === 1)) {
    return recordOf(
      fields.map(({ path }) => path[0]!),
      reads,
    );
  }
  if (fields.some(({ path }) => path.length > 2)) throw new Error('rows nest one level deep at most');

  const names = [...new Set(fields.map(({ path }) => path[0]!))];
  const parts = names.map((name) => {
    const places = fields.flatMap(({ path }, n) => (path[0] === name ? [n] : []));
    if (fields[places[0]!]!.path.length === 1) return reads[places[0]!]!;
    const read = recordOf(
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
  return recordOf(names, parts);
}

/** Written out member by member, since an object that is filled in a loop takes several times as long to make and to read. */
function recordOf(names: string[], reads: Read[]): Read {
  const members = names.map(
    (name, n) =>
      `${JSON.stringify(name)}: ${placeOf.has(reads[n]!) ? `row[${placeOf.get(reads[n]!)}]` : `reads[${n}](row)`}`,
  );
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the names are those of our own columns
  return (new Function('reads', `return (row) => ({ ${members.join(', ')} })`) as (reads: Read[]) => Read)(reads);
}

const identity = Column.prototype.mapFromDriverValue;
/** The place of each column that is taken as it comes. */
const placeOf = new WeakMap<Read, number>();

function readOf(field: unknown, n: number, isText: boolean): Read {
  const decoder = decoderOf(field);
  const isRead = isText && kindOf(field) !== 'text';
  if (isRead || decoder.mapFromDriverValue === identity) {
    const read: Read = (row) => row[n];
    placeOf.set(read, n);
    return read;
  }
  return (row) => (row[n] === null ? null : decoder.mapFromDriverValue(row[n]));
}

function decoderOf(field: unknown): DriverValueDecoder<unknown, unknown> {
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
