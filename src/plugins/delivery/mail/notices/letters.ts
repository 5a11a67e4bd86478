import { formatDay } from '../../../../core/date-format.ts';
import type { Language } from '../../../../core/reference/language.ts';
import { canceled, getEnrolmentStatus, hasLeft } from '../../../../core/reference/statuses.ts';
import type { MailPurpose } from '../../../../database/tables/outbox.ts';
import { composeFacts, formatWhen, withoutEmpty, type Fact, type ZonedSpan } from '../facts.ts';
import type { Letter } from '../letter.tsx';
import type { MailData } from '../mail-data.ts';
import { letterTexts } from '../messages.ts';

/** Mails to the school about its dates and their participants; `moved_away` to those who are told of the former date. */
type NoticePurpose = Extract<MailPurpose, `notice_${string}` | 'moved_away'>;

const en = {
  kinds: {
    notice_booked: 'Booked',
    notice_canceled: 'Deregistered',
    moved_away: 'Moved',
    notice_full: 'Fully booked',
    notice_under_minimum: 'Under the minimum',
    notice_budget: 'Budget reached',
  } satisfies Record<NoticePurpose, string> as Record<NoticePurpose, string>,
  openings: {
    notice_booked: 'There is a new booking of this date.',
    notice_canceled: 'There is a cancellation on this date.',
    moved_away: 'A participant is moved from this date to another one.',
    notice_full: 'All seats of this date are taken.',
    notice_under_minimum: 'This date has fewer confirmed participants than its minimum, and its deadline is near.',
    notice_budget: 'This date has as many confirmed participants as the budget of its location.',
  } satisfies Record<NoticePurpose, string> as Record<NoticePurpose, string>,
  digest: (count: number) => ({
    subject: `${count} notices of bookings and course dates`,
    text: 'Many notices to you were waiting at once, so this mail lists them all.',
  }),
  why: 'The booking settings of your school decide which notices are sent.',
  offered: 'Has an offer of a place',
  withoutName: 'Without a name',
  places: (count: number) => (count === 1 ? '1 place' : `${count} places`),
  orderNumber: (id: number) => `order ${id}`,
  facts: {
    participant: 'Participant',
    status: 'Status now',
    movedTo: 'Moved to',
    order: 'Order number',
    seats: 'Seats',
    confirmed: 'Confirmed',
    minimum: 'Minimum',
    budget: 'Budget',
    deadline: 'Deadline',
  },
  taken: (count: number) => `${count} taken`,
  free: (count: number) => `${count} free`,
  unlimited: 'no limit',
  waiting: (count: number) => `${count} on the waiting list`,
};

const no: typeof en = {
  kinds: {
    notice_booked: 'Påmeldt',
    notice_canceled: 'Avmeldt',
    moved_away: 'Flyttet',
    notice_full: 'Fullbooket',
    notice_under_minimum: 'Under minimum',
    notice_budget: 'Budsjettet er nådd',
  },
  openings: {
    notice_booked: 'Det er en ny påmelding til denne datoen.',
    notice_canceled: 'Det er en avmelding fra denne datoen.',
    moved_away: 'En deltaker er flyttet fra denne datoen til en annen.',
    notice_full: 'Alle plassene på denne datoen er tatt.',
    notice_under_minimum: 'Denne datoen har færre bekreftede deltakere enn minimum, og fristen er nær.',
    notice_budget: 'Denne datoen har så mange bekreftede deltakere som stedet har budsjettert med.',
  },
  digest: (count) => ({
    subject: `${count} varsler om påmeldinger og kursdatoer`,
    text: 'Mange varsler til deg ventet samtidig, så denne e-posten lister opp alle.',
  }),
  why: 'Skolens innstillinger for bestilling avgjør hvilke varsler som sendes.',
  offered: 'Har tilbud om plass',
  withoutName: 'Uten navn',
  places: (count) => (count === 1 ? '1 plass' : `${count} plasser`),
  orderNumber: (id) => `ordre ${id}`,
  facts: {
    participant: 'Deltaker',
    status: 'Status nå',
    movedTo: 'Flyttet til',
    order: 'Ordrenummer',
    seats: 'Plasser',
    confirmed: 'Bekreftet',
    minimum: 'Minimum',
    budget: 'Budsjett',
    deadline: 'Frist',
  },
  taken: (count) => `${count} ${count === 1 ? 'opptatt' : 'opptatte'}`,
  free: (count) => `${count} ${count === 1 ? 'ledig' : 'ledige'}`,
  unlimited: 'ingen grense',
  waiting: (count) => `${count} på venteliste`,
};

const noticeTexts: Record<Language, typeof en> = { en, no };

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
