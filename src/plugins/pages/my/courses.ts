import { and, asc, desc, eq, isNull, notInArray, or, sql, type SQL } from 'drizzle-orm';
import { maxEvents, type CalendarPlace } from '../../../core/calendar.ts';
import type { Ctx } from '../../../database/context.ts';
import {
  courseDateInstructors,
  courseDates,
  gatheringInstructors,
  gatherings,
} from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { participants } from '../../../database/tables/participants.ts';
import { instructors, locations, places } from '../../../database/tables/places.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { loadCredit } from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import {
  nextFirst,
  loadShown,
  shownLocation,
  toMs,
  withNextGatherings,
  type ShownGathering,
} from '../../../domains/courses/gatherings/loaders.ts';
import { canceled, hasLeft, postponed, participantStatus } from '../../../core/reference/statuses.ts';

const now = sql`now()`;
const left = [participantStatus.deregistered, participantStatus.deregisteredWithFee];

/** An enrolment with its course date. */
const columns = {
  id: participants.id,
  userId: participants.userId,
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
  startsAtMs: toMs(courseDates.startsAt),
  endsAtMs: toMs(courseDates.endsAt),
  isOver: sql<boolean>`${courseDates.endsAt} < ${now}`,
  isVirtual: courseDates.isVirtual,
  eventUrl: courseDates.eventUrl,
  location: shownLocation,
  placeTitle: places.title,
  placeAdditionalInfo: courseDates.placeAdditionalInfo,
  updatedAtMs: toMs(sql`greatest(${courseDates.updatedAt}, ${participants.updatedAt})`),
};

/** Deregistered participants see a course until it is over. */
const isShown = and(
  isNull(courseDates.deletedAt),
  or(notInArray(participants.statusId, left), sql`${courseDates.endsAt} >= ${now}`),
);

const latestFirst = [desc(courseDates.startsAt), desc(participants.id)];

const selectEnrolments = (ctx: Ctx, conditions: SQL[], order: SQL[] = latestFirst) =>
  ctx.db
    .select(columns)
    .from(participants)
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .innerJoin(courses, sameTenant(courses, participants, eq(courses.id, participants.courseId)))
    .leftJoin(locations, sameTenant(locations, courseDates, eq(locations.id, courseDates.locationId)))
    .leftJoin(places, eq(places.id, courseDates.placeId))
    .where(tenantWhere(ctx, participants, isShown, ...conditions))
    .orderBy(...order);

type EnrolmentRow = Awaited<ReturnType<typeof selectEnrolments>>[number];
export type Enrolment = EnrolmentRow & { gatherings: ShownGathering[] };

/** More than anybody takes; the newest are shown. */
const maxEnrolments = 500;
/** Gatherings of all dates of a page; the earliest are shown. */
const maxGatherings = 10_000;

/** Start of the next session that is not over, or of the date if it has no sessions. */
function nextMeetingMs({ gatherings: meetings, startsAtMs, endsAtMs }: Enrolment) {
  if (meetings.length === 0) return startsAtMs;
  return meetings.find(({ isOver }) => !isOver)?.startsAtMs ?? endsAtMs;
}

/** A person's enrolments: upcoming ones by their next session, past ones newest first. */
export async function listEnrolments(ctx: Ctx, userId: number) {
  const rows = await withGatherings(ctx, await selectEnrolments(ctx, [ofUser(userId)]).limit(maxEnrolments));
  const upcoming = rows.filter((row) => !row.isOver).reverse();
  return {
    upcoming: upcoming.sort((a, b) => nextMeetingMs(a) - nextMeetingMs(b)),
    past: rows.filter((row) => row.isOver),
  };
}

/** The places of a person for a calendar, those of the past year too: the next ones, then the latest. */
export async function listCalendarPlaces(ctx: Ctx, userId: number): Promise<CalendarPlace[]> {
  const isRecent = sql`${courseDates.endsAt} >= ${now} - interval '1 year'`;
  const isKept = [notInArray(participants.statusId, left), notInArray(courseDates.statusId, [canceled, postponed])];
  const order = nextFirst(sql`${courseDates.endsAt} < ${now}`, courseDates.startsAt);
  const rows = await selectEnrolments(ctx, [ofUser(userId), isRecent, ...isKept], order).limit(maxEvents);
  const sorted = rows.sort((a, b) => b.startsAtMs - a.startsAtMs || b.id - a.id);
  return (await withNextGatherings(ctx, sorted, maxEvents)).map(toCalendarPlace);
}

export const toCalendarPlace = (enrolment: EnrolmentRow & Pick<CalendarPlace, 'gatherings'>): CalendarPlace => ({
  ...enrolment,
  participantId: enrolment.id,
});

/** Undefined for enrolments of other people. */
export async function findEnrolment(ctx: Ctx, userId: number, participantId: number): Promise<Enrolment | undefined> {
  const [found] = await findEnrolments(ctx, ofUser(userId), eq(participants.id, participantId));
  return found;
}

/** The amount credited when the person left; shown to a participant only where nobody else pays. */
export async function findShownCredit(ctx: Ctx, { id }: Enrolment, isPayer = false) {
  const credit = await loadCredit(ctx.unlockedStore, ctx.providerId, id);
  return isPayer || credit?.isOwn ? credit : undefined;
}

const ofUser = (userId: number) => eq(participants.userId, userId);

export const findEnrolments = async (ctx: Ctx, ...conditions: SQL[]): Promise<Enrolment[]> =>
  withGatherings(ctx, await selectEnrolments(ctx, conditions));

async function withGatherings(ctx: Ctx, rows: EnrolmentRow[]): Promise<Enrolment[]> {
  const ids = rows.map((row) => row.courseDateId);
  const byDate = await loadShown(ctx, ids, maxGatherings);
  return rows.map((row) => ({ ...row, gatherings: byDate.get(row.courseDateId) ?? [] }));
}

/** Names of the visible instructors of a date and its sessions. */
export async function loadInstructorNames(ctx: Ctx, courseDateId: number): Promise<string[]> {
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

/** False for deregistered participants, and for canceled or postponed dates. */
export const canBeInCalendar = ({ statusId, dateStatusId }: EnrolmentRow) =>
  !hasLeft(statusId) && dateStatusId !== canceled && dateStatusId !== postponed;
