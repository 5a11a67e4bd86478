import { getTableColumns, getTableName, is, sql, type BuildExtraConfigColumns, type SQL } from 'drizzle-orm';
import { toSnakeCase } from 'drizzle-orm/casing';
import {
  bigint,
  customType,
  foreignKey,
  index,
  PgCustomColumn,
  PgDialect,
  pgTable,
  primaryKey,
  text,
  timestamp,
  type AnyPgColumn,
  type PgColumn,
  type PgColumnBuilderBase,
  type PgTable,
  type PgTableExtraConfigValue,
} from 'drizzle-orm/pg-core';

/** Naming of columns without a name of their own. */
export const casing = 'snake_case';

/** `personal`: of or about a person, and erased with it. `financial`: stays with the accounts. */
export type Mark = 'personal' | 'financial' | 'operational';
const markKey = Symbol('mark');

/** Marks a text, JSON, date or array column; those of other types need none. */
const marked =
  (mark: Mark) =>
  <B extends object>(column: B): B => {
    Object.assign((column as { config?: object }).config!, { [markKey]: mark });
    return column;
  };
export const personal = marked('personal');
export const financial = marked('financial');
export const operational = marked('operational');

export const findMark = (column: PgColumn) => (column as unknown as { config: { [markKey]?: Mark } }).config[markKey];

/** The names of a table's columns with a mark, without some. */
export const markedColumns = (table: PgTable, mark: Mark, except: string[] = []) =>
  Object.values(getTableColumns(table))
    .filter((column) => findMark(column) === mark)
    .map(columnName)
    .filter((name) => !except.includes(name));

/** One sequence per table; clients may rely on the order of the ids of a provider only. */
export const id = () => bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity();
export const reference = () => bigint({ mode: 'number' });

const getProviderColumn = ({ table }: AnyPgColumn) => (table as unknown as { providerId: AnyPgColumn }).providerId;

/** A foreign key to a row of the same provider. */
export const tenantKey = (name: string, column: AnyPgColumn, to: AnyPgColumn) =>
  foreignKey({ name, columns: [getProviderColumn(column), column], foreignColumns: [getProviderColumn(to), to] });

const tenantColumns = () => ({ providerId: reference().notNull(), id: id() });

/** A table of rows that a provider owns, with the key of provider and id. */
export const tenantTable = <Name extends string, Columns extends Record<string, PgColumnBuilderBase>>(
  name: Name,
  columns: Columns,
  constraints: (t: BuildExtraConfigColumns<Name, TenantColumns & Columns, 'pg'>) => PgTableExtraConfigValue[],
) =>
  pgTable<Name, TenantColumns & Columns>(name, { ...tenantColumns(), ...columns }, (t) => [
    primaryKey({ name: `${name}_pk`, columns: [t.providerId as AnyPgColumn, t.id as AnyPgColumn] }),
    ...constraints(t),
  ]);
type TenantColumns = ReturnType<typeof tenantColumns>;

/** An index of the rows for which a condition holds. */
export const indexWhere = (name: string, columns: (AnyPgColumn | SQL)[], condition: SQL) =>
  index(name)
    .on(...(columns as [AnyPgColumn]))
    .where(condition);

/** A timestamp with microseconds, read as text in the service's time zone; a JavaScript Date would lose precision. */
export const instant = () => timestamp({ withTimezone: true, precision: 6, mode: 'string' });

/** A long text, which the row decoder reads separately. */
export const longText = customType<{ data: string }>({ dataType: () => 'text' });
export const isLongText = (column: unknown) => is(column, PgCustomColumn) && column.getSQLType() === 'text';

/** The column's name in the database. */
export function columnName(column: PgColumn): string {
  const name = columnNames.get(column) ?? (column.keyAsName ? toSnakeCase(column.name) : column.name);
  columnNames.set(column, name);
  return name;
}
const columnNames = new Map<PgColumn, string>();

type Columns<T extends PgTable> = ReturnType<typeof getTableColumns<T>>;

/** Columns of a table without the named ones and its searched words, to select fewer. */
export const omitColumns = <T extends PgTable, Name extends string & keyof Columns<T>>(
  table: T,
  names: readonly Name[],
) =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).filter(
      ([name]) => name !== wordsName && !(names as readonly string[]).includes(name),
    ),
  ) as Omit<Columns<T>, Name>;

/** All columns of a table but its searched words. */
export const storedColumns = <T extends PgTable>(table: T) => omitColumns(table, []);

/** True for rows with one of the ids: one parameter, since each number of ids would be another prepared text. */
export const hasAnyId = (column: AnyPgColumn, ids: readonly number[]) =>
  sql`${column} = any(${sql.param([...ids])}::bigint[])`;

