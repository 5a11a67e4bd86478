import { hasAnyId } from '../../../database/tables/columns.ts';
import { and, asc, eq, getTableColumns, isNull, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../../database/context.ts';
import { gatherings } from '../../../database/tables/coursedates.ts';
import { locations } from '../../../database/tables/places.ts';
import { grouped } from '../../../lists/relations.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { batchLoader } from '../../../lists/loaders.ts';

/** The gatherings of course dates, in order of time, without those that an update has replaced. */
export const fetchGatherings = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(gatherings),
      ownerId: gatherings.courseDateId,
      isFuture: sql<boolean>`${gatherings.startsAt} > now()`,
    })
    .from(gatherings)
    .where(and(keys.match(gatherings, gatherings.courseDateId), isNull(gatherings.deletedAt)))
    .orderBy(asc(gatherings.startsAt), asc(gatherings.id)),
);

const endsAt = sql`timezone(${gatherings.zone}, ${gatherings.gatheringEndAt})`;
const isOver = sql<boolean>`${endsAt} < now()`;
/** Milliseconds, for comparison: timestamps as text may have different offsets. */
export const toMs = (moment: SQLWrapper) => sql<number>`1000 * extract(epoch from ${moment})`.mapWith(Number);

/** A location as calendars and pages show it. */
export const shownLocation = {
  // Never null, so it must be first: Drizzle uses the first column to detect a missing location.
  isVirtual: locations.isVirtual,
  title: sql<string | null>`coalesce(nullif(${locations.customTitle}, ''), ${locations.title})`,
  address: locations.address,
  zipcode: locations.zipcode,
  city: locations.city,
};

/** `number`: the place among all gatherings of the date. */
const selectShown = (ctx: Pick<Ctx, 'db' | 'providerId'>, ids: number[]) =>
  ctx.db
    .select({
      id: gatherings.id,
      courseDateId: gatherings.courseDateId,
      gatheringAt: gatherings.gatheringAt,
      gatheringEndAt: gatherings.gatheringEndAt,
      startsAtMs: toMs(gatherings.startsAt),
      endsAtMs: toMs(endsAt),
      isOver,
      theme: gatherings.theme,
      description: gatherings.description,
      eventUrl: gatherings.eventUrl,
      location: shownLocation,
      number: sql`row_number() over (partition by ${gatherings.courseDateId}
        order by ${gatherings.startsAt}, ${gatherings.id})`.mapWith(Number),
    })
    .from(gatherings)
    .leftJoin(locations, sameTenant(locations, gatherings, eq(locations.id, gatherings.locationId)))
    .where(matchDates(ctx, ids));
const matchDates = (ctx: Pick<Ctx, 'providerId'>, ids: number[]) =>
  tenantWhere(ctx, gatherings, isNull(gatherings.deletedAt), hasAnyId(gatherings.courseDateId, ids));

export type ShownGathering = Awaited<ReturnType<typeof selectShown>>[number];

/** The first `max` gatherings of these dates as calendars and pages show them, by date, in order of time. */
export async function loadShown(
  ctx: Pick<Ctx, 'db' | 'providerId'>,
  ids: number[],
  max: number,
  order: (SQL | PgColumn)[] = [gatherings.startsAt],
) {
  const found = await selectShown(ctx, ids)
    .orderBy(...order, gatherings.id)
    .limit(max);
  return grouped(
    found.sort((a, b) => a.number - b.number),
    ({ courseDateId }) => courseDateId,
  );
}

/** An order: the next ones, then those that are over, the latest first. */
export const nextFirst = (isOver: SQL, startsAt: PgColumn) => [
  isOver,
  sql`case when ${isOver} then -1 else 1 end * extract(epoch from ${startsAt})`,
];

export type DateWithGatherings<D> = Omit<D, 'gatherings'> & { courseDateId: number; gatherings: ShownGathering[] };

/** Dates with their gatherings in order of time, at most `max`: the next ones, then the latest; none without any. */
export async function withNextGatherings<D extends { courseDateId: number }>(
  ctx: Pick<Ctx, 'db' | 'providerId'>,
  dates: D[],
  max: number,
): Promise<DateWithGatherings<D>[]> {
  const ids = dates.map(({ courseDateId }) => courseDateId);
  const ofDate = await loadShown(ctx, ids, max, nextFirst(isOver, gatherings.startsAt));
  const dated =
    [...ofDate.values()].flat().length < max
      ? []
      : await ctx.db.selectDistinct({ id: gatherings.courseDateId }).from(gatherings).where(matchDates(ctx, ids));
  const datedIds = new Set(dated.map(({ id }) => id));
  return dates
    .filter(({ courseDateId: id }) => ofDate.has(id) || !datedIds.has(id))
    .map((date) => ({ ...date, gatherings: ofDate.get(date.courseDateId) ?? [] }));
}
