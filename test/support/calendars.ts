import ICAL from 'ical.js';
import { expect } from 'vitest';

const encoder = new TextEncoder();

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
  return { calendar, method: read(calendar, 'method'), events };
}
