import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { invalidFields } from '../../core/errors.ts';
import type { Tx } from '../../database/client.ts';
import { gatheringInstructors, gatherings } from '../../database/tables/coursedates.ts';
import { attendances } from '../../database/tables/participants.ts';
import { instructors, locations } from '../../database/tables/places.ts';
import { allBelongToTenant, tenantWhere } from '../../lists/tenant-scope.ts';
import type { GatheringField } from './gathering-schema.ts';

type Gathering = ReturnType<typeof readGathering>;
type OwnerDate = { id: number; zone: string };

const notValid = () => invalidFields({ notValid: ['gatherings'] });

/** Gatherings as a write sends them, with both moments as local times; each must end after it begins. */
export const readGatherings = (input: GatheringField[] | null = []) => (input ?? []).map(readGathering);

/** Missing members and contradictory times of gatherings; values that the schema refuses are skipped. */
export function gatheringFaults(input: unknown) {
  const items = Array.isArray(input) ? (input as GatheringField[]) : [];
  const missing = items.flatMap((item, n) => missingMembers(item).map((name) => `gatherings[${n}].${name}`));
  const isReadable = missing.length === 0 && items.every(hasTimes);
  const isDisordered = isReadable && items.some((item) => getEnd(item) <= getStart(item));
  return { missing, notValid: isDisordered ? ['gatherings'] : [] };
}

const hasTimes = (item: unknown): item is GatheringField =>
  typeof item === 'object' &&
  item !== null &&
  [...Object.entries(item)].every(([name, value]) => typeof value === 'string' || !timeNames.has(name));
const timeNames = new Set(['gathering_at', 'gathering_end_at', 'date', 'time_start', 'time_end']);

/** A moment may lack its time of day, which another field then holds. */
function missingMembers(item: GatheringField): string[] {
  if (!hasTimes(item)) return [];
  const { gathering_at, gathering_end_at, date, time_start, time_end } = item;
  const start = gathering_at ?? date;
  const end = gathering_end_at ?? (time_end === undefined ? undefined : 'yyyy-mm-dd');
  return [
    ...(start === undefined ? ['gathering_at'] : isDay(start) && time_start === undefined ? ['time_start'] : []),
    ...(end === undefined && (date === undefined || gathering_at !== undefined) ? ['gathering_end_at'] : []),
    ...(end === undefined && date !== undefined && gathering_at === undefined ? ['time_end'] : []),
    ...(end !== undefined && isDay(end) && time_end === undefined ? ['time_end'] : []),
  ];
}

const isDay = (moment: string) => moment.length === 'yyyy-mm-dd'.length;
const getStart = (input: GatheringField) => localTime(input.gathering_at ?? input.date, input.time_start);
const getEnd = (input: GatheringField) =>
  localTime(input.gathering_end_at ?? getStart(input).slice(0, 10), input.time_end);

const readGathering = (input: GatheringField) => ({
  ...input,
  start: getStart(input),
  end: getEnd(input),
  instructors: [...new Set(input.instructors)],
});

/** A moment that has no time of day yet takes it from the field for it. */
const localTime = (moment = '', time = '') => (isDay(moment) ? `${moment} ${time}` : moment);

/** Puts gatherings on a course date, in its time zone. */
export async function addGatherings(ctx: Ctx, tx: Tx, now: string, date: OwnerDate, added: Gathering[]) {
  if (added.length === 0) return;
  const locationIds = added.flatMap(({ idLocation }) => idLocation ?? []);
  if (!(await allBelongToTenant(ctx, tx, locations, locationIds))) throw notValid();
  const instructorIds = added.flatMap((gathering) => gathering.instructors);
  if (!(await allBelongToTenant(ctx, tx, instructors, instructorIds))) throw notValid();

  const owner = { providerId: ctx.providerId, courseDateId: date.id, zone: date.zone, createdAt: now, updatedAt: now };
  const rows = added.map((gathering) => ({ ...owner, ...toColumns(gathering) }));
  const created = await tx.insert(gatherings).values(rows).returning({ id: gatherings.id });
  const taught = created.flatMap(({ id }, n) => added[n]!.instructors.map((instructorId) => ({ id, instructorId })));
  if (taught.length === 0) return;
  // Two lists instead of a parameter for each value, of which a statement takes only so many.
  await tx.insert(gatheringInstructors).select(
    sql`select ${ctx.providerId}::bigint, * from unnest(
      ${sql.param(taught.map(({ id }) => id))}::bigint[], ${sql.param(taught.map((one) => one.instructorId))}::bigint[])`,
  );
}

/** Puts gatherings in the place of those there were; of these the ones with attendance are kept, as deleted. */
export async function replaceGatherings(ctx: Ctx, tx: Tx, now: string, date: OwnerDate, added: Gathering[]) {
  const old = tenantWhere(ctx, gatherings, eq(gatherings.courseDateId, date.id), isNull(gatherings.deletedAt));
  const attended = sql`exists (select from ${attendances} where ${and(
    eq(attendances.providerId, gatherings.providerId),
    eq(attendances.gatheringId, gatherings.id),
  )})`;
  await tx.update(gatherings).set({ deletedAt: now, updatedAt: now }).where(and(old, attended));
  const oldIds = tx.select({ id: gatherings.id }).from(gatherings).where(old);
  await tx
    .delete(gatheringInstructors)
    .where(tenantWhere(ctx, gatheringInstructors, inArray(gatheringInstructors.gatheringId, oldIds)));
  await tx.delete(gatherings).where(old);
  await addGatherings(ctx, tx, now, date, added);
}

/** Lets all gatherings of a course date follow it into another time zone; their local times stay. */
export const updateGatherings = (ctx: Ctx, tx: Tx, now: string, { id, zone }: OwnerDate) =>
  tx
    .update(gatherings)
    .set({ zone, updatedAt: now })
    .where(tenantWhere(ctx, gatherings, eq(gatherings.courseDateId, id), ne(gatherings.zone, zone)));

const toColumns = (gathering: Gathering) => ({
  locationId: gathering.idLocation,
  gatheringAt: gathering.start,
  gatheringEndAt: gathering.end,
  description: gathering.description,
  theme: gathering.theme,
  eventUrl: gathering.event_url,
});
