import ical, { ICalEventStatus, type ICalEventData } from 'ical-generator';
import type { Ctx } from '../core/context.ts';
import { dateTime } from '../lib/timestamps.ts';
import { locationLines, placeLines } from '../lib/address-format.ts';
import { hasPlace } from '../reference/statuses.ts';
import { asLine, asLines } from '../lib/text.ts';
import type { Enrolment, Gathering } from './courses.ts';
import { safeLink } from './html.ts';

const dayMs = 86_400_000;
const getInstant = (stored: string) => new Date(dateTime(stored));
/** The last day that a calendar file can name: its years have four digits. */
const lastDay = Date.UTC(9999, 11, 31);

/** A course date as iCalendar (RFC 5545): an event for each gathering, else one, all day when it has no times. */
export function createCalendar({ providerId, settings }: Ctx, enrolment: Enrolment): string {
  const { courseDateId, gatherings, updatedAt } = enrolment;
  const calendar = ical({
    name: asLine(enrolment.title),
    prodId: { company: 'Course Booking Service', product: 'Personal page' },
  });
  const { hostname } = new URL(settings.publicUrl);
  const events =
    gatherings.length > 0
      ? gatherings.map((gathering) => gatheringEvent(enrolment, gathering))
      : [dateEvent(enrolment)];
  events.forEach((event, n) =>
    calendar.createEvent({
      // By its position, so that a calendar that has the event already moves it.
      id: `coursedate-${providerId}-${courseDateId}-${n + 1}@${hostname}`,
      stamp: getInstant(updatedAt),
      status: hasPlace(enrolment) ? ICalEventStatus.CONFIRMED : ICalEventStatus.TENTATIVE,
      ...event,
    }),
  );
  // Every line has its end, the last one too (RFC 5545, 3.1).
  return `${calendar.toString()}\r\n`;
}

function gatheringEvent(enrolment: Enrolment, gathering: Gathering): ICalEventData {
  const { title } = enrolment;
  const { theme, description, startsAt, endsAt, eventUrl } = gathering;
  const lines = locationLines(gathering.location);
  return {
    summary: asLine(theme ? `${title}: ${theme}` : title),
    description: description === null ? null : asLines(description),
    start: getInstant(startsAt),
    end: getInstant(endsAt),
    ...whereabouts(enrolment, lines.length > 0 ? lines : placeLines(enrolment), eventUrl ?? enrolment.eventUrl),
  };
}

function dateEvent(enrolment: Enrolment): ICalEventData {
  const { title, startAt, endAt, startTimeAt, endTimeAt, startsAt, endsAt, eventUrl } = enrolment;
  // On one day, no end is told when none is known; over several, it lasts until the end of the last.
  const hasEnd = endTimeAt !== null || startAt !== endAt;
  const when =
    startTimeAt === null
      ? { allDay: true, start: new Date(startAt), ...lastingUntil(startAt, endAt) }
      : { start: getInstant(startsAt), ...(hasEnd ? { end: getInstant(endsAt) } : {}) };
  return { summary: asLine(title), ...when, ...whereabouts(enrolment, placeLines(enrolment), eventUrl) };
}

/** The day behind the last one; none where that has no name, since an event without an end lasts its day. */
function lastingUntil(startAt: string, endAt: string) {
  const end = Math.min(Date.parse(endAt) + dayMs, lastDay);
  return end > Date.parse(startAt) ? { end: new Date(end) } : {};
}

/** The place, and the way in for who may use it. */
function whereabouts(enrolment: Enrolment, lines: string[], eventUrl: string | null) {
  const link = hasPlace(enrolment) ? safeLink(eventUrl) : undefined;
  return { location: lines.length > 0 ? asLines(lines.join(', ')) : (link ?? null), url: link ?? null };
}
