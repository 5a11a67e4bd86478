import type { Settings } from '../core/context.ts';
import { spanEnds, toDateSpan, type Span } from '../lib/date-format.ts';
import { isOnline, placeLines, type Location } from '../lib/address-format.ts';
import { isAddress } from '../lib/text.ts';
import type { Language } from '../reference/language.ts';
import { hasLeft, hasPlace, seat, getEnrolmentStatus } from '../reference/statuses.ts';
import type { Letter } from './letter.tsx';
import { words, type Enrolled, type Words } from './messages.ts';

/** What the database knows for one mail, without line breaks; what a purpose has no need of is null. */
export type FoundMail = {
  id: number;
  purpose: 'invitation' | 'account_created' | 'receipt' | 'deregistration';
  /** `yyyymmddThhmmssZ`. */
  createdAt: string;
  providerId: number;
  userId: number | null;
  adminUserId: number | null;
  email: string;
  username: string;
  firstname: string;
  lastname: string;
  school: string;
  phone: string;
  webAddress: string;
  /** The school's address for answers, or empty. */
  contact: string;
  statusId: number | null;
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

/** The words of a mail. `link` is where its password is chosen, for the purposes that have one. */
export function compose(
  mail: FoundMail,
  { defaultLanguage: language, timezone }: Settings,
  link: string | null,
): Letter {
  const say = words[language];
  const { contact, phone, webAddress } = mail;
  const { subject, text } = getOpening(mail, say);
  return {
    language,
    subject,
    greeting: say.greeting(mail.firstname),
    opening: text,
    facts: mail.startAt === null ? [] : getFacts(mail, language, timezone),
    button: link === null ? null : { label: say.choosePassword, href: link },
    closing: [...(link === null ? [] : say.onceOnly(mail.school)), ...(contact === '' ? [] : [say.questions])],
    sender: [say.regards, mail.school, contact, phone, webAddress].filter(isGiven),
  };
}

function getOpening(mail: FoundMail, say: Words) {
  const { purpose, school, username, title } = mail;
  switch (purpose) {
    case 'invitation':
      return say.invitation(school, username);
    case 'account_created':
      return say.accountCreated(school, username);
    case 'receipt':
      // One of somebody who has left is outdated.
      return say.receipt(getEnrolmentStatus(enrolledIn(mail)) as Enrolled, school, title ?? '');
    case 'deregistration':
      return say.deregistration(mail.statusId === seat.deregisteredWithFee, school, title ?? '');
  }
}

/** Of a mail about a participant. */
const enrolledIn = ({ statusId, dateStatusId }: FoundMail) => ({ statusId: statusId!, dateStatusId: dateStatusId! });

/** Why a mail that was delayed has nothing true to tell any more. */
export function outdated({ purpose, statusId }: FoundMail) {
  if (purpose === 'receipt' && hasLeft(statusId!)) return 'its participant has left since';
  if (purpose === 'deregistration' && !hasLeft(statusId!)) return 'its participant is back since';
  return null;
}

function getFacts(mail: FoundMail, language: Language, timezone: string) {
  const say = words[language];
  const zone = mail.zone === timezone ? '' : ` (${mail.zone})`;
  const days = getDays(mail, language).map((day) => `${day}${zone}`);
  const mayJoin = mail.purpose === 'receipt' && hasPlace(enrolledIn(mail));
  const facts = [
    { name: say.facts.participant, lines: [`${mail.firstname} ${mail.lastname}`.trim()] },
    { name: say.facts.course, lines: [mail.title] },
    { name: days.length > 1 ? say.facts.dates : say.facts.date, lines: days },
    { name: say.facts.place, lines: [isOnline(mail) ? say.online : null, ...placeLines(mail)] },
    { name: say.facts.link, lines: [mayJoin ? mail.eventUrl : null] },
    { name: say.facts.order, lines: [mail.purpose === 'receipt' ? String(mail.orderId) : null] },
  ];
  return facts
    .map(({ name, lines }) => ({ name, lines: lines.filter(isGiven) }))
    .filter(({ lines }) => lines.length > 0);
}

/** Each gathering, or the course date from its first day to its last. */
function getDays(mail: FoundMail, language: Language) {
  const { gatherings } = mail;
  if (gatherings === null) return [spanInWords(mail as Span, language)];
  return gatherings.map((gathering) =>
    [spanInWords(toDateSpan(gathering), language), gathering.theme].filter(isGiven).join(': '),
  );
}

const spanInWords = (span: Span, language: Language) =>
  spanEnds(span, language)
    .map(({ day, time }) => [day, time].filter(isGiven).join(', '))
    .join(' – ');

/** As read, without what could begin another line or header, and with an address for answers only if it is one. */
export function tidied(found: FoundMail): FoundMail {
  const mail = inOneLine(found) as FoundMail;
  return { ...mail, contact: isAddress(mail.contact) ? mail.contact : '' };
}

/** The same with each of its texts in one line. */
function inOneLine(value: unknown): unknown {
  if (typeof value === 'string') return oneLine(value);
  if (Array.isArray(value)) return value.map(inOneLine);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inOneLine(inner)]));
}

const oneLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

const isGiven = (text: string | null): text is string => text !== null && text !== '';
