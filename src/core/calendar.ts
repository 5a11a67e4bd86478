import ical, {
  foldLines,
  ICalAttendeeStatus,
  ICalCalendarMethod,
  ICalEventStatus,
  type ICalEventData,
} from 'ical-generator';
import { setImmediate as nextTurn } from 'node:timers/promises';
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

/** A course date. */
type CalendarDate = Venue & {
  courseDateId: number;
  title: string;
  startAt: string;
  endAt: string;
  startTimeAt: string | null;
  endTimeAt: string | null;
  startsAtMs: number;
  endsAtMs: number;
  /** When a value of the event was last changed, or could have been. */
  updatedAtMs: number;
  /** In order of time. */
  gatherings: CalendarGathering[];
  /** Events that calendars may still have of the date, beyond those of its gatherings. */
  numFormerEvents?: number;
};

/** A participant's place on a course date. */
export type CalendarPlace = CalendarDate & {
  participantId: number;
  userId: number;
  statusId: number;
  dateStatusId: number;
  eventUrl: string | null;
};

/** A course date for anyone: without the meeting's link. */
export type PublicCalendarDate = CalendarDate & { state: 'planned' | 'postponed' | 'canceled'; pageUrl: string };

export type CalendarPerson = { name: string; email: string };

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
export const toCalendar = (places: CalendarPlace[], options: CalendarOptions) =>
  writeCalendar(
    places.flatMap((place) => toEvents(place, toPlaceContent(place, options))),
    options,
  );

const eventsPerTurn = 50;

/** Dates for anyone as iCalendar; a canceled one has that status. Yields to the event loop, since folding lines is slow. */
export async function toPublicCalendar(dates: PublicCalendarDate[], options: CalendarOptions): Promise<string> {
  const events = dates.flatMap((date) => toEvents(date, toPublicContent(date, options)));
  const calendar = createCalendar(options);
  const frame = calendar.toString();
  const end = frame.lastIndexOf('END:VCALENDAR');
  const pieces = [frame.slice(0, end)];
  for (let first = 0; first < events.length; first += eventsPerTurn) {
    const piece = events.slice(first, first + eventsPerTurn).map((event) => calendar.createEvent(event).toString());
    pieces.push(foldLines(piece.join('')));
    await nextTurn();
  }
  return `${pieces.join('')}${frame.slice(end)}\r\n`;
}

function writeCalendar(events: ICalEventData[], options: CalendarOptions): string {
  const calendar = createCalendar(options);
  for (const event of events) calendar.createEvent(event);
  // RFC 5545, 3.1: the last line ends with CRLF too.
  return `${calendar.toString()}\r\n`;
}

const createCalendar = ({ name, method, refreshSeconds }: CalendarOptions) =>
  ical({
    // The library escapes every text but this one.
    ...(name === undefined ? {} : { name: toSingleLine(name).replace(/[\\;,]/g, '\\$&') }),
    ...(method === undefined ? {} : { method: ICalCalendarMethod[method] }),
    ...(refreshSeconds === undefined ? {} : { ttl: refreshSeconds }),
    prodId: { company: 'Course Booking Service', product: 'Calendar' },
  });

/** The part of an event that depends on its reader. */
type Content = {
  properties: Pick<ICalEventData, 'status' | 'organizer' | 'attendees'>;
  /** The UID without its host name; events after the first have their number in the order of time as well. */
  id: string;
  host: string;
  /** The meeting's link; null unless the reader may join. */
  toJoinUrl: (eventUrl: string | null) => string | null;
  pageUrl?: string;
};

