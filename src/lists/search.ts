import { eq, or, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { Title } from '../core/schema/types.ts';
import type { Ctx } from '../database/context.ts';
import { searchedWords, searchQuery } from '../database/tables/columns.ts';
import type { Filter } from './filter-types.ts';
import { sameTenant, tenantWhere, type TenantTable } from './tenant-scope.ts';

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
export function search(table: TenantTable, { description, related, withId = false }: Search): Filter<typeof Query> {
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
