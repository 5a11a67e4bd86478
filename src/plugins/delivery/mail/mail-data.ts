import type { Location, Venue } from '../../../core/address-format.ts';
import type { CalendarGathering } from '../../../core/calendar.ts';
import type { DateSpan } from '../../../core/date-format.ts';
import type { Language } from '../../../core/reference/language.ts';
import { getEnrolmentStatus, hasConfirmedPlace, type EnrolmentStatus } from '../../../core/reference/statuses.ts';
import type { Settings } from '../../../core/settings.ts';
import { isEmailAddress, normalizeLineBreaks } from '../../../core/text.ts';
import type { MailFailure, MailPurpose } from '../../../database/tables/outbox.ts';
import type { MailTexts } from '../../../database/tables/providers.ts';

export type ActiveStatus = Exclude<EnrolmentStatus, 'deregistered' | 'deregisteredWithFee'>;

export type DisabledReason = 'failing' | 'gone';

export type MailGathering = CalendarGathering & { gatheringAt: string; gatheringEndAt: string };

/** A row of `findMail`; columns that its purpose does not need are null. */
export type MailRow = {
  id: number;
  purpose: MailPurpose;
  lastFailure: MailFailure;
  /** `yyyymmddThhmmssZ`. */
  createdAt: string;
  providerId: number;
  uidHost: string | null;
  userId: number | null;
  adminUserId: number | null;
  bookingId: number | null;
  /** True for a mail to the school, or to one of its admin users, about dates and participants. */
  isNotice: boolean;
  /** True if the booker is the recipient. */
  isToBooker: boolean;
  participantId: number | null;
  /** The participant of the mail, or the first one of the booking, and their user. */
  placeId: number | null;
  placeUserId: number | null;
  /** True if the participant is the recipient; null for a mail without one. */
  isToParticipant: boolean | null;
  /** True for a course user who has a password, or a mail to choose one. */
  canSignOn: boolean;
  interestId: number | null;
  /** False once the interest is deleted. */
  hasInterest: boolean;
  isInterestConfirmed: boolean | null;
  /** True while the date of an interest can be booked. */
  isBookable: boolean | null;
  /** False for a mail about the end of a place that was not confirmed; null for one of an earlier version too. */
  endsPlace: boolean | null;
  /** Time and place before a change. */
  before: Schedule | null;
  /** True for a receipt about another status than the booked one. */
  isStatusChanged: boolean;
  /** True while a place of the booking has no name. */
  hasUnnamed: boolean;
  /** True for an admin user that has left the provider. */
  isDetached: boolean;
  /** True for a course user whose personal data is erased. */
  isErased: boolean;
  /** True for a place without a name. */
  isPlaceholder: boolean;
  webhookHost: string | null;
  /** Null if the webhook is active again, or deleted. */
  disabledReason: DisabledReason | null;
  /** Address that the school is told about, and the answer of the mail server. */
  refusedEmail: string | null;
  refusalReason: string | null;
  /** Subject of the mail to it; null for one of an earlier version. */
  refusedSubject: string | null;
  /** True if mails to it are tried again. */
  isRefusalLifted: boolean;
  /** True if a later mail tells the school about the same address. */
  hasLaterNotice: boolean;
  bookingLanguage: Language | null;
  schoolLanguage: Language | null;
  schoolTexts: Partial<Record<Language, MailTexts>> | null;
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
  isDateDeleted: boolean;
  cancellationMessage: string | null;
  orderId: number | null;
  /** True if somebody else than the recipient pays. */
  hasOtherPayer: boolean | null;
  /** True for a participant whose booking has no other one, also none who has left. */
  isOnlyParticipant: boolean;
  /** Of the booking, without those who have left. */
  numParticipants: number;
  courseDateId: number | null;
  /** True for a date that is not the participant's. */
  isFormerDate: boolean;
  /** Empty for a mail that is not about a course. */
  title: string;
  startAt: string | null;
  endAt: string | null;
  startTimeAt: string | null;
  endTimeAt: string | null;
  zone: string | null;
  startsAtMs: number | null;
  endsAtMs: number | null;
  /** When the participant or the date was last changed. */
  updatedAtMs: number | null;
  hasStarted: boolean | null;
  isOver: boolean | null;
  isVirtual: boolean | null;
  eventUrl: string | null;
  location: Location | null;
  placeTitle: string | null;
  placeAdditionalInfo: string | null;
  gatherings: MailGathering[] | null;
  /** Of the date at any time since the participant was created. */
  fewestGatherings: number | null;
  mostGatherings: number | null;
};

