import type { Location } from '../../../core/address-format.ts';
import { getEnrolmentStatus, type EnrolmentStatus } from '../../../core/reference/statuses.ts';
import { isEmailAddress } from '../../../core/text.ts';
import type { MailPurpose } from '../../../database/tables/outbox.ts';

export type ActiveStatus = Exclude<EnrolmentStatus, 'deregistered' | 'deregisteredWithFee'>;

export type DisabledReason = 'failing' | 'gone';

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
  /** Empty for a mail that is not about a course. */
  title: string;
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

export const toEnrolment = ({ statusId, dateStatusId }: MailData) => ({
  statusId: statusId!,
  dateStatusId: dateStatusId!,
});

/** Of a participant who has not left. A person with an open offer still waits. */
export const toActiveStatus = (mail: MailData) =>
  mail.heldFor === 'offer' ? 'waiting' : (getEnrolmentStatus(toEnrolment(mail)) as ActiveStatus);

/** True for a mail that tells a participant of a place. */
export const confirmsPlace = ({ purpose, isToParticipant }: MailData) =>
  purpose === 'receipt' || purpose === 'move' || (purpose === 'swap' && isToParticipant === true);

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

export const isNotEmpty = (text: string | null): text is string => text !== null && text !== '';
