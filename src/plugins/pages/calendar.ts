import ical, { ICalEventStatus, type ICalEventData } from 'ical-generator';
import type { Ctx } from '../../database/context.ts';
import { formatTimestamp } from '../../core/timestamps.ts';
import { locationLines, venueLines } from '../../core/address-format.ts';
import { hasConfirmedPlace } from '../../core/reference/statuses.ts';
import { toSingleLine, normalizeLineBreaks } from '../../core/text.ts';
import type { Enrolment, Gathering } from './courses.ts';
import { safeLink } from './html.ts';

const dayMs = 86_400_000;
const toDate = (timestamp: string) => new Date(formatTimestamp(timestamp));
/** Years in iCalendar have four digits. */
const lastDay = Date.UTC(9999, 11, 31);
const [firstMs, lastMs] = [Date.parse('0001-01-01T00:00:00Z'), lastDay + dayMs - 1_000];
const toMoment = (ms: number) => new Date(Math.min(Math.max(ms, firstMs), lastMs));

/** A course date as iCalendar (RFC 5545): one event per session, or a single one, all-day if it has no times. */
export function createCalendar({ providerId, settings }: Ctx, enrolment: Enrolment): string {
  const { courseDateId, gatherings, updatedAt } = enrolment;
  const calendar = ical({
    // The library escapes every text but this one.
    name: toSingleLine(enrolment.title).replace(/[\\;,]/g, '\\$&'),
    prodId: { company: 'Course Booking Service', product: 'Personal page' },
  });
  const { hostname } = new URL(settings.publicUrl);
  const events =
    gatherings.length > 0
      ? gatherings.map((gathering) => gatheringEvent(enrolment, gathering))
      : [dateEvent(enrolment)];
  events.forEach((event, n) =>
    calendar.createEvent({
      // By position, so that calendars update an event that has moved.
      id: `coursedate-${providerId}-${courseDateId}-${n + 1}@${hostname}`,
      stamp: toDate(updatedAt),
      status: hasConfirmedPlace(enrolment) ? ICalEventStatus.CONFIRMED : ICalEventStatus.TENTATIVE,
      ...event,
    }),
  );
  // RFC 5545, 3.1: the last line ends with CRLF too.
  return `${calendar.toString()}\r\n`;
}

function gatheringEvent(enrolment: Enrolment, gathering: Gathering): ICalEventData {
  const { title } = enrolment;
  const { theme, description, startsAtMs, endsAtMs, eventUrl } = gathering;
  const lines = locationLines(gathering.location);
  return {
    summary: toSingleLine(theme ? `${title}: ${theme}` : title),
    description: description === null ? null : normalizeLineBreaks(description),
    start: toMoment(startsAtMs),
    end: toMoment(endsAtMs),
    ...toPlace(enrolment, lines.length > 0 ? lines : venueLines(enrolment), eventUrl ?? enrolment.eventUrl),
  };
}

function dateEvent(enrolment: Enrolment): ICalEventData {
  const { title, startAt, endAt, startTimeAt, endTimeAt, startsAtMs, endsAtMs, eventUrl } = enrolment;
  // Without an end time, an event has an end only if it lasts several days.
  const hasEnd = endTimeAt !== null || startAt !== endAt;
  const when =
    startTimeAt === null
      ? { allDay: true, start: new Date(startAt), ...toAllDayEnd(startAt, endAt) }
      : { start: toMoment(startsAtMs), ...(hasEnd ? { end: toMoment(endsAtMs) } : {}) };
  return { summary: toSingleLine(title), ...when, ...toPlace(enrolment, venueLines(enrolment), eventUrl) };
}

/** The exclusive end date, or none if it cannot be represented: an event without end lasts one day. */
function toAllDayEnd(startAt: string, endAt: string) {
  const end = Math.min(Date.parse(endAt) + dayMs, lastDay);
  return end > Date.parse(startAt) ? { end: new Date(end) } : {};
}

/** Location and, for participants with a seat, the meeting's link. */
function toPlace(enrolment: Enrolment, lines: string[], eventUrl: string | null) {
  const link = hasConfirmedPlace(enrolment) ? safeLink(eventUrl) : undefined;
  return { location: lines.length > 0 ? normalizeLineBreaks(lines.join(', ')) : (link ?? null), url: link ?? null };
}
