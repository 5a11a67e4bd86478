import { sql } from 'drizzle-orm';
import { toCalendar, type CalendarPerson } from '../../../core/calendar.ts';
import { hasConfirmedPlace, postponed } from '../../../core/reference/statuses.ts';
import { toUidHost } from '../../../core/settings.ts';
import type { Reader } from '../../../database/client.ts';
import { serviceState } from '../../../database/tables/providers.ts';
import { maxGatherings } from './dates.ts';
import type { Mail, Sources } from './mails.ts';
import type { Place } from './place.ts';
import type { CalendarPart, MailCalendar } from './mail-types.ts';

/**
 * How a mail changes the entry of its recipient, if at all: by a place, by a status or a date that may have ended it,
 * or by its end. Of a receipt to the booker: the entry of the first participant.
 */
export type CalendarChange = 'place' | 'status' | 'date' | 'end' | 'booking';

/**
 * The calendar of a mail to a participant: an invitation or its end for a date with at most one gathering, a published
 * calendar for one with several, and both if the date has had both since the participant was created. Undefined for
 * mails that change no entry.
 */
export async function composeCalendar(
  { database: { unlocked }, settings, from }: Sources,
  mail: Mail,
  place: Place,
  change: CalendarChange,
): Promise<MailCalendar | undefined> {
  const method = findMethod(mail, place, change);
  if (method === undefined) return undefined;
  const { providerId, school, email } = mail;
  const { date, enrolment, updatedAtMs } = place;
  const [state] = await unlocked.select({ uidHost: serviceState.uidHost }).from(serviceState);
  const common = { providerId, uidHost: toUidHost(state?.uidHost ?? null, settings) };
  const organizer = { name: school, email: from };
  const ids = { participantId: place.placeId, userId: mail.userId ?? place.placeUserId };
  const shown = { ...date, ...enrolment, ...ids, updatedAtMs };
  if (method === 'PUBLISH') {
    // Without how to join, which participants alone may see.
    const gatherings = date.gatherings.map((one) => ({ ...one, eventUrl: null }));
    const content = toCalendar({ ...shown, eventUrl: null, gatherings }, { ...common, method, organizer });
    return { alternative: null, attachment: { method, content } };
  }
  const { fewest, most } = await countGatherings(unlocked, mail, place);
  const toPart = (method: CalendarPart['method'], events: object, attendee?: CalendarPerson): CalendarPart => ({
    method,
    content: toCalendar(
      { ...shown, ...events },
      // RFC 5546, 3.2.1: no attendee in a published calendar.
      { ...common, method, isCanceled: isEnd, organizer, ...(attendee && { attendee }) },
    ),
  });
  const isEnd = method === 'CANCEL';
  const { gatherings } = date;
  const first = { gatherings: gatherings.slice(0, 1) };
  const numFormerEvents = Math.max(Math.min(most, maxGatherings) - Math.max(gatherings.length, 1), 0);
  return {
    alternative: fewest > 1 ? null : toPart(method, first, { name: place.participantName, email }),
    attachment: most > 1 ? toPart('PUBLISH', { numFormerEvents }) : null,
  };
}

function findMethod({ userId, endsPlace }: Mail, { date, enrolment }: Place, change: CalendarChange) {
  if (userId === null && change !== 'booking') return undefined;
  if (change === 'end') return endsPlace === false ? undefined : 'CANCEL';
  // The status is another one than the booked one.
  if (!hasConfirmedPlace(enrolment)) return change === 'status' && endsPlace ? 'CANCEL' : undefined;
  if (date.dateStatusId === postponed) return change === 'date' ? 'CANCEL' : undefined;
  return change === 'booking' ? 'PUBLISH' : 'REQUEST';
}

/** The numbers of gatherings that the date had since the participant was created; calendars may have so many entries. */
async function countGatherings(db: Reader, { providerId }: Mail, { date, createdAt }: Place) {
  const changes = (column: 'created_at' | 'deleted_at', change: 1 | -1) =>
    sql`select greatest(${sql.raw(column)}, ${createdAt}::timestamptz) as at, ${sql.raw(String(change))} as change
      from gatherings where provider_id = ${providerId} and course_date_id = ${date.courseDateId}
        and ${sql.raw(column)} is not null`;
  const numbers = sql`(select sum(sum(change)) over (order by at) as n from (
      select ${createdAt}::timestamptz as at, 0 as change
      union all ${changes('created_at', 1)}
      union all ${changes('deleted_at', -1)}) changes
    group by at) numbers`;
  const [found] = await db.select({ fewest: sql<number>`min(n)::int`, most: sql<number>`max(n)::int` }).from(numbers);
  return found ?? { fewest: 0, most: 0 };
}
