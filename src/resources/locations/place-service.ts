import { and, asc, eq, or, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database, Reader } from '../../database/client.ts';
import { caseFolded } from '../../database/tables/columns.ts';
import { places } from '../../database/tables/places.ts';

type NewPlace = { title: string; country: string; parentId: number | null };

/** The place of that title in that country and parent, without regard to case; made for all providers when there is none. */
export async function findOrAddPlace(database: Database, place: NewPlace): Promise<number> {
  return (
    (await findPlace(database.db, place)) ??
    database.writeShared(async (tx, now) => {
      await tx
        .insert(places)
        .values({ ...place, createdAt: now, updatedAt: now })
        .onConflictDoNothing();
      return (await findPlace(tx, place))!;
    })
  );
}

async function findPlace(db: Reader, { title, country, parentId }: NewPlace): Promise<number | undefined> {
  const [found] = await db
    .select({ id: places.id })
    .from(places)
    .where(
      and(
        eq(places.country, country),
        sql`coalesce(${places.parentId}, 0) = ${parentId ?? 0}`,
        sql`${caseFolded(places.title)} = ${caseFolded(title)}`,
      ),
    );
  return found?.id;
}

const parents = alias(places, 'parent_places');
/** A shorter text begins too many titles to mean one of them. */
const shortestBeginning = 3;

/**
 * The place whose title fits a text best, without regard to case: an equal title, also as `title, title of the place it
 * lies in`; else the shortest one that begins with the text. Of equal ones a municipality comes before its county.
 */
export async function searchPlace(db: Reader, text: string): Promise<number | null> {
  const sought = caseFolded(text);
  const title = caseFolded(places.title);
  const equal = or(sql`${title} = ${sought}`, sql`${title} || ', ' || ${caseFolded(parents.title)} = ${sought}`);
  const begins = text.length >= shortestBeginning ? sql`starts_with(${title}, ${sought})` : undefined;
  const [best] = await db
    .select({ id: places.id })
    .from(places)
    .leftJoin(parents, eq(parents.id, places.parentId))
    .where(or(equal, begins))
    // An equal title is the shortest of those that begin with the text.
    .orderBy(sql`length(${places.title})`, sql`${places.parentId} is null`, asc(places.id))
    .limit(1);
  return best?.id ?? null;
}

type Whereabouts = Partial<
  Record<'place_by_search' | 'place_additional_info', string | null> & { place_id: number | null }
>;

/**
 * Where a date is. A search counts when no place was sent; without a match its text stands where the place's would, until
 * there is one. `isSought`: such a text stands there.
 */
export async function findPlaceForBody(db: Reader, input: Whereabouts, isSought = false) {
  const { place_id, place_by_search: text, place_additional_info: info } = input;
  const isSearch = typeof text === 'string' && typeof place_id !== 'number';
  const placeId = isSearch ? await searchPlace(db, text) : place_id;
  if (isSearch && placeId === null && typeof info !== 'string')
    return { placeId, placeAdditionalInfo: text, placeIsSought: true };
  const isFound = isSought && typeof placeId === 'number' && info === undefined;
  const written = isFound ? null : info;
  return { placeId, placeAdditionalInfo: written, placeIsSought: written === undefined ? undefined : false };
}
