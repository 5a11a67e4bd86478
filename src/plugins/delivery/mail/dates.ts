import { eq, sql } from 'drizzle-orm';
import { isOnline, locationLines, venueLines } from '../../../core/address-format.ts';
import { formatDay, spanEnds, toDateSpan, type DateSpan } from '../../../core/date-format.ts';
import type { Language } from '../../../core/reference/language.ts';
import type { Reader } from '../../../database/client.ts';
import { currentTime, hasAnyId } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { locations, places } from '../../../database/tables/places.ts';
import { loadShown, shownLocation, toMs } from '../../../domains/courses/gatherings/loaders.ts';
import { maxListed } from '../../../domains/messages/mails/queue-service.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { isNotEmpty, letterTexts, withoutEmpty } from './letter.tsx';
import type { Fact, MailGathering, Schedule, ScheduleChange } from './mail-types.ts';
import { joinLines } from './mails.ts';

/** More than are in a letter and in its calendar. */
export const maxGatherings = 200;

type StoredDate = Awaited<ReturnType<typeof loadDates>>[number];
/** A course date as mails show it. Days and times are in its time zone. */
export type MailDate = StoredDate & { gatherings: MailGathering[] };

/** The dates, without their gatherings. */
export async function loadDates(db: Reader, providerId: number, ids: number[]) {
  const { startAt, endAt, startTimeAt, endTimeAt, zone, isVirtual, eventUrl, placeAdditionalInfo } = courseDates;
  const { deadlineAt, capacityMax, capacityMin, numConfirmed, numOverbooked, numUnconfirmed, numWaiting } = courseDates;
  const rows = await db
    .select({
      courseDateId: courseDates.id,
      title: sql<string>`coalesce(nullif(${courseDates.title}, ''), ${courses.title})`,
      dateStatusId: courseDates.statusId,
      isDeleted: sql<boolean>`${courseDates.deletedAt} is not null`,
      cancellationMessage: courseDates.cancellationMessage,
      contact: courses.emailBooking,
      ...{ startAt, endAt, startTimeAt, endTimeAt, zone, isVirtual, eventUrl, placeAdditionalInfo },
      ...{ deadlineAt, capacityMax, capacityMin, numConfirmed, numOverbooked, numUnconfirmed, numWaiting },
      isDeadlineOver: sql<boolean>`timezone(${zone}, ${currentTime})::date > ${deadlineAt}`,
      capacityBudget: sql<number>`coalesce(${locations.capacityBudget}, 0)`,
      startsAtMs: toMs(courseDates.startsAt),
      endsAtMs: toMs(courseDates.endsAt),
      updatedAtMs: toMs(courseDates.updatedAt),
      hasStarted: sql<boolean>`${courseDates.startsAt} <= now()`,
      isOver: sql<boolean>`${courseDates.endsAt} <= now()`,
      placeTitle: places.title,
      location: shownLocation,
    })
    .from(courseDates)
    .innerJoin(courses, sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId)))
    .leftJoin(locations, sameTenant(locations, courseDates, eq(locations.id, courseDates.locationId)))
    .leftJoin(places, eq(places.id, courseDates.placeId))
    .where(tenantWhere({ providerId }, courseDates, hasAnyId(courseDates.id, ids)));
  return joinLines(rows);
}

export async function loadDate(db: Reader, providerId: number, id: number): Promise<MailDate> {
  const [date] = await loadDates(db, providerId, [id]);
  if (!date) throw new Error(`There is no date ${id}`);
  const shown = await loadShown({ db, providerId }, [id], maxGatherings);
  return { ...date, gatherings: joinLines(shown.get(id) ?? []) };
}

/** What a mail says besides its date. */
type DateFacts = {
  language: Language;
  timezone: string;
  participantName?: string;
  before?: Schedule | null;
  /** True for those who may see how to join. */
  mayJoin?: boolean;
  orderId?: number;
  /** `yyyy-mm-dd hh:mm`. */
  heldUntil?: string | null;
};

