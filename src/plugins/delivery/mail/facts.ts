import { isOnline, venueLines } from '../../../core/address-format.ts';
import { formatDay, spanEnds, toDateSpan, type DateSpan } from '../../../core/date-format.ts';
import type { Language } from '../../../core/reference/language.ts';
import { hasConfirmedPlace } from '../../../core/reference/statuses.ts';
import { confirmsPlace, isNotEmpty, toEnrolment, type MailData } from './mail-data.ts';
import { letterTexts } from './messages.ts';

export function composeFacts(mail: MailData, language: Language, timezone: string) {
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
