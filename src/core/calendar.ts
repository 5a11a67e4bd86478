import ical, { ICalAttendeeStatus, ICalCalendarMethod, ICalEventStatus, type ICalEventData } from 'ical-generator';
import { locationLines, venueLines, type Location, type Venue } from './address-format.ts';
import { hasConfirmedPlace } from './reference/statuses.ts';
import { safeLink } from './safe-link.ts';
import { normalizeLineBreaks, toSingleLine } from './text.ts';

export type CalendarGathering = {
  id: number;
  startsAtMs: number;
  endsAtMs: number;
  theme: string | null;
  description: string | null;
  eventUrl: string | null;
  location: Location | null;
};

/** A participant's place on a course date. */
export type CalendarPlace = Venue & {
  participantId: number;
  userId: number;
  courseDateId: number;
  statusId: number;
  dateStatusId: number;
  title: string;
  startAt: string;
  endAt: string;
  startTimeAt: string | null;
  endTimeAt: string | null;
  startsAtMs: number;
  endsAtMs: number;
  eventUrl: string | null;
  /** When the participant or the date was last changed. */
  updatedAtMs: number;
  /** In order of time. */
  gatherings: CalendarGathering[];
};

type CalendarPerson = { name: string; email: string };

export type CalendarOptions = {
  providerId: number;
  publicUrl: string;
  /** Title of the whole calendar. */
  name?: string;
  /** REQUEST and CANCEL need an organizer and an attendee, PUBLISH an organizer. */
  method?: 'PUBLISH' | 'REQUEST' | 'CANCEL';
  /** True for events that do not take place. */
  isCanceled?: boolean;
  organizer?: CalendarPerson;
  attendee?: CalendarPerson;
  /** How often a program that subscribes should read the calendar again. */
  refreshSeconds?: number;
};

const dayMs = 86_400_000;
/** Years in iCalendar have four digits. */
const lastDay = Date.UTC(9999, 11, 31);
const [firstMs, lastMs] = [Date.parse('0001-01-01T00:00:00Z'), lastDay + dayMs - 1_000];
const toMoment = (ms: number) => new Date(Math.min(Math.max(ms, firstMs), lastMs));

/** Places as iCalendar (RFC 5545): an event per gathering, or one of the whole date, all-day if it has no times. */
export function toCalendar(places: CalendarPlace[], options: CalendarOptions): string {
  const { name, method, refreshSeconds } = options;
  const calendar = ical({
    // The library escapes every text but this one.
    ...(name === undefined ? {} : { name: toSingleLine(name).replace(/[\\;,]/g, '\\$&') }),
    ...(method === undefined ? {} : { method: ICalCalendarMethod[method] }),
    ...(refreshSeconds === undefined ? {} : { ttl: refreshSeconds }),
    prodId: { company: 'Course Booking Service', product: 'Calendar' },
  });
  for (const place of places) for (const event of toEvents(place, options)) calendar.createEvent(event);
  // RFC 5545, 3.1: the last line ends with CRLF too.
  return `${calendar.toString()}\r\n`;
}

function toEvents(place: CalendarPlace, options: CalendarOptions): ICalEventData[] {
  const { gatherings, updatedAtMs } = place;
  const { organizer, attendee, isCanceled = false } = options;
  const common = {
    stamp: toMoment(updatedAtMs),
    sequence: toSequence(updatedAtMs),
    status: isCanceled ? ICalEventStatus.CANCELLED : toStatus(place),
    ...(organizer && { organizer: toPerson(organizer) }),
    ...(attendee && {
      attendees: [{ ...toPerson(attendee), status: ICalAttendeeStatus.ACCEPTED, rsvp: false }],
    }),
  };
  const mayJoin = !isCanceled && hasConfirmedPlace(place);
  if (gatherings.length === 0) return [{ ...common, id: toUid(place, options), ...dateEvent(place, mayJoin) }];
  return gatherings.map((gathering) => ({
    ...common,
    id: toUid(place, options, gatherings.length > 1 ? gathering.id : undefined),
    ...gatheringEvent(place, gathering, mayJoin),
  }));
}

/** Equal in mails and feeds, so that calendars update an event; another person with the place gets another one. */
function toUid(place: CalendarPlace, { providerId, publicUrl }: CalendarOptions, gatheringId?: number) {
  const { participantId, userId, courseDateId } = place;
  const ids = [providerId, participantId, userId, courseDateId, ...(gatheringId === undefined ? [] : [gatheringId])];
  return `participant-${ids.join('-')}@${new URL(publicUrl).hostname}`;
}

const sequenceEpoch = Date.UTC(2020, 0, 1);
/** Grows with each change. */
const toSequence = (updatedAtMs: number) => Math.max(0, Math.floor((updatedAtMs - sequenceEpoch) / 1_000));

const toStatus = (place: CalendarPlace) =>
  hasConfirmedPlace(place) ? ICalEventStatus.CONFIRMED : ICalEventStatus.TENTATIVE;

/** A quoted parameter cannot contain quotes, and the library doubles backslashes. */
const toPerson = ({ name, email }: CalendarPerson) => ({
  name: toSingleLine(name).replaceAll('"', "'").replaceAll('\\', '/'),
  email,
});

function gatheringEvent(place: CalendarPlace, gathering: CalendarGathering, mayJoin: boolean): ICalEventData {
  const { title } = place;
  const { theme, description, startsAtMs, endsAtMs, eventUrl } = gathering;
  const lines = locationLines(gathering.location);
  return {
    summary: toSingleLine(theme ? `${title}: ${theme}` : title),
    description: description === null ? null : normalizeLineBreaks(description),
    start: toMoment(startsAtMs),
    end: toMoment(endsAtMs),
    ...toVenue(lines.length > 0 ? lines : venueLines(place), mayJoin ? (eventUrl ?? place.eventUrl) : null),
  };
}

function dateEvent(place: CalendarPlace, mayJoin: boolean): ICalEventData {
  const { title, startAt, endAt, startTimeAt, endTimeAt, startsAtMs, endsAtMs, eventUrl } = place;
  // Without an end time, an event has an end only if it lasts several days.
  const hasEnd = endTimeAt !== null || startAt !== endAt;
  const when =
    startTimeAt === null
      ? { allDay: true, start: new Date(startAt), ...toAllDayEnd(startAt, endAt) }
      : { start: toMoment(startsAtMs), ...(hasEnd ? { end: toMoment(endsAtMs) } : {}) };
  return { summary: toSingleLine(title), ...when, ...toVenue(venueLines(place), mayJoin ? eventUrl : null) };
}

/** The exclusive end date, or none if it cannot be represented: an event without end lasts one day. */
function toAllDayEnd(startAt: string, endAt: string) {
  const end = Math.min(Date.parse(endAt) + dayMs, lastDay);
  return end > Date.parse(startAt) ? { end: new Date(end) } : {};
}

/** Location and the meeting's link. */
function toVenue(lines: string[], eventUrl: string | null) {
  const link = safeLink(eventUrl);
  return { location: lines.length > 0 ? normalizeLineBreaks(lines.join(', ')) : (link ?? null), url: link ?? null };
}
