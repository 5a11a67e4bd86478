import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { invalidFields } from '../../core/problem.ts';
import type { Tx } from '../../database/client.ts';
import { gatheringInstructors, gatherings } from '../../database/tables/coursedates.ts';
import { attendances } from '../../database/tables/participants.ts';
import { instructors, locations } from '../../database/tables/places.ts';
import { areOwn, own } from '../../lists/reach.ts';
import type { GatheringField } from './schema.ts';

type Gathering = ReturnType<typeof readGathering>;
type OwnerDate = { id: number; zone: string };

const notValid = () => invalidFields({ notValid: ['gatherings'] });

/** Gatherings as a write sends them, with both moments as local times; each must end after it begins. */
export const readGatherings = (sent: GatheringField[] | null = []) => (sent ?? []).map(readGathering);

function readGathering(sent: GatheringField) {
  const start = localTime(sent.gathering_at ?? sent.date, sent.time_start);
  const end = localTime(sent.gathering_end_at ?? start.slice(0, 10), sent.time_end);
  if (end <= start) throw notValid();
  return { ...sent, start, end, instructors: [...new Set(sent.instructors)] };
}

/** A moment that has no time of day yet takes it from the field for it. */
function localTime(moment: string | undefined, time: string | undefined) {
  if (moment !== undefined && moment.length > 'yyyy-mm-dd'.length) return moment;
  if (moment === undefined || time === undefined) throw notValid();
  return `${moment} ${time}`;
}

/** Puts gatherings on a course date, in its time zone. */
export async function addGatherings(ctx: Ctx, tx: Tx, at: string, date: OwnerDate, added: Gathering[]) {
  if (added.length === 0) return;
  const locationIds = added.flatMap(({ idLocation }) => idLocation ?? []);
  if (!(await areOwn(ctx, tx, locations, locationIds))) throw notValid();
  const instructorIds = added.flatMap((gathering) => gathering.instructors);
  if (!(await areOwn(ctx, tx, instructors, instructorIds))) throw notValid();

  const owner = { providerId: ctx.providerId, courseDateId: date.id, zone: date.zone, createdAt: at, updatedAt: at };
  const rows = added.map((gathering) => ({ ...owner, ...toColumns(gathering) }));
  const made = await tx.insert(gatherings).values(rows).returning({ id: gatherings.id });
  const taught = made.flatMap(({ id }, n) => added[n]!.instructors.map((instructorId) => ({ id, instructorId })));
  if (taught.length === 0) return;
  // Two lists instead of a parameter for each value, of which a statement takes only so many.
  await tx.insert(gatheringInstructors).select(
    sql`select ${ctx.providerId}::bigint, * from unnest(
      ${sql.param(taught.map(({ id }) => id))}::bigint[], ${sql.param(taught.map((one) => one.instructorId))}::bigint[])`,
  );
}

/** Puts gatherings in the place of those there were; of these the ones with attendance are kept, as deleted. */
export async function replaceGatherings(ctx: Ctx, tx: Tx, at: string, date: OwnerDate, added: Gathering[]) {
  const old = own(ctx, gatherings, eq(gatherings.courseDateId, date.id), isNull(gatherings.deletedAt));
  const attended = sql`exists (select from ${attendances} where ${and(
    eq(attendances.providerId, gatherings.providerId),
    eq(attendances.gatheringId, gatherings.id),
  )})`;
  await tx.update(gatherings).set({ deletedAt: at, updatedAt: at }).where(and(old, attended));
  const oldIds = tx.select({ id: gatherings.id }).from(gatherings).where(old);
  await tx
    .delete(gatheringInstructors)
    .where(own(ctx, gatheringInstructors, inArray(gatheringInstructors.gatheringId, oldIds)));
  await tx.delete(gatherings).where(old);
  await addGatherings(ctx, tx, at, date, added);
}

/** Lets all gatherings of a course date follow it into another time zone; their local times stay. */
export const moveGatherings = (ctx: Ctx, tx: Tx, at: string, { id, zone }: OwnerDate) =>
  tx
    .update(gatherings)
    .set({ zone, updatedAt: at })
    .where(own(ctx, gatherings, eq(gatherings.courseDateId, id), ne(gatherings.zone, zone)));

const toColumns = (gathering: Gathering) => ({
  locationId: gathering.idLocation,
  gatheringAt: gathering.start,
  gatheringEndAt: gathering.end,
  description: gathering.description,
  theme: gathering.theme,
  eventUrl: gathering.event_url,
});
