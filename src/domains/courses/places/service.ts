import { and, asc, eq, or, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database, Reader } from '../../../database/client.ts';
import { folded, matchFolded } from '../../../database/tables/columns.ts';
import { places } from '../../../database/tables/places.ts';

type NewPlace = { title: string; country: string; parentId: number | null };

/** The place with this title (folded), country and parent; added for all providers if missing. */
export async function findOrAddPlace(database: Database, place: NewPlace): Promise<number> {
  return (
    (await findPlace(database.db, place)) ??
    database.writeShared(async ({ tx, now }) => {
      await tx
        .insert(places)
        .values({ ...place, createdAt: now, updatedAt: now })
        .onConflictDoNothing();
      return (await findPlace(tx, place))!;
    })
  );
}

async function findPlace(db: Reader, { title, country, parentId }: NewPlace): Promise<number | undefined> {
  const match = matchFolded(places.title, title);
  const [found] = await db
    .select({ id: places.id })
    .from(places)
    .where(and(eq(places.country, country), sql`coalesce(${places.parentId}, 0) = ${parentId ?? 0}`, match.isEqual))
    .orderBy(match.order, asc(places.id))
    .limit(1);
  return found?.id;
}

const parents = alias(places, 'parent_places');
/** Shorter prefixes match too many titles. */
const minPrefixLength = 3;
/** Two of them are too many; each may have its parent among them. */
const maxEqual = 10;

/** `Herøy (Nordland)` as `Herøy, Nordland`. */
function withComma(text: string) {
  const [, title, parent] = /^(.*)\(([^()]*)\)$/s.exec(text) ?? [];
  const [, first, last] = /^(.*),([^,]*)$/s.exec(parent === undefined ? text : `${title},${parent}`) ?? [];
  return last === undefined ? text : `${first!.trimEnd()}, ${last.trim()}`;
}

/**
 * The best match for a text, folded: an equal title, `title, parent title` or `title (parent title)`, else the
 * shortest title that begins with the text. None if several places have that title; a county is not counted beside
 * its municipality.
 */
async function searchPlace(db: Reader, text: string): Promise<number | null> {
  const foldedText = folded(text);
  const title = folded(places.title);
  const equal = or(
    sql`${title} = ${foldedText}`,
    sql`${title} || ', ' || ${folded(parents.title)} = ${folded(withComma(text))}`,
  );
  const begins = text.length >= minPrefixLength ? sql`starts_with(${title}, ${foldedText})` : undefined;
  const found = await db
    .select({ id: places.id, parentId: places.parentId, title: sql<string>`${title}` })
    .from(places)
    .leftJoin(parents, eq(parents.id, places.parentId))
    .where(or(equal, begins))
    // An equal title is the shortest of those that begin with the text.
    .orderBy(sql`length(${title})`, sql`${places.parentId} is null`, asc(places.id))
    .limit(maxEqual);
  const best = found.filter((place) => place.title === found[0]?.title);
  const parentIds = best.map(({ parentId }) => parentId);
  const [only, ...others] = best.filter(({ id }) => !parentIds.includes(id));
  return only !== undefined && others.length === 0 ? only.id : null;
}

type PlaceInput = Partial<
  Record<'place_by_search' | 'place_additional_info', string | null> & { place_id: number | null }
>;

/**
 * The columns for a course date's place. A search text is used if no place id was sent; without a match it becomes the
 * additional info until there is a place. `searchText`: the current additional info, if it is such a text.
 */
export async function findPlaceForBody(db: Reader, input: PlaceInput, searchText: string | null = null) {
  const { place_id, place_by_search: text, place_additional_info: info } = input;
  const isSearch = typeof text === 'string' && typeof place_id !== 'number';
  const placeId = isSearch ? await searchPlace(db, text) : place_id;
  if (isSearch && placeId === null && typeof info !== 'string')
    return { placeId, placeAdditionalInfo: text, placeIsSought: true };
  const isFound = typeof placeId === 'number';
  const isSought = searchText !== null && (isFound ? info === undefined : info === searchText);
  const newInfo = isSought ? (isFound ? null : undefined) : info;
  return { placeId, placeAdditionalInfo: newInfo, placeIsSought: newInfo === undefined ? undefined : false };
}
