import { expect, test } from 'vitest';
import { foldLines as libraryFold } from 'ical-generator';
import {
  foldLines,
  toCalendar,
  toCalendarFeed,
  type CalendarGathering,
  type CalendarPlace,
} from '../../src/core/calendar.ts';
import { parseCalendar } from '../support/calendars.ts';

const gathering = (id: number, values: Partial<CalendarGathering> = {}): CalendarGathering => ({
  ...{ id, theme: null, description: null, eventUrl: null, location: null },
  startsAtMs: Date.UTC(2030, 5, 10, 7),
  endsAtMs: Date.UTC(2030, 5, 10, 9),
  ...values,
});

const place = (values: Partial<CalendarPlace> = {}): CalendarPlace => ({
  ...{ participantId: 5, userId: 7, courseDateId: 9, statusId: 1, dateStatusId: 1, title: 'Knots' },
  ...{ startAt: '2030-06-10', endAt: '2030-06-10', startTimeAt: '09:00:00', endTimeAt: '11:00:00' },
  ...{ isVirtual: false, eventUrl: null, location: null, placeTitle: null, placeAdditionalInfo: null },
  startsAtMs: Date.UTC(2030, 5, 10, 7),
  endsAtMs: Date.UTC(2030, 5, 10, 9),
  updatedAtMs: Date.UTC(2020, 0, 2),
  gatherings: [],
  ...values,
});
const of = { providerId: 3, uidHost: 'courses.example' };

test('a UID names the participant, the person and the date, and of later gatherings their position', () => {
  const uids = (values: Partial<CalendarPlace>) =>
    parseCalendar(toCalendar(place(values), of)).events.map((e) => e.uid);
  expect(uids({})).toEqual(['participant-3-5-7-9@courses.example']);
  expect(uids({ gatherings: [gathering(11)] })).toEqual(['participant-3-5-7-9@courses.example']);
  expect(uids({ gatherings: [gathering(11), gathering(12)] })).toEqual([
    'participant-3-5-7-9@courses.example',
    'participant-3-5-7-9-2@courses.example',
  ]);
});

test('SEQUENCE is the number of seconds from 2020 to the last change', () => {
  const sequence = (updatedAtMs: number) => parseCalendar(toCalendar(place({ updatedAtMs }), of)).events[0]!.sequence;
  expect([0, 1_999, 86_400_000].map((ms) => sequence(Date.UTC(2020, 0, 1) + ms))).toEqual([0, 1, 86_400]);
  expect(sequence(Date.UTC(2019, 0, 1))).toBe(0);
});

test('an invitation names the organizer and the attendee', () => {
  const organizer = { name: 'The "best"; school, \\ of\r\nall', email: 'mail@courses.example' };
  const attendee = { name: 'Kari Vik', email: 'kari@example.com' };
  const { method, events } = parseCalendar(toCalendar(place(), { ...of, method: 'REQUEST', organizer, attendee }));
  expect([method, events.length]).toEqual(['REQUEST', 1]);
  expect(events[0]).toMatchObject({
    ...{ status: 'CONFIRMED', summary: 'Knots', start: '2030-06-10T07:00:00Z', end: '2030-06-10T09:00:00Z' },
    ...{ organizer: 'mailto:mail@courses.example', attendees: ['MAILTO:kari@example.com'] },
  });
  const [organizedBy, invited] = ['organizer', 'attendee'].map((name) => events[0]!.component.getFirstProperty(name)!);
  expect(organizedBy!.getFirstParameter('cn')).toBe("The 'best'; school, / of all");
  expect(invited!.getFirstParameter('partstat')).toBe('ACCEPTED');
});

test('a cancellation has the UID of the invitation, and no link', () => {
  const joined = place({ eventUrl: 'https://meet.example/knots' });
  const persons = {
    organizer: { name: 'School', email: 'mail@courses.example' },
    attendee: { name: 'Kari', email: 'kari@example.com' },
  };
  const [before] = parseCalendar(toCalendar(joined, { ...of, ...persons, method: 'REQUEST' })).events;
  const { method, events } = parseCalendar(
    toCalendar(joined, { ...of, ...persons, method: 'CANCEL', isCanceled: true }),
  );
  expect(before!.url).toBe('https://meet.example/knots');
  expect(method).toBe('CANCEL');
  expect(events[0]).toMatchObject({ uid: before!.uid, status: 'CANCELLED', url: undefined });
});

test('long texts of several octets per letter are folded', () => {
  const title = 'Sjø, ørret og 🎣; å '.repeat(20).trim();
  expect(parseCalendar(toCalendar(place({ title }), { ...of, name: title })).events[0]!.summary).toBe(title);
});

test('a calendar says how often to read it again', () => {
  const { calendar } = parseCalendar(toCalendar(place(), { ...of, refreshSeconds: 3_600 }));
  expect(String(calendar.getFirstPropertyValue('refresh-interval'))).toBe('PT1H');
});

test('lines are folded as the library does', () => {
  const signs = ['a', 'æ', '€', '🎣', ' ', '\r\n', 'long '.repeat(20), 'ø'.repeat(80)];
  let state = 7;
  const next = (max: number) => (state = (state * 48_271) % 2_147_483_647) % max;
  for (let n = 0; n < 200; n += 1) {
    const text = Array.from({ length: next(60) }, () => signs[next(signs.length)]).join('');
    expect(foldLines(text)).toBe(libraryFold(text));
  }
});

const inHours = (hours: number) => Date.now() + hours * 3_600_000;
const lasting = (id: number, hours: number) =>
  gathering(id, { startsAtMs: inHours(hours), endsAtMs: inHours(hours + 0.5) });

test('a calendar for subscribers has the next 1,000 events, then the latest, in their order', async () => {
  const places = [
    place({ participantId: 1, gatherings: Array.from({ length: 700 }, (_, n) => lasting(n, n + 1)) }),
    place({ participantId: 2, gatherings: Array.from({ length: 250 }, (_, n) => lasting(n, n + 1)) }),
    place({ participantId: 3, gatherings: Array.from({ length: 60 }, (_, n) => lasting(n, n - 100)) }),
  ];
  const { events } = parseCalendar(await toCalendarFeed(places, of));
  const ofPlace = (id: number) => events.filter(({ uid }) => uid!.startsWith(`participant-3-${id}-`)).length;
  expect([events.length, ...[1, 2, 3].map(ofPlace)]).toEqual([1_000, 700, 250, 50]);
  expect(events.at(-50)!.uid).toBe('participant-3-3-7-9-11@courses.example');
});

test('a calendar of long texts has as many of the next events as fit', async () => {
  const description = 'å'.repeat(5_000);
  const long = Array.from({ length: 300 }, (_, n) => ({ ...lasting(n, 300 - n), description }));
  const { events } = parseCalendar(await toCalendarFeed([place({ gatherings: long })], of));
  expect(events.length).toBeGreaterThan(100);
  expect(events.length).toBeLessThan(150);
  expect(events.at(-1)!.uid).toBe('participant-3-5-7-9-300@courses.example');
});
