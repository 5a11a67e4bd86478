import ICAL from 'ical.js';
import { expect } from 'vitest';

const encoder = new TextEncoder();

/** Properties that an event must have with each method, and none without a method (RFC 5545, 3.6.1; RFC 5546, 3.2). */
const required: Record<string, string[]> = {
  '': ['uid', 'dtstamp', 'dtstart'],
  PUBLISH: ['uid', 'dtstamp', 'dtstart', 'summary', 'organizer'],
  REQUEST: ['uid', 'dtstamp', 'dtstart', 'summary', 'organizer', 'attendee', 'sequence'],
  CANCEL: ['uid', 'dtstamp', 'organizer', 'attendee', 'sequence', 'status'],
};
const single = [
  ...['uid', 'dtstamp', 'dtstart', 'dtend', 'summary', 'description', 'location', 'organizer', 'sequence', 'status'],
  ...['url', 'class', 'created', 'last-modified', 'priority', 'transp', 'duration'],
];

/** What an event violates of RFC 5545 and, with a method, of RFC 5546. */
function findFaults(event: ICAL.Component, method = ''): string[] {
  const count = (name: string) => event.getAllProperties(name).length;
  const start = event.getFirstPropertyValue('dtstart') as ICAL.Time;
  const end = event.getFirstPropertyValue('dtend') as ICAL.Time | null;
  const status = event.getFirstPropertyValue('status') as string | null;
  return [
    ...required[method]!.filter((name) => count(name) === 0).map((name) => `no ${name}`),
    ...single.filter((name) => count(name) > 1).map((name) => `several ${name}`),
    ...(end && (end.isDate !== start.isDate || end.compare(start) <= 0) ? [`ends at ${String(end)}`] : []),
    ...(method === 'PUBLISH' && count('attendee') > 0 ? ['attendee of a published event'] : []),
    ...(method === 'CANCEL' && status !== 'CANCELLED' ? [`canceled event with ${status}`] : []),
    ...(method === 'REQUEST' && status === 'CANCELLED' ? ['requested event that is canceled'] : []),
    ...(count('sequence') > 0 && !/^\d+$/.test(String(event.getFirstPropertyValue('sequence'))) ? ['sequence'] : []),
  ];
}

/** Parses iCalendar after a check of its lines: CRLF at each end, 75 octets at most (RFC 5545, 3.1). */
export function parseCalendar(text: string) {
  expect(text.endsWith('END:VCALENDAR\r\n')).toBe(true);
  const lines = text.split('\r\n').slice(0, -1);
  expect(lines.filter((line) => /[\r\n]/.test(line) || encoder.encode(line).length > 75)).toEqual([]);
  const calendar = new ICAL.Component(ICAL.parse(text) as unknown[]);
  const read = (component: ICAL.Component, name: string) => {
    const value = component.getFirstPropertyValue(name) as { toString(): string } | null;
    return value?.toString();
  };
  const method = read(calendar, 'method');
  expect([read(calendar, 'version'), read(calendar, 'prodid')]).toEqual(['2.0', expect.stringMatching(/./)]);
  expect(calendar.getAllSubcomponents('vevent').flatMap((event) => findFaults(event, method))).toEqual([]);
  const events = calendar.getAllSubcomponents('vevent').map((event) => ({
    uid: read(event, 'uid'),
    sequence: Number(read(event, 'sequence')),
    stamp: read(event, 'dtstamp'),
    status: read(event, 'status'),
    summary: read(event, 'summary'),
    description: read(event, 'description'),
    location: read(event, 'location'),
    url: read(event, 'url'),
    start: read(event, 'dtstart'),
    end: read(event, 'dtend'),
    organizer: read(event, 'organizer'),
    attendees: event.getAllProperties('attendee').map((attendee) => String(attendee.getFirstValue())),
    component: event,
  }));
  return { calendar, method, events };
}
