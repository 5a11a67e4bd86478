import { toCalendar, type CalendarPerson, type CalendarPlace } from '../../../core/calendar.ts';
import { hasConfirmedPlace, postponed } from '../../../core/reference/statuses.ts';
import { toUidHost, type Settings } from '../../../core/settings.ts';
import type { MailPurpose } from '../../../database/tables/outbox.ts';
import { maxGatherings } from './find-mail.ts';
import { toHtml, toText, type Letter } from './letter.tsx';
import { type MailData, toEnrolment } from './mail-data.ts';
import type { Message } from './transport.ts';

/** Equal for all attempts, so that recipients can detect duplicates, and unique across databases. */
export const mailName = ({ createdAt, id }: MailData) => `${createdAt}-${id}`;

/** Sent from the service's address in the school's name; replies go to the school. `name` is that of the message id. */
export function toMessage(
  mail: MailData,
  letter: Letter,
  calendar: MailCalendar | null,
  from: string,
  name = mailName(mail),
): Message {
  const { school, firstname, lastname, email, contact } = mail;
  return {
    from: { name: school, address: from },
    to: { name: `${firstname} ${lastname}`.trim(), address: email },
    ...(contact === '' ? {} : { replyTo: { name: school, address: contact } }),
    subject: letter.subject,
    text: toText(letter),
    html: toHtml(letter),
    ...(calendar && toCalendarPart(calendar)),
    messageId: `<${name}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': letter.language },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function toCalendarPart({ alternative, attachment }: MailCalendar): Pick<Message, 'alternatives' | 'attachments'> {
  const toPart = ({ method, content }: { method: string; content: string }) => ({
    content,
    contentType: `text/calendar; charset=utf-8; method=${method}`,
    // Base64 keeps its line breaks.
    contentTransferEncoding: 'base64' as const,
  });
  return {
    ...(alternative && { alternatives: [toPart(alternative)] }),
    ...(attachment && { attachments: [{ ...toPart(attachment), filename: 'calendar.ics' }] }),
  };
}

const placing: MailPurpose[] = ['receipt', 'promotion', 'move', 'swap', 'date_changed'];
const ending: MailPurpose[] = ['deregistration', 'date_canceled', 'moved_away', 'swap'];

type MailCalendar = {
  /** The first event, for programs, which act on it. */
  alternative: { method: 'REQUEST' | 'CANCEL'; content: string } | null;
  /** All events, for the reader to open. */
  attachment: { method: 'PUBLISH'; content: string } | null;
};

/**
 * The calendar of a mail to a participant: an invitation or its end for a date with at most one gathering, a published
 * calendar for one with several, and both if the date has had both since the participant was created. Of a receipt to
 * the booker: the entry of the first participant. Null for mails that change no entry.
 */
export function composeCalendar(
  mail: MailData,
  settings: Pick<Settings, 'publicUrl'>,
  from: string,
): MailCalendar | null {
  const uidHost = toUidHost(mail.uidHost, settings);
  if (mail.purpose === 'booking_receipt') return composeOfBooking(mail, uidHost, from);
  const change = findChange(mail);
  if (change === undefined) return null;
  const { providerId, school, participantName: name, email, fewestGatherings, mostGatherings } = mail;
  const gatherings = mail.gatherings ?? [];
  const toContent = (method: MailMethod, events: PlaceEvents, attendee?: CalendarPerson) =>
    toCalendar(toPlace(mail, events), {
      ...{ providerId, uidHost, method, isCanceled: change === 'CANCEL' },
      organizer: { name: school, email: from },
      // RFC 5546, 3.2.1: none in a published calendar.
      ...(attendee && { attendee }),
    });
  const first = { gatherings: gatherings.slice(0, 1) };
  const numFormerEvents = Math.max(Math.min(mostGatherings!, maxGatherings) - Math.max(gatherings.length, 1), 0);
  return {
    alternative: fewestGatherings! > 1 ? null : { method: change, content: toContent(change, first, { name, email }) },
    attachment:
      mostGatherings! > 1
        ? { method: 'PUBLISH', content: toContent('PUBLISH', { gatherings, numFormerEvents }) }
        : null,
  };
}

type MailMethod = 'REQUEST' | 'CANCEL' | 'PUBLISH';
type PlaceEvents = Pick<CalendarPlace, 'gatherings' | 'numFormerEvents'>;

/** Without how to join, which participants alone may see. */
function composeOfBooking(mail: MailData, uidHost: string, from: string): MailCalendar | null {
  const { providerId, school, startAt, statusId, dateStatusId, placeId, placeUserId } = mail;
  const isPlaced = startAt !== null && statusId !== null && hasConfirmedPlace(toEnrolment(mail));
  if (!isPlaced || dateStatusId === postponed) return null;
  const gatherings = (mail.gatherings ?? []).map((one) => ({ ...one, eventUrl: null }));
  const place = { ...mail, participantId: placeId, userId: placeUserId, eventUrl: null, gatherings } as CalendarPlace;
  const options = { providerId, uidHost, method: 'PUBLISH' as const, organizer: { name: school, email: from } };
  return { alternative: null, attachment: { method: 'PUBLISH', content: toCalendar(place, options) } };
}

/** How a mail changes the entry of its recipient; undefined for those who have none. */
function findChange(mail: MailData): 'REQUEST' | 'CANCEL' | undefined {
  const { purpose, userId, isToParticipant, endsPlace, dateStatusId } = mail;
  if (userId === null || mail.startAt === null) return undefined;
  if (placing.includes(purpose) && isToParticipant === true) {
    // The status is another one than the booked one.
    if (!hasConfirmedPlace(toEnrolment(mail))) return purpose === 'receipt' && endsPlace ? 'CANCEL' : undefined;
    if (dateStatusId !== postponed) return 'REQUEST';
    return purpose === 'date_changed' ? 'CANCEL' : undefined;
  }
  return ending.includes(purpose) && endsPlace !== false ? 'CANCEL' : undefined;
}

/** `findChange` has excluded mails without a course date. */
const toPlace = (mail: MailData, events: PlaceEvents) => ({ ...mail, ...events }) as CalendarPlace;