/** The differences between a changed date and its former values. */
export const scheduleChanges: ScheduleChange[] = ['time', 'place', 'link'];
type Lines = (string | null)[];

/** What a mail says of its course date. */
export function composeFacts(date: MailDate, about: DateFacts): Fact[] {
  const { language, orderId, heldUntil } = about;
  const texts = letterTexts[language];
  const { time: days, place, link } = composeSchedule(date, about);
  const former = composeFormer(date, about);
  const toFormer = (lines: Lines = []) => ({ name: texts.facts.before, lines });
  const [day, time] = heldUntil?.split(' ') ?? [];
  return withoutEmpty([
    { name: texts.facts.participant, lines: [about.participantName] },
    { name: texts.facts.course, lines: [date.title] },
    { name: days.length > 1 ? texts.facts.dates : texts.facts.date, lines: days, isList: days.length > 1 },
    { ...toFormer(former.time), isList: former.time !== undefined && former.time.length > 1 },
    { name: texts.facts.place, lines: place },
    toFormer(former.place),
    { name: texts.facts.link, lines: link, hasLinks: true },
    toFormer(former.link),
    { name: texts.facts.order, lines: [orderId?.toString()] },
    { name: texts.facts.until, lines: [day && `${formatDay(day, language)}, ${time} (${date.zone})`] },
  ]);
}

type Scheduled = Omit<Schedule, 'isCanceled'>;

function composeSchedule(date: Scheduled, { language, timezone, mayJoin = false }: DateFacts) {
  const links = mayJoin ? [date.eventUrl, ...(date.gatherings ?? []).map(({ eventUrl }) => eventUrl)] : [];
  return {
    time: formatDays(date, language, timezone),
    place: [isOnline(date) ? letterTexts[language].online : null, ...venueLines(date)],
    link: [...new Set(links)].slice(0, maxListed),
  } satisfies Record<ScheduleChange, Lines>;
}

/** The former values of a changed date that differ from the new ones, without themes of gatherings. */
export function composeFormer(date: MailDate, about: DateFacts): Partial<Record<ScheduleChange, Lines>> {
  const { before } = about;
  if (!before) return {};
  const compose = (one: Scheduled) => {
    const gatherings = one.gatherings?.slice(0, maxListed).map((gathering) => ({ ...gathering, theme: null })) ?? null;
    return composeSchedule({ ...one, gatherings }, about);
  };
  const now: Record<string, Lines> = compose(date);
  const former = Object.entries(compose({ ...date, ...before }));
  return Object.fromEntries(former.filter(([name, lines]) => String(lines) !== String(now[name])));
}

/** One line per session, or one for the whole course date. */
function formatDays(date: Scheduled, language: Language, timezone: string) {
  const { zone, gatherings } = date;
  if (gatherings === null || gatherings.length === 0) return [formatWhen(date, language, timezone)];
  const lines = gatherings.slice(0, maxListed).map((gathering) => {
    const when = formatWhen({ ...toDateSpan(gathering), zone }, language, timezone);
    return describeGathering(gathering, when, date);
  });
  const left = gatherings.length - lines.length;
  return left > 0 ? [...lines, letterTexts[language].andMore(left)] : lines;
}

/** Names the place where that is not the one of the date. */
function describeGathering({ theme, location }: MailGathering, when: string, date: Scheduled) {
  const place = locationLines(location).join(', ');
  const isElsewhere = place !== locationLines(date.location).join(', ');
  return [[when, theme].filter(isNotEmpty).join(': '), isElsewhere ? place : null].filter(isNotEmpty).join(', ');
}

type ZonedSpan = DateSpan & { zone: string };

/** Days and times, with the zone unless they are days in the zone of the service. */
export function formatWhen(span: ZonedSpan, language: Language, timezone: string) {
  const hasTime = span.startTimeAt !== null || span.endTimeAt !== null;
  const ends = spanEnds(span, language).map(({ day, time }) => [day, time].filter(isNotEmpty).join(', '));
  return `${ends.join(' – ')}${hasTime || span.zone !== timezone ? ` (${span.zone})` : ''}`;
}
