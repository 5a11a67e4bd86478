import type { Settings } from '../../../core/settings.ts';
import { formatDay, spanEnds, toDateSpan, type DateSpan } from '../../../core/date-format.ts';
import { isOnline, venueLines, type Location } from '../../../core/address-format.ts';
import { isEmailAddress } from '../../../core/text.ts';
import type { Language } from '../../../core/reference/language.ts';
import {
  canceled,
  hasLeft,
  hasConfirmedPlace,
  participantStatus,
  getEnrolmentStatus,
} from '../../../core/reference/statuses.ts';
import type { MailPurpose } from '../../../database/tables/outbox.ts';
import type { Letter } from './letter.tsx';
import { composeNotice, type NoticePurpose } from './notices.ts';
import { letterTexts, type ActiveStatus, type DisabledReason, type LetterTexts } from './messages.ts';

/** A mail's data as `findMail` returns it; columns that its purpose does not need are null. */
export type MailData = {
  id: number;
  purpose: MailPurpose;
  /** `yyyymmddThhmmssZ`. */
  createdAt: string;
  providerId: number;
  userId: number | null;
  adminUserId: number | null;
  bookingId: number | null;
  /** True if the booker is the recipient. */
  isToBooker: boolean;
  participantId: number | null;
  /** True if the participant is the recipient; null for a mail without one. */
  isToParticipant: boolean | null;
  /** True for an admin user that has left the provider. */
  isDetached: boolean;
  /** True for a course user whose personal data is erased. */
  isErased: boolean;
  /** True for a place without a name. */
  isPlaceholder: boolean;
  webhookHost: string | null;
  /** Null if the webhook is active again, or deleted. */
  disabledReason: DisabledReason | null;
  email: string;
  username: string;
  firstname: string;
  lastname: string;
  /** Of the recipient, or of the participant in a mail to somebody else than a course user. */
  participantName: string;
  school: string;
  phone: string;
  webAddress: string;
  /** The school's reply address, or empty. */
  contact: string;
  statusId: number | null;
  heldFor: string | null;
  /** `yyyy-mm-dd hh:mm` */
  heldUntil: string | null;
  dateStatusId: number | null;
  cancellationMessage: string | null;
  orderId: number | null;
  title: string | null;
  startAt: string | null;
  endAt: string | null;
  startTimeAt: string | null;
  endTimeAt: string | null;
  zone: string | null;
  isVirtual: boolean | null;
  eventUrl: string | null;
  location: Location | null;
  placeTitle: string | null;
  placeAdditionalInfo: string | null;
  gatherings: { gatheringAt: string; gatheringEndAt: string; theme: string | null }[] | null;
};

/** `link` leads to the page that the purpose needs, if any. */
export function compose(
  mail: MailData,
  { defaultLanguage: language, timezone }: Settings,
  link: string | null,
): Letter {
  const texts = letterTexts[language];
  const { contact, phone, webAddress } = mail;
  const { subject, text } = composeOpening(mail, texts);
  const button = link === null ? null : { ...getLinkTexts(mail, texts), href: link };
  return {
    language,
    subject,
    greeting: texts.greeting(mail.firstname),
    opening: text.filter(isNotEmpty),
    facts: mail.startAt === null ? [] : composeFacts(mail, language, timezone),
    button: button && { label: button.label, href: button.href },
    closing: [...(button?.closing ?? []), ...(contact === '' ? [] : [texts.questions])],
    sender: [texts.regards, mail.school, contact, phone, webAddress].filter(isNotEmpty),
  };
}

function getLinkTexts({ purpose, school }: MailData, texts: LetterTexts) {
  if (purpose === 'offer') return texts.offerLink;
  return purpose === 'booking_link' ? texts.payerLink : texts.passwordLink(school);
}

function composeOpening(mail: MailData, texts: LetterTexts) {
  const { purpose, school, username, isToParticipant } = mail;
  const title = mail.title ?? '';
  switch (purpose) {
    case 'invitation':
      return texts.invitation(school, username);
    case 'account_created':
      return texts.accountCreated(school, username);
    case 'webhook_disabled':
      // `outdatedReason` has excluded a webhook that is active.
      return texts.webhookDisabled(mail.disabledReason!, mail.webhookHost!);
    case 'receipt':
      // `outdatedReason` has excluded the other statuses.
      return texts.receipt(toActiveStatus(mail), school, title);
    case 'deregistration':
      return texts.deregistration(mail.statusId === participantStatus.deregisteredWithFee, school, title);
    case 'offer':
      return texts.offer(school, title);
    case 'booking_link':
      return texts.bookingLink(school, title);
    case 'swap':
      return isToParticipant ? texts.swap(toActiveStatus(mail), school, title) : texts.swappedOut(school, title);
    case 'move':
      return addMessage(
        isToParticipant ? texts.move(toActiveStatus(mail), school, title) : texts.moveOfBooking(school, title),
        mail,
      );
    case 'date_canceled':
      return texts.dateCanceled(school, title, mail.cancellationMessage ?? '');
    case 'date_changed':
      return texts.dateChanged(school, title);
    case 'promotion':
      return texts.promotion(school, title);
    case 'reminder':
      return texts.reminder(school, title);
    case 'booking_receipt':
      return texts.bookingReceipt(school, title);
    case 'moved_away':
      return texts.movedAway(school, title);
    default:
      return composeNotice(mail.purpose as NoticePurpose, title);
  }
}

