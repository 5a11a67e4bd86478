import { and, eq, inArray, isNull, ne, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import type { Tx } from '../../database/client.ts';
import { gatheringInstructors, gatherings } from '../../database/tables/coursedates.ts';
import { attendances, participants } from '../../database/tables/participants.ts';
import { instructors, locations } from '../../database/tables/places.ts';
import { defineReferences } from '../../lists/references.ts';
import { sameTenant, tenantWhere } from '../../lists/tenant-scope.ts';
import type { GatheringField } from './body-schema.ts';

type Gathering = ReturnType<typeof toTimes>;
type OwnerDate = { id: number; zone: string };
type DaySpan = { startAt: string; endAt: string };
type Span = DaySpan & { startTimeAt: string | null; endTimeAt: string | null };

const notValid = () => Problem.invalidFields({ notValid: ['gatherings'] });

/** Missing members and contradictory times of gatherings; values that the schema rejects are skipped. */
export function gatheringErrors(input: unknown) {
  const items = Array.isArray(input) ? (input as GatheringField[]) : [];
  const missing = items.flatMap((item, n) => missingMembers(item).map((name) => `gatherings[${n}].${name}`));
  const isComplete = missing.length === 0 && items.every(hasTimes);
  const endsTooEarly = isComplete && items.some((item) => getEnd(item) <= getStart(item));
  return { missing, notValid: endsTooEarly ? ['gatherings'] : [] };
}

const hasTimes = (item: unknown): item is GatheringField =>
  typeof item === 'object' &&
  item !== null &&
  Object.entries(item).every(([name, value]) => typeof value === 'string' || !timeNames.has(name));
const timeNames = new Set(['gathering_at', 'gathering_end_at', 'date', 'time_start', 'time_end']);

/** A day without a time needs the field that holds it. */
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

const toTimes = (input: GatheringField) => ({
  ...input,
  start: getStart(input),
  end: getEnd(input),
  instructors: [...new Set(input.instructors)],
});

/** Appends the time of day to a day. */
const localTime = (moment = '', time = '') => (isDay(moment) ? `${moment} ${time}` : moment);

const references = defineReferences<GatheringField>({
  idLocation: locations.id,
  instructors: instructors.id,
});

/** True if all locations and instructors of gatherings are the provider's. */
export async function haveOwnReferences(items: GatheringField[], scope: Parameters<typeof references.findUnknown>[1]) {
  const idLocation = items.flatMap((item) => item.idLocation ?? []);
  const instructors = items.flatMap((item) => item.instructors ?? []);
  return (await references.findUnknown({ idLocation, instructors }, scope)).length === 0;
}

/** Adds gatherings to a course date, in its time zone. */
export async function addGatherings(ctx: Ctx, tx: Tx, now: string, date: OwnerDate, input: GatheringField[]) {
  if (input.length === 0) return;
  const added = input.map(toTimes);
  const owner = { providerId: ctx.providerId, courseDateId: date.id, zone: date.zone, createdAt: now, updatedAt: now };
  const rows = added.map((gathering) => ({ ...owner, ...toColumns(gathering) }));
  const created = await tx.insert(gatherings).values(rows).returning({ id: gatherings.id });
  await assertInOrder(ctx, tx, date);
  const links = created.flatMap(({ id }, n) => added[n]!.instructors.map((instructorId) => ({ id, instructorId })));
  if (links.length === 0) return;
  // Two arrays: a statement takes at most 65,535 parameters.
  await tx.insert(gatheringInstructors).select(
    sql`select ${ctx.providerId}::bigint, * from unnest(
      ${sql.param(links.map(({ id }) => id))}::bigint[], ${sql.param(links.map(({ instructorId }) => instructorId))}::bigint[])`,
  );
}

/** Replaces the gatherings of a changed course date by those sent, or moves them with it. True if others replace them. */
export async function updateGatherings(
  ctx: Ctx,
  tx: Tx,
  now: string,
  before: Span & OwnerDate,
  after: Span & OwnerDate,
  sent: GatheringField[] | null | undefined,
): Promise<boolean> {
  if (after.zone !== before.zone) await moveGatheringsToZone(ctx, tx, now, after);
  if (sent !== undefined) return replaceGatherings(ctx, tx, now, after, sent ?? []);
  await moveGatherings(ctx, tx, now, before, after);
  return false;
}

/**
 * Replaces the gatherings of a course date, unless they are the same. Those with attendance, or that participants may
 * have in their calendars, are soft-deleted. Returns true if that changed any.
 */
async function replaceGatherings(ctx: Ctx, tx: Tx, now: string, date: OwnerDate, added: GatheringField[]) {
  const old = matchDate(ctx, date.id);
  const before = await tx.select().from(gatherings).where(old).orderBy(gatherings.id);
  if (await areSame(ctx, tx, before, added.map(toTimes))) return false;
  const isAttended = sameTenant(attendances, gatherings, eq(attendances.gatheringId, gatherings.id));
  const isBooked = sameTenant(participants, gatherings, eq(participants.courseDateId, gatherings.courseDateId));
  const stays = sql`(exists (select from ${attendances} where ${isAttended})
    or exists (select from ${participants} where ${isBooked}))`;
  await tx.update(gatherings).set({ deletedAt: now, updatedAt: now }).where(and(old, stays));
  const oldIds = tx.select({ id: gatherings.id }).from(gatherings).where(old);
  await tx
    .delete(gatheringInstructors)
    .where(tenantWhere(ctx, gatheringInstructors, inArray(gatheringInstructors.gatheringId, oldIds)));
  await tx.delete(gatherings).where(old);
  await addGatherings(ctx, tx, now, date, added);
  return true;
}

type StoredGathering = typeof gatherings.$inferSelect;

/** True if these gatherings, in any order, have the same members as the stored ones. */
async function areSame(ctx: Ctx, tx: Tx, stored: StoredGathering[], added: Gathering[]) {
  if (stored.length !== added.length) return false;
  const ids = stored.map(({ id }) => id);
  const links = await tx
    .select()
    .from(gatheringInstructors)
    .where(tenantWhere(ctx, gatheringInstructors, inArray(gatheringInstructors.gatheringId, ids)));
  const listInstructorIds = (id: number) => links.flatMap((link) => (link.gatheringId === id ? link.instructorId : []));
  const keys = stored.map((row) =>
    toKey(toMinute(row.gatheringAt), toMinute(row.gatheringEndAt), row, listInstructorIds(row.id)),
  );
  const addedKeys = added.map((one) => toKey(toMinute(one.start), toMinute(one.end), toColumns(one), one.instructors));
  return JSON.stringify(keys.sort()) === JSON.stringify(addedKeys.sort());
}

const toMinute = (moment: string) => moment.slice(0, 16);

type Members = Partial<Pick<StoredGathering, 'locationId' | 'description' | 'theme' | 'eventUrl'>>;
const toKey = (
  start: string,
  end: string,
  members: { [K in keyof Members]: Members[K] | undefined },
  ids: number[],
) => {
  const { locationId = null, description = null, theme = null, eventUrl = null } = members;
  return JSON.stringify([start, end, locationId, description, theme, eventUrl, [...ids].sort((a, b) => a - b)]);
};

/** Moves all gatherings of a course date to its time zone; their local times stay. */
const moveGatheringsToZone = (ctx: Ctx, tx: Tx, now: string, { id, zone }: OwnerDate) =>
  tx
    .update(gatherings)
    .set({ zone, updatedAt: now })
    .where(tenantWhere(ctx, gatherings, eq(gatherings.courseDateId, id), ne(gatherings.zone, zone)));

/** Throws if a gathering ends before it starts: a daylight saving change may swap the two. */
async function assertInOrder(ctx: Ctx, tx: Tx, { id }: { id: number }) {
  const isSwapped = sql`timezone(${gatherings.zone}, ${gatherings.gatheringEndAt}) <= ${gatherings.startsAt}`;
  if ((await tx.$count(gatherings, matchDate(ctx, id, isSwapped))) > 0) throw notValid();
}

/**
 * True if both days of a course date change, by different amounts, and a gathering within the old days would stay
 * outside the new ones.
 */
export async function needsNewGatherings(ctx: Ctx, tx: Tx, before: Span & { id: number }, after: DaySpan) {
  const [start, end] = countMovedDays(before, after);
  if (start === 0 || end === 0 || start === end || after.endAt < after.startAt) return false;
  const { isWithin, isWhole } = matchSpan(before);
  const staysOutside = sql`not (${isWhole} or ${isWithinDays(after)})`;
  return (await tx.$count(gatherings, matchDate(ctx, before.id, isWithin, staysOutside))) > 0;
}

/**
 * Moves the gatherings of a course date along with it: where both days move by the same number of days, those within
 * the old days; where the times change, those that had the old ones.
 */
async function moveGatherings(
  ctx: Ctx,
  tx: Tx,
  now: string,
  before: Span & OwnerDate,
  after: Span & OwnerDate,
): Promise<void> {
  const { gatheringAt, gatheringEndAt } = gatherings;
  const moved = countMovedDays(before, after);
  const days = moved[0] === moved[1] ? moved[0] : 0;
  const hasNewTimes = before.startTimeAt !== after.startTimeAt || before.endTimeAt !== after.endTimeAt;
  if (days === 0 && moved[0] === moved[1] && !hasNewTimes && before.zone === after.zone) return;

  const { isWithin, isWhole, hadTimes } = matchSpan(before);
  const moment = (column: PgColumn, day: string, timeOfDay: string | null) => sql`
    case when ${isWhole} then ${day}::date else ${column}::date + ${days}::integer end
    + case when ${hadTimes} then coalesce(${timeOfDay}::time, ${toTime(column)}) else ${toTime(column)} end`;
  await tx
    .update(gatherings)
    .set({
      gatheringAt: moment(gatheringAt, after.startAt, after.startTimeAt),
      gatheringEndAt: moment(gatheringEndAt, after.endAt, after.endTimeAt),
      updatedAt: now,
    })
    .where(matchDate(ctx, after.id, isWithin, sql`(${days}::integer <> 0 or ${hadTimes})`));
  await assertInOrder(ctx, tx, after);
}

/** Conditions on the gatherings of a date: within its days, with its times, and from its first day to its last one. */
function matchSpan(date: Span) {
  const { gatheringAt, gatheringEndAt } = gatherings;
  const hadTimes = sql`coalesce(${toTime(gatheringAt)} = ${date.startTimeAt}::time
    and ${toTime(gatheringEndAt)} = ${date.endTimeAt}::time, false)`;
  const isWhole = sql`(${hadTimes} and ${date.startAt} <> ${date.endAt}
    and ${gatheringAt}::date = ${date.startAt}::date and ${gatheringEndAt}::date = ${date.endAt}::date)`;
  return { hadTimes, isWhole, isWithin: isWithinDays(date) };
}

const isWithinDays = ({ startAt, endAt }: DaySpan) => sql`(${gatherings.gatheringAt}::date >= ${startAt}::date
    and ${gatherings.gatheringEndAt}::date <= ${endAt}::date)`;
const toTime = (column: PgColumn) => sql`${column}::time`;
const matchDate = (ctx: Ctx, dateId: number, ...conditions: SQL[]) =>
  tenantWhere(ctx, gatherings, eq(gatherings.courseDateId, dateId), isNull(gatherings.deletedAt), ...conditions);

const countMovedDays = (before: DaySpan, after: DaySpan) =>
  [toDays(before.startAt, after.startAt), toDays(before.endAt, after.endAt)] as const;
const dayMs = 86_400_000;
const toDays = (from: string, to: string) => Math.round((Date.parse(to) - Date.parse(from)) / dayMs);

const toColumns = (gathering: Gathering) => ({
  locationId: gathering.idLocation,
  gatheringAt: gathering.start,
  gatheringEndAt: gathering.end,
  description: gathering.description,
  theme: gathering.theme,
  eventUrl: gathering.event_url,
});
