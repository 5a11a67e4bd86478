import ical, { ICalAttendeeStatus, ICalCalendarMethod, ICalEventStatus, type ICalEventData } from 'ical-generator';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { locationLines, venueParts, type Location, type Venue } from './address-format.ts';
import { hasConfirmedPlace } from './reference/statuses.ts';
import { safeLink } from './safe-link.ts';
import { normalizeLineBreaks, toSingleLine } from './text.ts';

export type CalendarGathering = {
  id: number;
  /** Its place among all gatherings of the date; by default that in the list. */
  number?: number;
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
  /** Gatherings in order of time. */
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

type CalendarOptions = {
  providerId: number;
  uidHost: string;
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

/** A place as iCalendar (RFC 5545): an event per gathering, or one of the whole date, all-day if it has no times. */
export function toCalendar(place: CalendarPlace, options: CalendarOptions) {
  const write = createWriter(options);
  return write.frame(toEntries(place, toPlaceContent(place, options)).map(write.event));
}

/** The places of a person, or dates for anyone, for programs that subscribe to them; a canceled one has that status. */
export const toCalendarFeed = (dates: (CalendarPlace | PublicCalendarDate)[], options: CalendarOptions) =>
  writeNext(
    dates.flatMap((date) =>
      toEntries(date, 'state' in date ? toPublicContent(date, options) : toPlaceContent(date, options)),
    ),
    options,
  );

/** Events of a calendar for subscribers, and its bytes: no more than the cache of responses stores. */
export const maxEvents = 1_000;
const maxBytes = 1_500_000;
const eventsPerTurn = 20;

/** The next events, then the latest, up to the limits, in their order. Yields to the event loop. */
async function writeNext(entries: Entry[], options: CalendarOptions): Promise<string> {
  const write = createWriter(options);
  const written: { n: number; text: string }[] = [];
  let left = maxBytes;
  for (const { n, entry } of selectNext(entries)) {
    const text = write.event(entry);
    left -= Buffer.byteLength(text);
    if (left < 0) break;
    written.push({ n, text });
    if (written.length % eventsPerTurn === 0) await nextTurn();
  }
  return write.frame(written.sort((a, b) => a.n - b.n).map(({ text }) => text));
}

function selectNext(entries: Entry[]) {
  const now = Date.now();
  const all = entries.map((entry, n) => ({ n, entry, isOver: entry.endsAtMs < now }));
  const byTime = (a: (typeof all)[number], b: (typeof all)[number]) =>
    Number(a.isOver) - Number(b.isOver) ||
    (a.isOver ? b.entry.startsAtMs - a.entry.startsAtMs : a.entry.startsAtMs - b.entry.startsAtMs);
  return all.sort(byTime).slice(0, maxEvents);
}

function createWriter(options: CalendarOptions) {
  const calendar = createCalendar(options);
  const empty = calendar.toString();
  const end = empty.lastIndexOf('END:VCALENDAR');
  return {
    event: ({ toEvent }: Entry) => foldLines(calendar.createEvent(toEvent()).toString()),
    // RFC 5545, 3.1: the last line ends with CRLF too.
    frame: (events: string[]) => `${empty.slice(0, end)}${events.join('')}${empty.slice(end)}\r\n`,
  };
}

/** Folds lines to at most 74 bytes, their first blank not counted: as the library, in a hundredth of its time. */
export const foldLines = (text: string) =>
  text
    .split('\r\n')
    .map((line) => (Buffer.byteLength(line) > 74 ? foldLine(line) : line))
    .join('\r\n');

function foldLine(line: string) {
  let [result, length] = ['', 0];
  for (const sign of line) {
    const code = sign.codePointAt(0)!;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    length += size;
    if (length > 74) {
      result += '\r\n ';
      length = size;
    }
    result += sign;
  }
  return result;
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
  const { organizer, attendee, isCanceled = false, providerId } = options;
  const mayJoin = !isCanceled && hasConfirmedPlace(place);
  return {
    // Equal in mails and feeds, so that calendars update an event; another person with the place gets another one.
    id: `participant-${[providerId, participantId, userId, courseDateId].join('-')}`,
    host: options.uidHost,
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

const toPublicContent = ({ courseDateId, state, pageUrl }: PublicCalendarDate, options: CalendarOptions): Content => ({
  id: `date-${options.providerId}-${courseDateId}`,
  host: options.uidHost,
  properties: { status: publicStatuses[state] },
  toJoinUrl: () => null,
  pageUrl,
});

/** An event, which is made when it is written. */
type Entry = { startsAtMs: number; endsAtMs: number; toEvent: () => ICalEventData };

function toEntries(date: CalendarDate, content: Content): Entry[] {
  const { gatherings, updatedAtMs, numFormerEvents = 0 } = date;
  const { id, host, properties } = content;
  const common = { ...properties, stamp: toMoment(updatedAtMs), sequence: toSequence(updatedAtMs) };
  // The first event has the UID of a date without gatherings, so that it stays when these are replaced.
  const toUid = (number: number) => `${id}${number === 1 ? '' : `-${number}`}@${host}`;
  const toEntry = ({ startsAtMs, endsAtMs }: Omit<Entry, 'toEvent'>, number: number, toOwn: Entry['toEvent']) => ({
    ...{ startsAtMs, endsAtMs },
    toEvent: () => ({ ...common, ...toOwn(), id: toUid(number) }),
  });
  const ofGatherings = gatherings.map((gathering, n) =>
    toEntry(gathering, gathering.number ?? n + 1, () => gatheringEvent(date, gathering, content)),
  );
  const current = ofGatherings.length === 0 ? [toEntry(date, 1, () => dateEvent(date, content))] : ofGatherings;
  const toCanceled = () => ({
    ...dateEvent(date, { ...content, toJoinUrl: () => null }),
    status: ICalEventStatus.CANCELLED,
  });
  const former = Array.from({ length: numFormerEvents }, (_, n) => toEntry(date, current.length + n + 1, toCanceled));
  return [...current, ...former];
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
    ...toVenue(lines.length > 0 ? lines : venueParts(date), content, eventUrl),
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
  return { summary: toSingleLine(title), ...when, ...toVenue(venueParts(date), content, null) };
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
