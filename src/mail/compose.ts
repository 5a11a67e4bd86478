import type { Settings } from '../core/context.ts';
import { isAddress } from '../core/text.ts';
import { hasLeft, hasPlace, seat, standingOf } from '../reference/statuses.ts';
import type { Letter } from './letter.tsx';
import { words, type Enrolled, type Words } from './words.ts';

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
  startDay: string | null;
  endDay: string | null;
  startTime: string | null;
  endTime: string | null;
  zone: string | null;
  isVirtual: boolean | null;
  eventUrl: string | null;
  placeInfo: string | null;
  placeTitle: string | null;
  location: string | null;
  address: string | null;
  zipcode: string | null;
  city: string | null;
  gatherings: { start: string; end: string; theme: string | null }[] | null;
};

/** The words of a mail. `link` is where its password is chosen, for the purposes that have one. */
export function compose(
  mail: FoundMail,
  { defaultLanguage: language, timezone }: Settings,
  link: string | null,
): Letter {
  const say = words[language];
  const { contact, phone, webAddress } = mail;
  const { subject, text } = openingOf(mail, say);
  return {
    language,
    subject,
    greeting: say.greeting(mail.firstname),
    opening: text,
    facts: mail.startDay === null ? [] : factsOf(mail, say, timezone),
    button: link === null ? null : { label: say.choosePassword, href: link },
    closing: [...(link === null ? [] : say.onceOnly(mail.school)), ...(contact === '' ? [] : [say.questions])],
    sender: [say.regards, mail.school, contact, phone, webAddress].filter(isGiven),
  };
}

function openingOf(mail: FoundMail, say: Words) {
  const { purpose, school, username, title } = mail;
  switch (purpose) {
    case 'invitation':
      return say.invitation(school, username);
    case 'account_created':
      return say.accountCreated(school, username);
    case 'receipt':
      // One of somebody who has left is outdated.
      return say.receipt(standingOf(enrolledIn(mail)) as Enrolled, school, title ?? '');
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

function factsOf(mail: FoundMail, say: Words, timezone: string) {
  const zone = mail.zone === timezone ? '' : ` (${mail.zone})`;
  const days = daysOf(mail, say).map((day) => `${day}${zone}`);
  const mayJoin = mail.purpose === 'receipt' && hasPlace(enrolledIn(mail));
  const facts = [
    { name: say.facts.participant, lines: [`${mail.firstname} ${mail.lastname}`.trim()] },
    { name: say.facts.course, lines: [mail.title] },
    { name: days.length > 1 ? say.facts.dates : say.facts.date, lines: days },
    { name: say.facts.place, lines: placeOf(mail, say) },
    { name: say.facts.link, lines: [mayJoin ? mail.eventUrl : null] },
    { name: say.facts.order, lines: [mail.purpose === 'receipt' ? String(mail.orderId) : null] },
  ];
  return facts
    .map(({ name, lines }) => ({ name, lines: lines.filter(isGiven) }))
    .filter(({ lines }) => lines.length > 0);
}

/** Each gathering, or the course date from its first day to its last. */
function daysOf({ gatherings, startDay, endDay, startTime, endTime }: FoundMail, say: Words) {
  const span = { start: [startDay, startTime].join(' ').trim(), end: [endDay, endTime].join(' ').trim(), theme: null };
  return (gatherings ?? [span]).map(({ start, end, theme }) => {
    const when = isSameDay(start, end)
      ? [moment(start, say), timeOf(end)].filter(isGiven).join('–')
      : `${moment(start, say)} – ${moment(end, say)}`;
    return [when, theme].filter(isGiven).join(': ');
  });
}

const isSameDay = (start: string, end: string) => start.slice(0, 10) === end.slice(0, 10);
const timeOf = (local: string) => local.slice(11, 16);

/** `yyyy-mm-dd` or `yyyy-mm-dd hh:mm:ss` on the clocks of its place. */
function moment(local: string, { locale }: Words) {
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' }).format(
    new Date(`${local.slice(0, 10)}T00:00:00Z`),
  );
  // Some releases of Node put a comma after an English weekday.
  return [day.replace(',', ''), timeOf(local)].filter(isGiven).join(', ');
}

function placeOf(mail: FoundMail, say: Words) {
  const town = [mail.zipcode, mail.city].filter(isGiven).join(' ');
  const address = [mail.address, town].filter(isGiven).join(', ');
  const place = [mail.location, address].some(isGiven) ? [mail.location, address] : [mail.placeTitle];
  return [mail.isVirtual ? say.online : null, ...place, mail.placeInfo];
}

/** As read, without what could begin another line or header, and with an address for answers only if it is one. */
export function tidied(found: FoundMail): FoundMail {
  const fields = Object.entries(found).map(([name, value]) => [
    name,
    typeof value === 'string' ? oneLine(value) : value,
  ]);
  const mail = Object.fromEntries(fields) as FoundMail;
  const gatherings = mail.gatherings?.map((one) => ({ ...one, theme: one.theme && oneLine(one.theme) })) ?? null;
  return { ...mail, gatherings, contact: isAddress(mail.contact) ? mail.contact : '' };
}

const oneLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

const isGiven = (text: string | null): text is string => text !== null && text !== '';