function toPlaceContent(place: CalendarPlace, options: CalendarOptions): Content {
  const { participantId, userId, courseDateId } = place;
  const { organizer, attendee, isCanceled = false, providerId, publicUrl } = options;
  const mayJoin = !isCanceled && hasConfirmedPlace(place);
  return {
    // Equal in mails and feeds, so that calendars update an event; another person with the place gets another one.
    id: `participant-${[providerId, participantId, userId, courseDateId].join('-')}`,
    host: new URL(publicUrl).hostname,
    properties: {
      status: isCanceled ? ICalEventStatus.CANCELLED : toStatus(place),
      ...(organizer && { organizer: toPerson(organizer) }),
      ...(attendee && {
        attendees: [{ ...toPerson(attendee), status: ICalAttendeeStatus.ACCEPTED, rsvp: false }],
      }),
    },
    toJoinUrl: (eventUrl) => (mayJoin ? (eventUrl ?? place.eventUrl) : null),
  };
}

const publicStatuses = {
  planned: ICalEventStatus.CONFIRMED,
  postponed: ICalEventStatus.TENTATIVE,
  canceled: ICalEventStatus.CANCELLED,
};

const toPublicContent = (
  { courseDateId, state, pageUrl }: PublicCalendarDate,
  { providerId, publicUrl }: CalendarOptions,
): Content => ({
  id: `date-${providerId}-${courseDateId}`,
  host: new URL(publicUrl).hostname,
  properties: { status: publicStatuses[state] },
  toJoinUrl: () => null,
  pageUrl,
});

function toEvents(date: CalendarDate, content: Content): ICalEventData[] {
  const { gatherings, updatedAtMs, numFormerEvents = 0 } = date;
  const { id, host, properties } = content;
  const common = { ...properties, stamp: toMoment(updatedAtMs), sequence: toSequence(updatedAtMs) };
  const ofGatherings = gatherings.map((gathering) => gatheringEvent(date, gathering, content));
  const current = ofGatherings.length === 0 ? [dateEvent(date, content)] : ofGatherings;
  const canceled = { ...dateEvent(date, { ...content, toJoinUrl: () => null }), status: ICalEventStatus.CANCELLED };
  const former = Array.from({ length: numFormerEvents }, () => canceled);
  // The first event has the UID of a date without gatherings, so that it stays when these are replaced.
  const toUid = (n: number) => `${id}${n === 0 ? '' : `-${n + 1}`}@${host}`;
  return [...current, ...former].map((event, n) => ({ ...common, ...event, id: toUid(n) }));
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

function gatheringEvent(date: CalendarDate, gathering: CalendarGathering, content: Content): ICalEventData {
  const { title } = date;
  const { theme, description, startsAtMs, endsAtMs, eventUrl } = gathering;
  const lines = locationLines(gathering.location);
  return {
    summary: toSingleLine(theme ? `${title}: ${theme}` : title),
    description: description === null ? null : normalizeLineBreaks(description),
    start: toMoment(startsAtMs),
    end: toMoment(endsAtMs),
    ...toVenue(lines.length > 0 ? lines : venueLines(date), content, eventUrl),
  };
}

function dateEvent(date: CalendarDate, content: Content): ICalEventData {
  const { title, startAt, endAt, startTimeAt, endTimeAt, startsAtMs, endsAtMs } = date;
  // Without an end time, an event has an end only if it lasts several days.
  const hasEnd = endTimeAt !== null || startAt !== endAt;
  const when =
    startTimeAt === null
      ? { allDay: true, start: new Date(startAt), ...toAllDayEnd(startAt, endAt) }
      : { start: toMoment(startsAtMs), ...(hasEnd ? { end: toMoment(endsAtMs) } : {}) };
  return { summary: toSingleLine(title), ...when, ...toVenue(venueLines(date), content, null) };
}

/** The exclusive end date, or none if it cannot be represented: an event without end lasts one day. */
function toAllDayEnd(startAt: string, endAt: string) {
  const end = Math.min(Date.parse(endAt) + dayMs, lastDay);
  return end > Date.parse(startAt) ? { end: new Date(end) } : {};
}

/** Location, and the meeting's link or the page of the date. */
function toVenue(lines: string[], { toJoinUrl, pageUrl }: Content, eventUrl: string | null) {
  const link = safeLink(toJoinUrl(eventUrl)) ?? null;
  return { location: lines.length > 0 ? normalizeLineBreaks(lines.join(', ')) : link, url: link ?? pageUrl ?? null };
}
