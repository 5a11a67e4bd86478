import { and, eq, sql } from 'drizzle-orm';
import type { Database, Reader } from '../../database/client.ts';
import { folded } from '../../database/tables/columns.ts';
import { places } from '../../database/tables/places.ts';

type NewPlace = { title: string; country: string; parentId: number | null };

/** The place of that title in that country and parent, without regard to case; made for all providers when there is none. */
export async function findOrAddPlace(database: Database, place: NewPlace): Promise<number> {
  return (
    (await findPlace(database.db, place)) ??
    database.writeShared(async (tx, at) => {
      await tx
        .insert(places)
        .values({ ...place, createdAt: at, updatedAt: at })
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
        sql`${folded(places.title)} = lower(${title} collate "und-x-icu")`,
      ),
    );
  return found?.id;
}
