import { and, asc, desc, eq, isNull, notInArray, or, sql, type SQL } from 'drizzle-orm';
import type { Ctx } from '../core/context.ts';
import {
  courseDateInstructors,
  courseDates,
  gatheringInstructors,
  gatherings,
} from '../database/tables/coursedates.ts';
import { courses } from '../database/tables/courses.ts';
import { participants } from '../database/tables/participants.ts';
import { instructors, locations, places } from '../database/tables/places.ts';
import { grouped } from '../lists/relations.ts';
import { tenantWhere } from '../lists/tenant-scope.ts';
import { canceled, hasLeft, postponed, seat } from '../reference/statuses.ts';

const now = sql`now()`;
const left = [seat.deregistered, seat.deregisteredWithFee];

/** A moment to compare with others, whose offsets may differ. */
const epochMs = (moment: SQL) => sql<number>`1000 * extract(epoch from ${moment})`.mapWith(Number);

const placeColumns = {
  // First one that is never null: by it drizzle tells whether there is a location at all.
  isVirtual: locations.isVirtual,
  title: sql<string | null>`coalesce(nullif(${locations.customTitle}, ''), ${locations.title})`,
  address: locations.address,
  zipcode: locations.zipcode,
  city: locations.city,
};

/** A course date that somebody is, or was, a participant of. */
const columns = {
  id: participants.id,
  statusId: participants.statusId,
  certificateIssuedAt: participants.certificateIssuedAt,
  hasCompleted: participants.completed,
  hasPassed: participants.passed,
  courseId: courses.id,
  courseDateId: courseDates.id,
  title: sql<string>`coalesce(nullif(${courseDates.title}, ''), ${courses.title})`,
  dateStatusId: courseDates.statusId,
  startAt: courseDates.startAt,
  endAt: courseDates.endAt,
  startTimeAt: courseDates.startTimeAt,
  endTimeAt: courseDates.endTimeAt,
  zone: courseDates.zone,
  startsAt: courseDates.startsAt,
  startsAtMs: epochMs(sql`${courseDates.startsAt}`),
  endsAtMs: epochMs(sql`${courseDates.endsAt}`),
  endsAt: courseDates.endsAt,
  isOver: sql<boolean>`${courseDates.endsAt} < ${now}`,
  isVirtual: courseDates.isVirtual,
  eventUrl: courseDates.eventUrl,
  location: placeColumns,
  placeTitle: places.title,
  placeAdditionalInfo: courseDates.placeAdditionalInfo,
  updatedAt: courseDates.updatedAt,
};

/** Who has deregistered sees it until the course is over. */
const shown = and(
  isNull(courseDates.deletedAt),
  or(notInArray(participants.statusId, left), sql`${courseDates.endsAt} >= ${now}`),
);

const enrolments = (ctx: Ctx, userId: number, ...conditions: SQL[]) =>
  ctx.db
    .select(columns)
    .from(participants)
    .innerJoin(
      courseDates,
      and(eq(courseDates.providerId, participants.providerId), eq(courseDates.id, participants.courseDateId)),
    )
    .innerJoin(courses, and(eq(courses.providerId, participants.providerId), eq(courses.id, participants.courseId)))
    .leftJoin(
      locations,
      and(eq(locations.providerId, courseDates.providerId), eq(locations.id, courseDates.locationId)),
    )
    .leftJoin(places, eq(places.id, courseDates.placeId))
    .where(tenantWhere(ctx, participants, eq(participants.userId, userId), shown, ...conditions))
    .orderBy(desc(courseDates.startsAt), desc(participants.id));

type EnrolmentRow = Awaited<ReturnType<typeof enrolments>>[number];
export type Enrolment = EnrolmentRow & { gatherings: Gathering[] };

/** The newest of somebody's course dates; nobody has taken more courses than this. */
const most = 500;

/** The start of the next meeting that is not over: a gathering, or the date itself where it has none. */
function nextMeetingMs({ gatherings: meetings, startsAtMs, endsAtMs }: Enrolment) {
  if (meetings.length === 0) return startsAtMs;
  return meetings.find(({ isOver }) => !isOver)?.startsAtMs ?? endsAtMs;
}

