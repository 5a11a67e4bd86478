import { toCalendar, type CalendarPlace } from '../../../core/calendar.ts';
import { hasConfirmedPlace, participantStatus, postponed } from '../../../core/reference/statuses.ts';
import type { Settings } from '../../../core/settings.ts';
import type { MailPurpose } from '../../../database/tables/outbox.ts';
import { toEnrolment, type MailData } from './mail-data.ts';

const placing: MailPurpose[] = ['receipt', 'promotion', 'move', 'swap', 'date_changed'];
const ending: MailPurpose[] = ['deregistration', 'date_canceled', 'moved_away', 'swap'];

export type MailCalendar = { method: 'REQUEST' | 'CANCEL' | 'PUBLISH'; content: string };

/**
 * The calendar of a mail to a participant: an invitation or its end for a date with at most one gathering, else a
 * calendar of all gatherings. Of a receipt to the booker: the entry of the first participant. Null for mails that change
 * no entry.
 */
export function composeCalendar(mail: MailData, { publicUrl }: Pick<Settings, 'publicUrl'>, from: string) {
  if (mail.purpose === 'booking_receipt') return composeOfBooking(mail, publicUrl, from);
  const change = findChange(mail);
  if (change === undefined) return null;
  const { providerId, school, participantName: name, email } = mail;
  const isSingle = (mail.gatherings?.length ?? 0) <= 1;
  const method = isSingle ? change : 'PUBLISH';
  const content = toCalendar([toPlace(mail)], {
    ...{ providerId, publicUrl, method, isCanceled: change === 'CANCEL' },
    organizer: { name: school, email: from },
    // RFC 5546, 3.2.1: none in a published calendar.
    ...(isSingle && { attendee: { name, email } }),
  });
  return { method, content } satisfies MailCalendar;
}

/** Without how to join, which participants alone may see. */
function composeOfBooking(mail: MailData, publicUrl: string, from: string): MailCalendar | null {
  const { providerId, school, startAt, statusId, dateStatusId, placeId, placeUserId } = mail;
  const isPlaced = startAt !== null && statusId !== null && hasConfirmedPlace(toEnrolment(mail));
  if (!isPlaced || dateStatusId === postponed) return null;
  const gatherings = (mail.gatherings ?? []).map((one) => ({ ...one, eventUrl: null }));
  const place = { ...mail, participantId: placeId, userId: placeUserId, eventUrl: null, gatherings } as CalendarPlace;
  const options = { providerId, publicUrl, method: 'PUBLISH' as const, organizer: { name: school, email: from } };
  return { method: 'PUBLISH', content: toCalendar([place], options) };
}

/** How a mail changes the entry of its recipient; undefined for those who have none. */
function findChange(mail: MailData): 'REQUEST' | 'CANCEL' | undefined {
  const { purpose, userId, isToParticipant, statusId, dateStatusId } = mail;
  if (userId === null || mail.startAt === null) return undefined;
  const isPlacing = placing.includes(purpose) && isToParticipant === true;
  if (isPlacing) return hasConfirmedPlace(toEnrolment(mail)) && dateStatusId !== postponed ? 'REQUEST' : undefined;
  const hadSeat = purpose === 'moved_away' || statusId !== participantStatus.waiting;
  return ending.includes(purpose) && hadSeat ? 'CANCEL' : undefined;
}

/** `findChange` has excluded mails without a course date. */
const toPlace = (mail: MailData) => ({ ...mail, gatherings: mail.gatherings ?? [] }) as CalendarPlace;
