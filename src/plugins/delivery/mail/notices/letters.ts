import { formatDay } from '../../../../core/date-format.ts';
import { canceled, getEnrolmentStatus, hasLeft } from '../../../../core/reference/statuses.ts';
import { composeFacts, formatWhen, withoutEmpty, type Fact, type ZonedSpan } from '../facts.ts';
import type { Letter } from '../letter.tsx';
import type { MailData } from '../mail-data.ts';
import { letterTexts } from '../messages.ts';
import { noticeTexts, type NoticePurpose } from './texts.ts';

/** A row of `findNotices`; those of the participant are null in a notice of a date. */
export type Notice = ZonedSpan & {
  id: number;
  purpose: NoticePurpose;
  name: string;
  email: string;
  isErased: boolean;
  statusId: number | null;
  heldFor: string | null;
  /** Of the booking; 0 for a participant with a name. */
  unnamedPlaces: number;
  orderId: number | null;
  title: string;
  deadlineAt: string;
  isDeadlineOver: boolean;
  isDateCanceled: boolean;
  isDateDeleted: boolean;
  confirmed: number;
  taken: number;
  waiting: number;
  capacityMax: number;
  capacityMin: number;
  capacityBudget: number;
  movedTo: (ZonedSpan & { title: string }) | null;
};

/** Reason why a delayed notice is no longer true, or null. */
export function outdatedNotice(notice: Notice) {
  const { purpose, isErased, taken, confirmed, capacityMax, capacityMin } = notice;
  if (isErased) return 'its course user is erased in the meantime';
  if (notice.statusId !== null) return null;
  if (notice.isDateCanceled) return 'its date is canceled in the meantime';
  if (notice.isDateDeleted) return 'its date was deleted';
  const isFull = capacityMax > 0 && taken >= capacityMax;
  if (purpose === 'notice_full' && !isFull) return 'its date has free seats in the meantime';
  if (purpose !== 'notice_under_minimum') return null;
  if (confirmed >= capacityMin) return 'its date has its minimum in the meantime';
  return notice.isDeadlineOver ? 'the deadline of its date is over' : null;
}

type To = Pick<MailData, 'language' | 'firstname' | 'school'>;

const toLetter = (
  { language, firstname, school }: To,
  letter: Pick<Letter, 'subject' | 'opening' | 'facts'> & Partial<Letter>,
): Letter => ({
  ...{ language, greeting: letterTexts[language].greeting(firstname), sections: [], button: null },
  ...{ closing: [noticeTexts[language].why], sender: [school], footer: [] },
  ...letter,
});

export function composeNotice(mail: MailData, notice: Notice, timezone: string): Letter {
  const { language } = mail;
  const texts = noticeTexts[language];
  const { purpose, movedTo, orderId } = notice;
  const facts = withoutEmpty([
    { name: texts.facts.participant, lines: toPerson(mail, notice) },
    { name: texts.facts.status, lines: [movedTo === null ? toStatus(mail, notice) : null] },
    { name: texts.facts.movedTo, lines: movedTo ? [movedTo.title, formatWhen(movedTo, language, timezone)] : [] },
    { name: texts.facts.order, lines: [orderId === null ? null : String(orderId)] },
  ]);
  const ofDate = composeFacts({ ...mail, participantName: '' }, timezone);
  return toLetter(mail, {
    subject: `${toKind(mail, notice)}: ${notice.title}`,
    opening: [texts.openings[purpose]],
    facts: [...facts, ...ofDate, ...toNumbers(mail, notice)],
  });
}

/** Notices that a digest lists. */
export const maxListed = 200;

/** Lists the notices of `count` that are still true, at most 200. */
export function composeDigest(mail: To, notices: Notice[], count: number, timezone: string): Letter {
  const { language } = mail;
  const texts = noticeTexts[language];
  const { subject, text } = texts.digest(count);
  const facts = notices.map((notice): Fact => {
    const { title, orderId, movedTo } = notice;
    const about = [toStatus(mail, notice), orderId === null ? null : texts.orderNumber(orderId)];
    const to = movedTo && `${texts.facts.movedTo}: ${movedTo.title}, ${formatWhen(movedTo, language, timezone)}`;
    return {
      name: toKind(mail, notice),
      lines: withoutNull([
        toPerson(mail, notice).join(', '),
        `${title}, ${formatWhen(notice, language, timezone)}`,
        movedTo === null ? withoutNull(about).join(', ') : to,
      ]),
    };
  });
  const rest = count > maxListed ? [letterTexts[language].andMore(count - maxListed)] : [];
  return toLetter(mail, { subject, opening: [text], facts, closing: [...rest, texts.why] });
}

const withoutNull = (texts: (string | null)[]) => texts.filter((text): text is string => text !== null && text !== '');

function toKind({ language }: To, notice: Notice) {
  const { purpose, statusId } = notice;
  const isWaiting = purpose === 'notice_booked' && statusId !== null && getStatus(notice) === 'waiting';
  return isWaiting ? letterTexts[language].statuses.waiting : noticeTexts[language].kinds[purpose];
}

const getStatus = ({ statusId, isDateCanceled }: Notice) =>
  getEnrolmentStatus({ statusId: statusId!, dateStatusId: isDateCanceled ? canceled : 0 });

function toPerson({ language }: To, { name, email, unnamedPlaces }: Notice) {
  const texts = noticeTexts[language];
  return unnamedPlaces > 0 ? [`${texts.withoutName}: ${texts.places(unnamedPlaces)}`] : [name, email];
}

function toStatus({ language }: To, notice: Notice) {
  if (notice.statusId === null) return null;
  return notice.heldFor === 'offer' && !hasLeft(notice.statusId)
    ? noticeTexts[language].offered
    : letterTexts[language].statuses[getStatus(notice)];
}

function toNumbers({ language }: To, notice: Notice): Fact[] {
  const texts = noticeTexts[language];
  const { purpose, confirmed, taken, waiting, capacityMax, capacityMin, capacityBudget, deadlineAt } = notice;
  const free = capacityMax === 0 ? texts.unlimited : texts.free(Math.max(0, capacityMax - taken));
  const isUnder = purpose === 'notice_under_minimum';
  const only = (applies: boolean, text: string | number) => [applies ? String(text) : null];
  return withoutEmpty([
    { name: texts.facts.seats, lines: [[texts.taken(taken), free, texts.waiting(waiting)].join(', ')] },
    { name: texts.facts.confirmed, lines: only(isUnder || purpose === 'notice_budget', confirmed) },
    { name: texts.facts.minimum, lines: only(isUnder, capacityMin) },
    { name: texts.facts.budget, lines: only(purpose === 'notice_budget', capacityBudget) },
    { name: texts.facts.deadline, lines: only(isUnder, formatDay(deadlineAt, language)) },
  ]);
}
