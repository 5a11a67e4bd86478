import { type SQL, eq, or, sql, inArray } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Static, TSchema, TString } from '@sinclair/typebox';
import { Title, EmailParameter, Line, List, Moment, NowOrMoment } from '../core/schema/types.ts';
import type { Ctx } from '../database/context.ts';
import { searchedWords, searchQuery, caseFolded } from '../database/tables/columns.ts';
import { sameTenant, tenantWhere, type TenantTable } from './tenant-scope.ts';

/** A query parameter and the condition that a value makes; undefined makes none. */
export type Filter<S extends TSchema = TSchema> = {
  schema: S;
  /** `query` has the other parameters; `hasSelective` is true if one of them is selective. */
  where(
    value: Static<S>,
    ctx: Ctx,
    query: Record<string, unknown>,
    hasSelective: boolean,
  ): SQL | undefined | Promise<SQL>;
  /** The condition of other providers' rows where the reader is shown some of the members that it reads. */
  whereShown?(value: Static<S>, ctx: Ctx, isShown: (member: string) => boolean): SQL | undefined;
  isConstant?: true;
  /** True for a value that few rows match, by an index of their own. */
  isSelective?(value: Static<S>): boolean;
  /** An index finds the provider's rows, however many there are. */
  indexed?: Indexed<S>;
};

