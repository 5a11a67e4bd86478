import { getTableColumns, is, sql, type SQL } from 'drizzle-orm';
import { toSnakeCase } from 'drizzle-orm/casing';
import {
  bigint,
  customType,
  foreignKey,
  getTableConfig,
  index,
  PgCustomColumn,
  text,
  timestamp,
  type AnyPgColumn,
  type PgColumn,
  type PgTable,
} from 'drizzle-orm/pg-core';

/** Naming of columns without a name of their own. */
export const casing = 'snake_case';

/** One sequence per table; clients may rely on the order of the ids of a provider only. */
export const id = () => bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity();
export const reference = () => bigint({ mode: 'number' });

const getProviderColumn = ({ table }: AnyPgColumn) => (table as unknown as { providerId: AnyPgColumn }).providerId;

/** A foreign key to a row of the same provider. */
export const tenantKey = (name: string, column: AnyPgColumn, to: AnyPgColumn) =>
  foreignKey({ name, columns: [getProviderColumn(column), column], foreignColumns: [getProviderColumn(to), to] });

/** A timestamp with microseconds, read as text in the service's time zone; a JavaScript Date would lose precision. */
export const instant = () => timestamp({ withTimezone: true, precision: 6, mode: 'string' });

/** A long text, which the row decoder reads separately. */
export const longText = customType<{ data: string }>({ dataType: () => 'text' });
/** `longText` is the only custom column type. */
export const isLongText = (column: unknown) => is(column, PgCustomColumn);

/** The column's name in the database. */
export function columnName(column: PgColumn): string {
  const name = columnNames.get(column) ?? (column.keyAsName ? toSnakeCase(column.name) : column.name);
  columnNames.set(column, name);
  return name;
}
const columnNames = new Map<PgColumn, string>();

type Columns<T extends PgTable> = ReturnType<typeof getTableColumns<T>>;

/** Columns of a table without the named ones, to select fewer. */
export const omitColumns = <T extends PgTable, Name extends string & keyof Columns<T>>(
  table: T,
  names: readonly Name[],
) =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).filter(([name]) => !(names as readonly string[]).includes(name)),
  ) as Omit<Columns<T>, Name>;

/** SQL for the current time, for deadlines and pauses. `now()` is the transaction's start, before it waited for the lock. */
export const currentTimeSql = 'clock_timestamp()';
export const currentTime = sql.raw(currentTimeSql);
/** SQL for the start of the transaction. */
export const transactionStart = sql.raw('now()');

/** Set by `ctx.write` from the lock's timestamp, which follows commit order; `now()` does not. */
export const timestamps = () => ({ createdAt: instant().notNull(), updatedAt: instant().notNull() });

export const collation = 'und-x-icu';

/** SQL for case-insensitive comparison, the same as in the unique indexes. In the C locale `lower()` alone skips Å. */
export const caseFolded = (value: AnyPgColumn | SQL | string) => sql`lower(${value} collate "und-x-icu")`;
/** `caseFolded` for SQL written as text. */
export const caseFoldedSql = (expression: string) => `lower(${expression} collate "und-x-icu")`;

/** SQL for the comparison of names and titles: `foldText` in the database. In the C collation an index serves `like`. */
export const folded = (value: AnyPgColumn | SQL | string) => sql`fold_text(${value}) collate "C"`;
/** The rows with an equal name or title; of several, those in another case come last. */
export const matchFolded = (column: AnyPgColumn, value: SQL | string) => ({
  isEqual: sql`${folded(column)} = ${folded(value)}`,
  order: sql`${caseFolded(column)} <> ${caseFolded(value)}`,
});
/** An index of the words of texts, each below its provider. A table has at most one. */
export function searchIndex(name: string, providerId: AnyPgColumn, texts: AnyPgColumn[]) {
  const words = toWords(providerId, texts);
  indexedTexts.set(words, { providerId, texts });
  return index(name).using('gin', words);
}
const indexedTexts = new WeakMap<SQL, { providerId: AnyPgColumn; texts: AnyPgColumn[] }>();

function toWords(providerId: AnyPgColumn, texts: AnyPgColumn[]) {
  const text = sql.join(
    texts.map((text) => sql`coalesce(${text}, '')`),
    sql` || ' ' || `,
  );
  return sql`search_words(${providerId}, ${text})`;
}

/** The words in the search index of a table, if it has one; with `isSearched` those of some of its columns. */
export function searchedWords(table: PgTable, isSearched?: (columnName: string) => boolean): SQL | undefined {
  const gin = getTableConfig(table).indexes.find(({ config }) => config.method === 'gin');
  const words = gin?.config.columns[0] as SQL | undefined;
  if (words === undefined || isSearched === undefined) return words;
  const { providerId, texts } = indexedTexts.get(words)!;
  const searched = texts.filter((text) => isSearched(columnName(text)));
  return searched.length > 0 ? toWords(providerId, searched) : undefined;
}
/** A search for words that begin with those of a text. */
export const searchQuery = (providerId: AnyPgColumn | number, text: string) =>
  sql`search_query(${providerId}, ${text})`;
/** SHA-256 of the links in earlier attempts of the mail with `hash`; they are valid as long as that one. */
export const earlierHashes = () => text().array().notNull().default([]);
export const earlierHashesIndex = (name: string, t: Record<'providerId' | 'earlierHashes', AnyPgColumn>) =>
  index(name)
    .on(t.providerId)
    .where(sql`${t.earlierHashes} <> '{}'`);
/** True for the row of the link with the hash `value`. */
export const hasLinkSql = (hash: string, value: string) =>
  `(${hash} = ${value} or earlier_hashes <> '{}' and ${value} = any(earlier_hashes))`;
/** `folded` for SQL written as text. */
export const foldedSql = (expression: string) => `fold_text(${expression}) collate "C"`;
