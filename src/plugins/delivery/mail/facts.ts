import { isOnline, locationLines, venueLines } from '../../../core/address-format.ts';
import { formatDay, spanEnds, toDateSpan, type DateSpan } from '../../../core/date-format.ts';
import type { Language } from '../../../core/reference/language.ts';
import { maxListed } from '../../../domains/messages/mails/queue-service.ts';
import { isNotEmpty, mayJoin, type MailData, type MailGathering, type ScheduleChange } from './mail-data.ts';
import { letterTexts } from './messages.ts';

/** Names with their values, line by line. */
export type Fact = { name: string; lines: string[]; isList?: boolean; hasLinks?: boolean };

/** What a mail says of its course date; none without one. */
export function composeFacts(mail: MailData, timezone: string): Fact[] {
  if (mail.startAt === null) return [];
  const { purpose, language } = mail;
  const texts = letterTexts[language];
  const { time: days, place, link } = composeSchedule(mail, timezone);
  const former = composeFormer(mail, timezone);
  const toFormer = (lines: Lines = []) => ({ name: texts.facts.before, lines });
  const hasOrder = purpose === 'receipt' || purpose === 'booking_link' || purpose === 'booking_receipt';
  const isOfBooking =
    purpose === 'booking_link' || purpose === 'booking_receipt' || (purpose === 'reminder' && mail.isToBooker);
  const [day, time] = (purpose === 'offer' && mail.heldUntil?.split(' ')) || [];
  const facts = [
    { name: texts.facts.participant, lines: [isOfBooking ? null : mail.participantName] },
    { name: texts.facts.course, lines: [mail.title] },
    { name: days.length > 1 ? texts.facts.dates : texts.facts.date, lines: days, isList: days.length > 1 },
    { ...toFormer(former.time), isList: former.time !== undefined && former.time.length > 1 },
    { name: texts.facts.place, lines: place },
    toFormer(former.place),
    { name: texts.facts.link, lines: link, hasLinks: true },
    toFormer(former.link),
    { name: texts.facts.order, lines: [hasOrder ? String(mail.orderId) : null] },
    { name: texts.facts.until, lines: [day ? `${formatDay(day, language)}, ${time} (${mail.zone})` : null] },
  ];
  return withoutEmpty(facts);
}

type Lines = (string | null)[];

function composeSchedule(mail: MailData, timezone: string): Record<ScheduleChange, Lines> {
  const links = mayJoin(mail) ? [mail.eventUrl, ...(mail.gatherings ?? []).map(({ eventUrl }) => eventUrl)] : [];
  return {
    time: formatDays(mail, timezone),
    place: [isOnline(mail) ? letterTexts[mail.language].online : null, ...venueLines(mail)],
    link: [...new Set(links)].slice(0, maxListed),
  };
}

/** The former values of a changed date that differ from the new ones, without themes of gatherings. */
export function composeFormer(mail: MailData, timezone: string): Partial<Record<ScheduleChange, Lines>> {
  if (mail.before === null) return {};
  const [now, before] = [mail, { ...mail, ...mail.before }].map((one) => {
    const gatherings = one.gatherings?.slice(0, maxListed).map((gathering) => ({ ...gathering, theme: null })) ?? null;
    return composeSchedule({ ...one, gatherings }, timezone);
  });
  const isChanged = ([name, lines]: [string, Lines]) => String(lines) !== String(now![name as ScheduleChange]);
  return Object.fromEntries(Object.entries(before!).filter(isChanged));
}

export const withoutEmpty = (facts: (Omit<Fact, 'lines'> & { lines: (string | null)[] })[]): Fact[] =>
  facts.map((fact) => ({ ...fact, lines: fact.lines.filter(isNotEmpty) })).filter(({ lines }) => lines.length > 0);

/** One line per session, or one for the whole course date. */
function formatDays(mail: MailData, timezone: string) {
  const { language, gatherings, zone } = mail;
  const toWhen = (span: DateSpan) => formatWhen({ ...span, zone: zone! }, language, timezone);
  if (gatherings === null) return [toWhen(mail as DateSpan)];
  const lines = gatherings
    .slice(0, maxListed)
    .map((gathering) => describeGathering(gathering, toWhen(toDateSpan(gathering)), mail));
  const left = gatherings.length - lines.length;
  return left > 0 ? [...lines, letterTexts[language].andMore(left)] : lines;
}

/** With its place where that is not the one of the date. */
function describeGathering({ theme, location }: MailGathering, when: string, mail: MailData) {
  const place = locationLines(location).join(', ');
  const isElsewhere = place !== locationLines(mail.location).join(', ');
  return [[when, theme].filter(isNotEmpty).join(': '), isElsewhere ? place : null].filter(isNotEmpty).join(', ');
}

export type ZonedSpan = DateSpan & { zone: string };

/** Days and times, with the zone unless they are days in the zone of the service. */
export function formatWhen(span: ZonedSpan, language: Language, timezone: string) {
  const hasTime = span.startTimeAt !== null || span.endTimeAt !== null;
  return `${formatSpan(span, language)}${hasTime || span.zone !== timezone ? ` (${span.zone})` : ''}`;
}

const formatSpan = (span: DateSpan, language: Language) =>
  spanEnds(span, language)
    .map(({ day, time }) => [day, time].filter(isNotEmpty).join(', '))
    .join(' – ');