type Indexed<S extends TSchema> = {
  /** The column or expression that the index sorts by after `provider_id`; filters of one column share a probe. */
  column?: PgColumn | SQL;
  /** The condition that the index finds rows by, where `where` is for each row. */
  condition?(value: Static<S>, ctx: Ctx): SQL;
  /** True in the database if `condition` leaves out rows, because too many match. */
  isBroad?(value: Static<S>, ctx: Ctx): SQL;
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a table of filters over different schemas
export type Filters = Record<string, Filter<any>>;

/** `member` is the one that shows its rows to readers of other providers' items. */
type Related = { table: TenantTable; by: PgColumn; member?: string };
type SearchedTable = Related & { words: SQL };
type Search = {
  /** Names the texts in the documentation. */
  description: string;
  /** A table whose texts are searched too, and the column that names its rows. */
  related?: Related;
  /** True if a number is also an id. */
  withId?: boolean;
};

const maxWords = 10;
/** Each word is a scan of the index. */
const Query = Title({ pattern: `^[^\\p{L}\\p{N}]*(?:[\\p{L}\\p{N}]+(?:[^\\p{L}\\p{N}]+|$)){0,${maxWords}}$` });

/** More related rows than this are not collected. */
const maxRelated = 5_000;

/**
 * The filter `q`: each of its words is the start of a word of the texts, as `foldSearch` compares them. The texts are those
 * that are searched in the table, if any, and in the related table.
 */
function search(table: TenantTable, { description, related, withId = false }: Search): Filter<typeof Query> {
  const own = searchedWords(table);
  const other = related && { ...related, words: searchedWords(related.table)! };
  const isId = (q: string) => (withId && /^\s*\d{1,15}\s*$/.test(q) ? eq(table.id, Number(q)) : undefined);
  const condition = (q: string, ctx: Ctx) => {
    const isCollected = other && sql`${other.by} = any(${collect(ctx, other, q)})`;
    return or(isId(q), own && matches(own, ctx.providerId, q), isCollected)!;
  };
  const isBroad = (q: string, ctx: Ctx) => sql`cardinality(${collect(ctx, other!, q)}) > ${maxRelated}`;
  return {
    schema: {
      ...Query,
      description: `Each of at most ${maxWords} words is the start of a word of ${description}, without regard to case, accents and apostrophes; all unless sent`,
    },
    where: (q, ctx) => or(isId(q), own && isMatch(own, table.providerId, q), other && isRelated(ctx, table, other, q)),
    // A text is the member of the name of its column.
    whereShown(q, ctx, isShown) {
      const shown = searchedWords(table, isShown);
      const words = other && searchedWords(other.table, (name) => isShown(`${other.member}.${name}`));
      const related = words && isRelated(ctx, table, { ...other, words }, q);
      return or(shown && isMatch(shown, table.providerId, q), related);
    },
    indexed: { condition, ...(other && { isBroad }) },
  };
}

const matches = (words: SQL, provider: number | PgColumn, q: string) => sql`${words} @@ ${searchQuery(provider, q)}`;

/** A condition on each row. Planned as if half of the rows matched; `@@` alone as one of 200, which are then sorted. */
const isMatch = (words: SQL, provider: PgColumn, q: string) => sql`coalesce(${matches(words, provider, q)}, false)`;

/** The ids of the rows that match, at most one more than `maxRelated`. */
function collect(ctx: Ctx, { table, words }: SearchedTable, q: string): SQL {
  const found = ctx.db
    .select({ id: table.id })
    .from(table)
    .where(tenantWhere(ctx, table, matches(words, ctx.providerId, q)))
    .limit(maxRelated + 1);
  return sql`array(${found})`;
}

/** A condition on each row. For an EXISTS the words of the whole related table would be read into a hash table. */
function isRelated({ db }: Ctx, owner: TenantTable, { table, words, by }: SearchedTable, q: string): SQL {
  const isFound = matches(words, table.providerId, q);
  return sql`${db
    .select({ isFound })
    .from(table)
    .where(sameTenant(table, owner, eq(table.id, by)))}`;
}

const plain = <S extends TSchema>(schema: S, where: Filter<S>['where']): Filter<S> => ({ schema, where });

const constant = <S extends TSchema>(schema: S, where: Filter<S>['where']): Filter<S> => ({
  ...plain(schema, where),
  isConstant: true,
});

const selective = <S extends TSchema>(
  schema: S,
  where: Filter<S>['where'],
  isSelective: (value: Static<S>) => boolean = () => true,
): Filter<S> => ({ ...plain(schema, where), isSelective });

type TextOptions = { description: string; examples?: string[] };

/** Equal in one of the columns, without regard to case; each has an index of its own. */
const caseless =
  (toSchema: (options: TextOptions) => TString) =>
  (options: TextOptions, ...columns: PgColumn[]): Filter<TString> =>
    selective(toSchema(options), (text) =>
      or(...columns.map((column) => sql`${caseFolded(column)} = ${caseFolded(text)}`)),
    );

const indexed = <S extends TSchema>(
  schema: S,
  by: NonNullable<Filter<S>['indexed']>,
  where: Filter<S>['where'],
): Filter<S> => ({
  ...plain(schema, where),
  indexed: by,
});

const valueList = <S extends TSchema & { static: number | string }>(item: S, description: string, column: PgColumn) =>
  indexed(List(item, { description }), { column }, (values) => inArray(column, values));

const parameter = <S extends TSchema>(schema: S) => plain(schema, () => undefined);

const formatHint = 'yyyy-mm-dd or yyyy-mm-dd hh:mm:ss, in the service time zone unless it has an offset';

/** `start_date_at` is `Start date`. */
const toLabel = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replace(/_at$/, '').replaceAll('_', ' ');

const range =
  (toSchema: typeof Moment, formats: string) =>
  <N extends string>(name: N, column: PgColumn) => {
    const instant = (value: string) => (value === 'now' ? sql`now()` : sql`${value}::timestamptz`);
    const bound = (when: string, where: (value: string) => SQL) => ({
      ...plain(toSchema({ description: `${toLabel(name)} ${when} this time: ${formats}` }), where),
      indexed: { column },
    });
    return {
      [`${name}_min`]: bound('at or after', (value) => sql`${column} >= ${instant(value)}`),
      [`${name}_max`]: bound('before', (value) => sql`${column} < ${instant(value)}`),
    } as Record<`${N}_min` | `${N}_max`, Filter<ReturnType<typeof Moment>>>;
  };

const dateRange = range(Moment, formatHint);

/** The kinds of filters that a list declares. */
export const filter = {
  /** A condition on each row. */
  plain,
  /** A constant predicate for each of a few values, the same for every tenant: a prepared statement for each. */
  constant,
  /** A filter that few rows match, such as course dates by their course; for all values unless `isSelective` is given. */
  selective,
  /** `q`: words of the texts of an item. */
  search,
  text: caseless((options) => Line({ minLength: 1, ...options })),
  email: caseless(EmailParameter),
  /** Filters rows by an index, and sorts few; a page of many is found in the order of the list. */
  indexed,
  /** One of several values of an indexed column. */
  valueList,
  /** `<name>_min` is inclusive and `<name>_max` exclusive, so that windows tile. */
  dateRange,
  /** The ranges of `created_at` and `updated_at`. */
  timestamps: ({ createdAt, updatedAt }: { createdAt: PgColumn; updatedAt: PgColumn }) => ({
    ...dateRange('created_at', createdAt),
    ...dateRange('updated_at', updatedAt),
  }),
  /** `dateRange` whose bounds may also be `now`. */
  momentRange: range(NowOrMoment, `\`now\`, ${formatHint}`),
  /** A parameter without a condition of its own, which a service, a loader or another filter reads. */
  parameter,
};