/** All course dates of a person: coming ones by their next meeting, past ones with the latest first. */
export async function listEnrolments(ctx: Ctx, userId: number) {
  const rows = await withGatherings(ctx, await enrolments(ctx, userId).limit(most));
  const inFlight = rows.filter((row) => !row.isOver).reverse();
  return {
    inFlight: inFlight.sort((a, b) => nextMeetingMs(a) - nextMeetingMs(b)),
    past: rows.filter((row) => row.isOver),
  };
}

/** One of somebody's own; nobody else's is ever found. */
export async function findEnrolment(ctx: Ctx, userId: number, participantId: number): Promise<Enrolment | undefined> {
  const [found] = await withGatherings(ctx, await enrolments(ctx, userId, eq(participants.id, participantId)));
  return found;
}

async function withGatherings(ctx: Ctx, rows: EnrolmentRow[]): Promise<Enrolment[]> {
  const found = rows.length === 0 ? [] : await fetchGatherings(ctx, rows);
  const byDate = grouped(
    found,
    ({ courseDateId }) => courseDateId,
    (gathering) => gathering,
  );
  return rows.map((row) => ({ ...row, gatherings: byDate.get(row.courseDateId) ?? [] }));
}

const fetchGatherings = (ctx: Ctx, rows: EnrolmentRow[]) =>
  ctx.db
    .select({
      courseDateId: gatherings.courseDateId,
      gatheringAt: gatherings.gatheringAt,
      gatheringEndAt: gatherings.gatheringEndAt,
      startsAt: gatherings.startsAt,
      startsAtMs: epochMs(sql`${gatherings.startsAt}`),
      endsAt: sql<string>`timezone(${gatherings.zone}, ${gatherings.gatheringEndAt})`,
      isOver: sql<boolean>`timezone(${gatherings.zone}, ${gatherings.gatheringEndAt}) < ${now}`,
      theme: gatherings.theme,
      description: gatherings.description,
      eventUrl: gatherings.eventUrl,
      location: placeColumns,
    })
    .from(gatherings)
    .leftJoin(locations, and(eq(locations.providerId, gatherings.providerId), eq(locations.id, gatherings.locationId)))
    .where(
      tenantWhere(
        ctx,
        gatherings,
        isNull(gatherings.deletedAt),
        sql`${gatherings.courseDateId} = any(${sql.param(rows.map((row) => row.courseDateId))}::bigint[])`,
      ),
    )
    .orderBy(asc(gatherings.startsAt), asc(gatherings.id));
/** One gathering of a course date. */
export type Gathering = Awaited<ReturnType<typeof fetchGatherings>>[number];

/** Who teaches a date or one of its gatherings, of those the school shows. */
export async function instructorNames(ctx: Ctx, courseDateId: number): Promise<string[]> {
  const ofDate = sql`select ${courseDateInstructors.instructorId} from ${courseDateInstructors}
    where ${courseDateInstructors.providerId} = ${ctx.providerId} and ${courseDateInstructors.courseDateId} = ${courseDateId}`;
  const ofGatherings = sql`select ${gatheringInstructors.instructorId} from ${gatheringInstructors}
    join ${gatherings} on ${gatherings.providerId} = ${gatheringInstructors.providerId}
      and ${gatherings.id} = ${gatheringInstructors.gatheringId} and ${gatherings.deletedAt} is null
    where ${gatheringInstructors.providerId} = ${ctx.providerId} and ${gatherings.courseDateId} = ${courseDateId}`;
  const found = await ctx.db
    .select({ firstname: instructors.firstname, lastname: instructors.lastname })
    .from(instructors)
    .where(
      tenantWhere(
        ctx,
        instructors,
        eq(instructors.showOnWeb, true),
        isNull(instructors.archivedAt),
        sql`"id" in (${ofDate} union ${ofGatherings})`,
      ),
    )
    .orderBy(asc(instructors.id));
  return found.map(({ firstname, lastname }) => `${firstname} ${lastname}`.trim());
}

/** Whether the date belongs into a calendar: one that is canceled, or about to move, does not. */
export const mayPlan = ({ statusId, dateStatusId }: EnrolmentRow) =>
  !hasLeft(statusId) && dateStatusId !== canceled && dateStatusId !== postponed;