/** SQL for the current time, for deadlines and pauses. `now()` is the transaction's start, before it waited for the lock. */
export const currentTimeSql = 'clock_timestamp()';
export const currentTime = sql.raw(currentTimeSql);
/** SQL for the start of the transaction. */
export const transactionStart = sql.raw('now()');

/** Set by `ctx.write` from the lock's timestamp, which follows commit order; `now()` does not. */
export const timestamps = () => ({ createdAt: instant().notNull(), updatedAt: instant().notNull() });

export const collation = 'und-x-icu';

/** A column or other expression, or a text that becomes a parameter. */
export type Value = AnyPgColumn | SQL | string;

const dialect = new PgDialect({ casing });
/** An expression of the query builder, for a statement that is written as text: its tables have their own names there. */
export const toSqlText = (expression: SQL) => dialect.sqlToQuery(sql`${expression}`.inlineParams()).sql;

/** SQL for case-insensitive comparison, the same as in the unique indexes. In the C locale `lower()` alone skips Å. */
export const caseFolded = (value: Value) => sql`lower(${value} collate "und-x-icu")`;
export const caseFoldedSql = (expression: string) => toSqlText(caseFolded(sql.raw(expression)));

/** SQL for the comparison of organization numbers: their digits, if they have any. `toDigits` does the same. */
export const digitsOf = (column: AnyPgColumn) =>
  sql`coalesce(nullif(regexp_replace(${column}, '[^0-9]', '', 'g'), ''), ${column})`;
export const toDigits = (text: string) => text.replace(/[^0-9]/g, '') || text;

/** SQL for lists by name: without regard to case, in the Norwegian alphabet, as the filters of the catalog. */
export const inNameOrder = (column: AnyPgColumn) => sql`lower(${column} collate "nb-x-icu")`;

/** SQL for the comparison of names and titles: `foldText` in the database. In the C collation an index serves `like`. */
export const folded = (value: Value) => sql`fold_text(${value}) collate "C"`;
export const foldedSql = (expression: string) => toSqlText(folded(sql.raw(expression)));
/** The rows with an equal name or title; of several, those in another case come last. */
export const matchFolded = (column: AnyPgColumn, value: SQL | string) => ({
  isEqual: sql`${folded(column)} = ${folded(value)}`,
  order: sql`${caseFolded(column)} <> ${caseFolded(value)}`,
});
const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' });
const searchedTexts = new WeakMap<object, string[]>();

/** The column of the words of texts for a search, each below its provider. It belongs to no row that is read. */
export function searchWords(...texts: string[]): object {
  const stored = sql.raw(toWords('provider_id', texts));
  searchedTexts.set(stored, texts);
  return { [wordsName]: tsvector().generatedAlwaysAs(stored) };
}
const wordsName = 'words';
const findWords = (columns: object) => (columns as Record<string, PgColumn | undefined>)[wordsName];

/** The sign between the texts keeps the digits of two from being read as one number. */
const toWords = (providerId: string, texts: string[]) =>
  `search_words(${providerId}, ${texts.map((text) => `coalesce(${text}, '')`).join(` || ' / ' || `)})`;

export const searchIndex = (name: string, columns: object) => index(name).using('gin', findWords(columns)!);

/** The words that are searched in a table, if any; with `isSearched` those of some of its texts. */
export function searchedWords(table: PgTable, isSearched?: (columnName: string) => boolean): SQL | undefined {
  const words = findWords(getTableColumns(table));
  if (words === undefined || isSearched === undefined) return words && sql`${words}`;
  const searched = searchedTexts.get(words.generated!.as as SQL)!.filter(isSearched);
  const inTable = (column: string) => `"${getTableName(table)}"."${column}"`;
  return searched.length > 0 ? sql.raw(toWords(inTable('provider_id'), searched.map(inTable))) : undefined;
}
/** A search for words that begin with those of a text. */
export const searchQuery = (providerId: AnyPgColumn | number, text: string) =>
  sql`search_query(${providerId}, ${text})`;
/** SHA-256 of the links in earlier attempts of the mail with `hash`; they are valid as long as that one. */
export const earlierHashes = () => personal(text().array()).notNull().default([]);
export const earlierHashesIndex = (name: string, t: { earlierHashes: AnyPgColumn }) =>
  index(name)
    .using('gin', t.earlierHashes)
    .where(sql`${t.earlierHashes} <> '{}'`);
/** True for the row of the link with the hash `value`. */
export const hasLink = (hash: AnyPgColumn, earlier: AnyPgColumn, value: Value) =>
  sql`(${hash} = ${value} or ${earlier} <> '{}' and ${earlier} @> array[${value}])`;