type Schedule = DateSpan & Venue & Pick<MailRow, 'zone' | 'eventUrl' | 'gatherings'> & { isCanceled: boolean };

/** The differences between a changed date and its former values. */
export type ScheduleChange = 'time' | 'place' | 'link';

export type MailData = Omit<MailRow, 'bookingLanguage' | 'schoolLanguage' | 'schoolTexts'> & {
  language: Language;
  /** Of the school, in place of the usual ones. */
  words: Pick<MailTexts, 'greeting' | 'footer'>;
};

export const toEnrolment = ({ statusId, dateStatusId }: MailData) => ({
  statusId: statusId!,
  dateStatusId: dateStatusId!,
});

/** Of a participant who has not left. A person with an open offer still waits. */
export const toActiveStatus = (mail: MailData) =>
  mail.heldFor === 'offer' ? 'waiting' : (getEnrolmentStatus(toEnrolment(mail)) as ActiveStatus);

const confirming: MailPurpose[] = ['receipt', 'promotion', 'move', 'swap', 'date_changed', 'reminder'];

/** True for a mail that tells a participant, or the booker, of a place. */
export const confirmsPlace = ({ purpose, isToParticipant, isToBooker }: MailData) =>
  confirming.includes(purpose) && (isToParticipant === true || isToBooker);

/** True if the recipient has a confirmed place, and may see how to join. */
export const mayJoin = (mail: MailData) =>
  confirmsPlace(mail) && mail.isToParticipant === true && hasConfirmedPlace(toEnrolment(mail));

const isToSchool = ({ isNotice, purpose }: Pick<MailRow, 'isNotice' | 'purpose'>) =>
  isNotice || purpose === 'webhook_disabled' || purpose === 'address_refused';

/**
 * Selects the language and the school's words. Removes line breaks, which could inject headers, and an invalid reply
 * address.
 */
export function toMailData(row: MailRow, { defaultLanguage }: Pick<Settings, 'defaultLanguage'>): MailData {
  const { bookingLanguage, schoolLanguage, schoolTexts, ...others } = joinLines(row) as MailRow;
  const language = (isToSchool(row) ? null : bookingLanguage) ?? schoolLanguage ?? defaultLanguage;
  const isToStaff = isToSchool(row) || row.adminUserId !== null;
  const { greeting = null, footer = null, reply_to = null } = (!isToStaff && schoolTexts?.[language]) || {};
  const contact = reply_to ?? others.contact;
  // The school itself gets its notices.
  const hasContact = isEmailAddress(contact) && !isToSchool(row);
  return { ...others, language, words: { greeting, footer }, contact: hasContact ? contact : '' };
}

/** Texts of several lines. */
const multiline = ['footer', 'description', 'cancellationMessage', 'placeAdditionalInfo'];

/** Replaces line breaks and control characters in all strings of a value, but for its texts of several lines. */
export function joinLines(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return multiline.includes(name) ? normalizeLineBreaks(value).trim() : joinLine(value);
  if (Array.isArray(value)) return value.map((inner) => joinLines(inner));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, joinLines(inner, key)]));
}

const joinLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

export const isNotEmpty = (text: string | null): text is string => text !== null && text !== '';
