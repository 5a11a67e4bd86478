import type { Settings } from '../../../core/settings.ts';
import { spanEnds, toDateSpan, type DateSpan } from '../../../core/date-format.ts';
import { isOnline, venueLines, type Location } from '../../../core/address-format.ts';
import { isEmailAddress } from '../../../core/text.ts';
import type { Language } from '../../../core/reference/language.ts';
import { hasLeft, hasConfirmedPlace, participantStatus, getEnrolmentStatus } from '../../../core/reference/statuses.ts';
import type { Letter } from './letter.tsx';
import { letterTexts, type ActiveStatus, type DisabledReason, type LetterTexts } from './messages.ts';

/** A mail's data as `findMail` returns it; columns that its purpose does not need are null. */
export type MailData = {
  id: number;
  purpose:
    'invitation' | 'account_created' | 'receipt' | 'deregistration' | 'webhook_disabled' | 'swap' | 'move' | 'offer';
  /** `yyyymmddThhmmssZ`. */
  createdAt: string;
  providerId: number;
  userId: number | null;
  adminUserId: number | null;
  /** True for an admin user that has left the provider. */
  isDetached: boolean;
  /** True for a course user whose personal data is erased. */
  isErased: boolean;
  /** True if the participant is another person since. */
  isSwapped: boolean;
  webhookHost: string | null;
  /** Null if the webhook is active again, or deleted. */
  disabledReason: DisabledReason | null;
  email: string;
  username: string;
  firstname: string;
  lastname: string;
  school: string;
  phone: string;
  webAddress: string;
  /** The school's reply address, or empty. */
  contact: string;
  statusId: number | null;
  heldFor: 'offer' | 'name' | null;
  dateStatusId: number | null;
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

/** `link` leads to the page that sets a password, for the purposes that need it. */
export function compose(
  mail: MailData,
  { defaultLanguage: language, timezone }: Settings,
  link: string | null,
): Letter {
  const texts = letterTexts[language];
  const { contact, phone, webAddress } = mail;
  const { subject, text } = composeOpening(mail, texts);
  return {
    language,
    subject,
    greeting: texts.greeting(mail.firstname),
    opening: text,
    facts: mail.startAt === null ? [] : composeFacts(mail, language, timezone),
    button: link === null ? null : { label: texts.choosePassword, href: link },
    closing: [...(link === null ? [] : texts.onceOnly(mail.school)), ...(contact === '' ? [] : [texts.questions])],
    sender: [texts.regards, mail.school, contact, phone, webAddress].filter(isNotEmpty),
  };
}

function composeOpening(mail: MailData, texts: LetterTexts) {
  const { purpose, school, username, title } = mail;
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
      return texts.receipt(getEnrolmentStatus(toEnrolment(mail)) as ActiveStatus, school, title ?? '');
    case 'swap':
    case 'move':
      return texts[purpose](getEnrolmentStatus(toEnrolment(mail)) as ActiveStatus, school, title ?? '');
    case 'offer':
      return texts.offer(school, title ?? '');
    case 'deregistration':
      return texts.deregistration(mail.statusId === participantStatus.deregisteredWithFee, school, title ?? '');
  }
}

const toEnrolment = ({ statusId, dateStatusId }: MailData) => ({ statusId: statusId!, dateStatusId: dateStatusId! });

/** Reason why a delayed mail is no longer true, or null. */
export function outdatedReason(mail: MailData) {
  const { purpose, isDetached, isErased, isSwapped, statusId, heldFor, disabledReason } = mail;
  if (isDetached) return 'its admin user is detached since';
  if (isErased) return 'its course user is erased since';
  if (purpose === 'webhook_disabled' && disabledReason === null) return 'its webhook is active or deleted since';
  if (isAboutPlace(purpose)) {
    if (hasLeft(statusId!)) return 'its participant has left since';
    if (isSwapped) return 'another person has its place since';
  }
  if (purpose === 'offer' && (isSwapped || heldFor !== 'offer')) return 'its offer has ended since';
  if (purpose === 'deregistration' && !hasLeft(statusId!)) return 'its participant is back since';
  return null;
}

/** A mail about a place that the recipient has. */
const isAboutPlace = (purpose: MailData['purpose']) =>
  purpose === 'receipt' || purpose === 'swap' || purpose === 'move';

function composeFacts(mail: MailData, language: Language, timezone: string) {
  const texts = letterTexts[language];
  const zone = mail.zone === timezone ? '' : ` (${mail.zone})`;
  const days = formatDays(mail, language).map((day) => `${day}${zone}`);
  const mayJoin = isAboutPlace(mail.purpose) && hasConfirmedPlace(toEnrolment(mail));
  const facts = [
    { name: texts.facts.participant, lines: [`${mail.firstname} ${mail.lastname}`.trim()] },
    { name: texts.facts.course, lines: [mail.title] },
    { name: days.length > 1 ? texts.facts.dates : texts.facts.date, lines: days },
    { name: texts.facts.place, lines: [isOnline(mail) ? texts.online : null, ...venueLines(mail)] },
    { name: texts.facts.link, lines: [mayJoin ? mail.eventUrl : null] },
    { name: texts.facts.order, lines: [mail.purpose === 'receipt' ? String(mail.orderId) : null] },
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