/** Of a date that was canceled. */
const addMessage = ({ subject, text }: { subject: string; text: string[] }, { cancellationMessage }: MailData) => ({
  subject,
  text: [...text, cancellationMessage ?? ''],
});

/** A person with an open offer still waits. */
const toActiveStatus = (mail: MailData) =>
  mail.heldFor === 'offer' ? 'waiting' : (getEnrolmentStatus(toEnrolment(mail)) as ActiveStatus);

const toEnrolment = ({ statusId, dateStatusId }: MailData) => ({ statusId: statusId!, dateStatusId: dateStatusId! });

/** Reason why a delayed mail is no longer true, or null. */
export function outdatedReason(mail: MailData) {
  const { purpose, isToParticipant, userId, statusId } = mail;
  if (mail.isDetached) return 'its admin user is detached since';
  if (mail.isErased) return 'its course user is erased since';
  if (mail.isPlaceholder) return 'its participant has no name';
  if (mail.isToBooker && mail.email === '') return 'its booker has no e-mail address';
  if (purpose === 'webhook_disabled' && mail.disabledReason === null) return 'its webhook is active or deleted since';
  if (purpose === 'offer' && mail.heldFor !== 'offer') return 'its offer has ended since';
  if (purpose === 'date_canceled' && mail.dateStatusId !== canceled) return 'its date is not canceled any more';
  if (userId !== null && isToParticipant === false && purpose !== 'swap') return 'another person has its place since';
  if (purpose === 'deregistration' && !hasLeft(statusId!)) return 'its participant is back since';
  if (confirmsPlace(mail) && hasLeft(statusId!)) return 'its participant has left since';
  return null;
}

const confirmsPlace = ({ purpose, isToParticipant }: MailData) =>
  purpose === 'receipt' || purpose === 'move' || (purpose === 'swap' && isToParticipant === true);

function composeFacts(mail: MailData, language: Language, timezone: string) {
  const texts = letterTexts[language];
  const { purpose } = mail;
  const zone = mail.zone === timezone ? '' : ` (${mail.zone})`;
  const days = formatDays(mail, language).map((day) => `${day}${zone}`);
  const mayJoin = confirmsPlace(mail) && mail.isToParticipant === true && hasConfirmedPlace(toEnrolment(mail));
  const hasOrder = purpose === 'receipt' || purpose === 'booking_link';
  const [day, time] = (purpose === 'offer' && mail.heldUntil?.split(' ')) || [];
  const facts = [
    { name: texts.facts.participant, lines: [purpose === 'booking_link' ? null : mail.participantName] },
    { name: texts.facts.course, lines: [mail.title] },
    { name: days.length > 1 ? texts.facts.dates : texts.facts.date, lines: days },
    { name: texts.facts.place, lines: [isOnline(mail) ? texts.online : null, ...venueLines(mail)] },
    { name: texts.facts.link, lines: [mayJoin ? mail.eventUrl : null] },
    { name: texts.facts.order, lines: [hasOrder ? String(mail.orderId) : null] },
    { name: texts.facts.until, lines: [day ? `${formatDay(day, language)}, ${time}${zone}` : null] },
  ];
  return facts
    .map(({ name, lines }) => ({ name, lines: lines.filter(isNotEmpty) }))
    .filter(({ lines }) => lines.length > 0);
}

/** One line per session, or one for the whole course date. */
function formatDays(mail: MailData, language: Language) {
  const { gatherings } = mail;
  if (gatherings === null) return [formatSpan(mail as DateSpan, language)];
  return gatherings.map((gathering) =>
    [formatSpan(toDateSpan(gathering), language), gathering.theme].filter(isNotEmpty).join(': '),
  );
}

const formatSpan = (span: DateSpan, language: Language) =>
  spanEnds(span, language)
    .map(({ day, time }) => [day, time].filter(isNotEmpty).join(', '))
    .join(' – ');

/** Removes line breaks, which could inject headers, and an invalid reply address. */
export function sanitizeMail(data: MailData): MailData {
  const mail = joinLines(data) as MailData;
  // The school itself gets the mail about a webhook.
  const hasContact = isEmailAddress(mail.contact) && mail.purpose !== 'webhook_disabled';
  return { ...mail, contact: hasContact ? mail.contact : '' };
}

/** Replaces line breaks and control characters in all strings of a value. */
function joinLines(value: unknown): unknown {
  if (typeof value === 'string') return joinLine(value);
  if (Array.isArray(value)) return value.map(joinLines);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, joinLines(inner)]));
}

const joinLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

const isNotEmpty = (text: string | null): text is string => text !== null && text !== '';
