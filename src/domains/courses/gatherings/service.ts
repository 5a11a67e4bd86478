import { and, eq, getTableColumns, inArray, isNotNull, isNull, ne, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { hasAnyId } from '../../../database/tables/columns.ts';
import { gatheringInstructors, gatherings } from '../../../database/tables/coursedates.ts';
import { attendances, participants } from '../../../database/tables/participants.ts';
import { instructors, locations } from '../../../database/tables/places.ts';
import { defineReferences } from '../../../lists/references.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import type { GatheringField } from './fields.ts';
import {
  matchStored,
  toColumns,
  toKey,
  toTimes,
  type Gathering,
  type Matches,
  type StoredGathering,
} from './input-service.ts';

type OwnerDate = { id: number; zone: string };
type DaySpan = { startAt: string; endAt: string };
type Span = DaySpan & { startTimeAt: string | null; endTimeAt: string | null };

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
export const addGatherings = (w: WriteCtx, date: OwnerDate, input: GatheringField[]) =>
  insertGatherings(w, date, input.map(toTimes));

async function insertGatherings(w: WriteCtx, date: OwnerDate, added: Gathering[]) {
  if (added.length === 0) return;
  const owner = {
    providerId: w.providerId,
    courseDateId: date.id,
    zone: date.zone,
    createdAt: w.now,
    updatedAt: w.now,
  };
  const rows = added.map((gathering) => ({ ...owner, ...toColumns(gathering) }));
  const created = await w.tx.insert(gatherings).values(rows).returning({ id: gatherings.id });
  await assertInOrder(w, date);
  const links = created.flatMap(({ id }, n) => added[n]!.instructors.map((instructorId) => ({ id, instructorId })));
  await linkInstructors(w, links);
}

async function linkInstructors(w: WriteCtx, links: { id: number; instructorId: number }[]) {
  if (links.length === 0) return;
  // Two arrays: a statement takes at most 65,535 parameters.
  await w.tx.insert(gatheringInstructors).select(
    sql`select ${w.providerId}::bigint, * from unnest(
      ${sql.param(links.map(({ id }) => id))}::bigint[], ${sql.param(links.map(({ instructorId }) => instructorId))}::bigint[])`,
  );
}

/** Replaces the gatherings of a changed course date by those sent, or moves them with it. True if others replace them. */
export async function updateGatherings(
  w: WriteCtx,
  before: Span & OwnerDate,
  after: Span & OwnerDate,
  sent: GatheringField[] | null | undefined,
): Promise<boolean> {
  if (after.zone !== before.zone) await moveGatheringsToZone(w, after);
  if (sent !== undefined) return replaceGatherings(w, after, sent ?? []);
  await moveGatherings(w, before, after);
  return false;
}

const isOfGathering = sameTenant(attendances, gatherings, eq(attendances.gatheringId, gatherings.id));

/**
 * Replaces the gatherings of a course date. One that is sent is the stored one with its id, else with both times, else
 * with its begin, else at its position; with attendance, at its position only if both alone are left of one day. Others
 * are deleted, softly where participants may have them in their calendars; throws if attendance of one is registered.
 * Returns true if that changed any.
 */
async function replaceGatherings(w: WriteCtx, date: OwnerDate, input: GatheringField[]) {
  const isMarking = tenantWhere(w, attendances, isOfGathering, isNotNull(attendances.attended));
  const isMarked = sql<boolean>`exists (select from ${attendances} where ${isMarking})`;
  const stored = await w.tx
    .select({ ...getTableColumns(gatherings), isMarked })
    .from(gatherings)
    .where(matchDate(w, date.id))
    .orderBy(gatherings.startsAt, gatherings.id);
  const sent = input.map(toTimes);
  const matches = matchStored(stored, sent);
  const staying = new Set(matches.values());
  const dropped = stored.filter((row) => !staying.has(row));
  const added = sent.filter((one) => !matches.has(one));
  if (dropped.length > 0) await dropGatherings(w, date, dropped);
  const hasChanged = await updateMatched(w, matches);
  if (hasChanged) await assertInOrder(w, date);
  await insertGatherings(w, date, added);
  return hasChanged || dropped.length + added.length > 0;
}

async function dropGatherings(w: WriteCtx, date: OwnerDate, dropped: StoredGathering[]) {
  const ids = dropped.map(({ id }) => id);
  const isDropped = matchDate(w, date.id, hasAnyId(gatherings.id, ids));
  if (dropped.some(({ isMarked }) => isMarked)) {
    const message = 'Field(s) not valid: gatherings: attendance of one that is left out is registered';
    throw Problem.coded('attendance_registered', message, { notValid: ['gatherings'] });
  }
  const isBooked = sameTenant(participants, gatherings, eq(participants.courseDateId, gatherings.courseDateId));
  const stays = sql`(exists (select from ${attendances} where ${isOfGathering})
    or exists (select from ${participants} where ${isBooked}))`;
  await w.tx.update(gatherings).set({ deletedAt: w.now, updatedAt: w.now }).where(and(isDropped, stays));
  const deleted = w.tx.select({ id: gatherings.id }).from(gatherings).where(isDropped);
  await unlinkInstructors(w, inArray(gatheringInstructors.gatheringId, deleted));
  await w.tx.delete(gatherings).where(isDropped);
}

const unlinkInstructors = (w: WriteCtx, isUnlinked: SQL) =>
  w.tx.delete(gatheringInstructors).where(tenantWhere(w, gatheringInstructors, isUnlinked));

/** Writes the members of those that differ; what is not sent is empty. True if any does. */
async function updateMatched(w: WriteCtx, matches: Matches) {
  const ids = [...matches.values()].map(({ id }) => id);
  if (ids.length === 0) return false;
  const links = await w.tx
    .select()
    .from(gatheringInstructors)
    .where(tenantWhere(w, gatheringInstructors, hasAnyId(gatheringInstructors.gatheringId, ids)));
  const changed = [...matches].filter(([one, row]) => {
    const taught = links.flatMap((link) => (link.gatheringId === row.id ? link.instructorId : []));
    return toKey(toColumns(one), one.instructors) !== toKey(row, taught);
  });
  for (const [one, { id }] of changed)
    await w.tx
      .update(gatherings)
      .set({ ...toColumns(one), updatedAt: w.now })
      .where(tenantWhere(w, gatherings, eq(gatherings.id, id)));
  if (changed.length === 0) return false;
  const changedIds = changed.map(([, { id }]) => id);
  await unlinkInstructors(w, hasAnyId(gatheringInstructors.gatheringId, changedIds));
  const relinked = changed.flatMap(([one, { id }]) => one.instructors.map((instructorId) => ({ id, instructorId })));
  await linkInstructors(w, relinked);
  return true;
}

/** Moves all gatherings of a course date to its time zone; their local times stay. */
const moveGatheringsToZone = (w: WriteCtx, { id, zone }: OwnerDate) =>
  w.tx
    .update(gatherings)
    .set({ zone, updatedAt: w.now })
    .where(tenantWhere(w, gatherings, eq(gatherings.courseDateId, id), ne(gatherings.zone, zone)));

/** Throws if a gathering ends before it starts: a daylight saving change may swap the two. */
async function assertInOrder(w: WriteCtx, { id }: { id: number }) {
  const isSwapped = sql`timezone(${gatherings.zone}, ${gatherings.gatheringEndAt}) <= ${gatherings.startsAt}`;
  if ((await w.tx.$count(gatherings, matchDate(w, id, isSwapped))) > 0)
    throw Problem.invalidFields({ rules: { gatherings: 'end_before_start' } });
}

/** True if both days move by different amounts, and a gathering within the old ones would be outside the new ones. */
export async function needsNewGatherings(w: WriteCtx, before: Span & { id: number }, after: DaySpan) {
  const [start, end] = countMovedDays(before, after);
  if (start === 0 || end === 0 || start === end || after.endAt < after.startAt) return false;
  const { isWithin, isWhole } = matchSpan(before);
  const staysOutside = sql`not (${isWhole} or ${isWithinDays(after)})`;
  return (await w.tx.$count(gatherings, matchDate(w, before.id, isWithin, staysOutside))) > 0;
}

/** Moves gatherings within the old days where both days move equally, and those of the old times with the times. */
async function moveGatherings(w: WriteCtx, before: Span & OwnerDate, after: Span & OwnerDate): Promise<void> {
  const { gatheringAt, gatheringEndAt } = gatherings;
  const moved = countMovedDays(before, after);
  const days = moved[0] === moved[1] ? moved[0] : 0;
  const hasNewTimes = before.startTimeAt !== after.startTimeAt || before.endTimeAt !== after.endTimeAt;
  if (days === 0 && moved[0] === moved[1] && !hasNewTimes && before.zone === after.zone) return;

  const { isWithin, isWhole, hadTimes } = matchSpan(before);
  const moment = (column: PgColumn, day: string, timeOfDay: string | null) => sql`
    case when ${isWhole} then ${day}::date else ${column}::date + ${days}::integer end
    + case when ${hadTimes} then coalesce(${timeOfDay}::time, ${toTime(column)}) else ${toTime(column)} end`;
  await w.tx
    .update(gatherings)
    .set({
      gatheringAt: moment(gatheringAt, after.startAt, after.startTimeAt),
      gatheringEndAt: moment(gatheringEndAt, after.endAt, after.endTimeAt),
      updatedAt: w.now,
    })
    .where(matchDate(w, after.id, isWithin, sql`(${days}::integer <> 0 or ${hadTimes})`));
  await assertInOrder(w, after);
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
