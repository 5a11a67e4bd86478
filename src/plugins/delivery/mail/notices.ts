import { hasAnyId } from '../../../database/tables/columns.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { formatDay } from '../../../core/date-format.ts';
import type { Language } from '../../../core/reference/language.ts';
import { canceled, getEnrolmentStatus, hasLeft } from '../../../core/reference/statuses.ts';
import type { Reader } from '../../../database/client.ts';
import type { Queryable } from '../../../database/statements.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers, fullName } from '../../../database/tables/users.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { composeFacts, formatWhen, loadDate, loadDates, type MailDate } from './dates.ts';
import { composeLetter, isNotEmpty, letterTexts, withoutEmpty } from './letter.tsx';
import type { Attempted, ClaimedMail, Fact } from './mail-types.ts';
import { addressMail, joinLines, type Mail, type Prepare } from './mails.ts';
import type { NoticePurpose } from './messages/en.ts';
import { awaitDigest, countNotices, leaseNotices } from './sql.ts';

/** The places of the booking that one mail tells of; 0 for a participant with a name. */
const unnamedPlaces = sql<number>`case when ${courseUsers.isPlaceholder} then (
  select count(*)::int from participants other
    join course_users nobody on nobody.provider_id = other.provider_id and nobody.id = other.user_id and nobody.is_placeholder
  where other.provider_id = ${participants.providerId} and other.booking_id = ${participants.bookingId}
    and other.course_date_id = ${participants.courseDateId}
    and other.status_updated_at = ${participants.statusUpdatedAt}) else 0 end`;

/** The values of the participant are null in a notice of a date. */
type Notice = Awaited<ReturnType<typeof loadNotices>>[number];
type NoticeDate = Notice['date'];

async function loadNotices(db: Reader, providerId: number, ids: number[]) {
  const rows = await db
    .select({
      purpose: sql<NoticePurpose>`${outbox.purpose}`,
      name: fullName,
      email: sql<string>`coalesce(${courseUsers.email}, '')`,
      isErased: sql<boolean>`${courseUsers.erasedAt} is not null`,
      statusId: participants.statusId,
      heldFor: participants.heldFor,
      unnamedPlaces,
      orderId: bookings.orderId,
      aboutId: outbox.courseDateId,
      placeId: participants.courseDateId,
    })
    .from(outbox)
    .leftJoin(participants, sameTenant(participants, outbox, eq(participants.id, outbox.participantId)))
    .leftJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .leftJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .where(tenantWhere({ providerId }, outbox, hasAnyId(outbox.id, ids)))
    .orderBy(outbox.id);
  const dateIds = rows.flatMap(({ aboutId, placeId }) => [aboutId, placeId].filter((one) => one !== null));
  const found = await loadDates(db, providerId, [...new Set(dateIds)]);
  const dates = new Map(found.map((date) => [date.courseDateId, date]));
  return joinLines(rows).flatMap(({ aboutId, placeId, ...row }) => {
    const date = dates.get(aboutId ?? placeId ?? 0);
    const movedTo = aboutId === null || placeId === null ? null : (dates.get(placeId) ?? null);
    return date ? [{ ...row, date, movedTo }] : [];
  });
}

/** Notices to one recipient that are sent one by one; of more, a digest is sent. */
const maxSingle = 20;
/** Limits the rows of a transaction. */
const maxCollected = 1_000;
const awaitSeconds = 5;
/** The time in which deliveries in progress put off their notices. */
const batchDelayMs = 1_000;

/**
 * Leases the other notices to the recipient of a notice where more than 20 wait; none otherwise. Undefined while another
 * delivery does: of several in progress, in any process, the one with the first notice.
 */
async function collectDigest(on: Queryable, claimed: ClaimedMail): Promise<Attempted[] | undefined> {
  const { waiting, firstInProgress } = await countNotices.one(on, claimed);
  if (waiting <= maxSingle) return [];
  if ((firstInProgress ?? claimed.id) < claimed.id) return undefined;
  const collect = (limit: number) => leaseNotices(on, { ...claimed, limit });
  const collected = await collect(maxCollected - 1);
  if (collected.length < Math.min(waiting, maxCollected) - 1) {
    await sleep(batchDelayMs);
    collected.push(...(await collect(maxCollected - 1 - collected.length)));
  }
  return collected;
}

/** Puts a notice off, with the others to its recipient, while a digest of them is made. */
export const waitForDigest = (on: Queryable, claimed: ClaimedMail) =>
  awaitDigest(on, { ...claimed, seconds: awaitSeconds });

/** A notice or digest, with a message id of its own for other notices: mail programs hide a second one. */
export const prepareNotice: Prepare = async ({ database: { unlocked }, settings }, stored, claimed) => {
  const { providerId, id } = stored;
  const [notice] = await loadNotices(unlocked, providerId, [id]);
  if (!notice) return { outdated: 'it was deleted' };
  if (notice.movedTo === notice.date) return { outdated: 'its participant is back in the meantime' };
  const mail = addressMail(stored, { isSchool: true }, settings);
  return {
    mail,
    async write() {
      const outdated = findOutdated(notice);
      if (outdated !== false) return { outdated };
      const digest = await collectDigest(unlocked, claimed);
      if (digest === undefined) return 'waits';
      const { timezone } = settings;
      if (digest.length === 0) {
        const date = await loadDate(unlocked, providerId, notice.date.courseDateId);
        return { letter: composeNotice(mail, notice, date, timezone) };
      }
      // Kept with the mail, so that an error puts all of them off.
      claimed.digest = digest;
      const ids = [id, ...digest.map((one) => one.id)].sort((a, b) => a - b);
      const listed = (await loadNotices(unlocked, providerId, ids.slice(0, maxListed))).filter(
        (one) => !findOutdated(one),
      );
      const letter = composeDigest(mail, listed, ids.length, timezone);
      return { letter, name: `${mail.createdAt}-${ids[0]}-${ids.at(-1)}-${ids.length}` };
    },
  };
};

const countConfirmed = ({ numConfirmed, numOverbooked }: NoticeDate) => numConfirmed + numOverbooked;
const countTaken = (date: NoticeDate) => countConfirmed(date) + date.numUnconfirmed;
const isFull = (date: NoticeDate) => date.capacityMax > 0 && countTaken(date) >= date.capacityMax;

type Traits = {
  /** Why it is no longer true of its date, or false. */
  check?(date: NoticeDate): string | false;
  /** The numbers that it states after the seats. */
  numbers?: (keyof typeof numbers)[];
  /** Its kind is "waiting" for a participant who waits. */
  showsWaiting?: true;
};

/** The numbers of a date that a notice can state. */
const numbers = {
  confirmed: countConfirmed,
  minimum: ({ capacityMin }: NoticeDate) => capacityMin,
  budget: ({ capacityBudget }: NoticeDate) => capacityBudget,
  deadline: ({ deadlineAt }: NoticeDate, language: Language) => formatDay(deadlineAt, language),
};

const notices: Record<NoticePurpose, Traits> = {
  notice_booked: { showsWaiting: true },
  notice_canceled: {},
  moved_away: {},
  notice_full: { check: (date) => !isFull(date) && 'its date has free seats in the meantime' },
  notice_under_minimum: {
    check: (date) =>
      countConfirmed(date) >= date.capacityMin
        ? 'its date has its minimum in the meantime'
        : date.isDeadlineOver && 'the deadline of its date is over',
    numbers: ['confirmed', 'minimum', 'deadline'],
  },
  notice_budget: { numbers: ['confirmed', 'budget'] },
};

/** Reason why a delayed notice is no longer true, or false. */
function findOutdated({ purpose, isErased, statusId, date }: Notice) {
  if (isErased) return 'its course user is erased in the meantime';
  if (statusId !== null) return false;
  if (date.dateStatusId === canceled) return 'its date is canceled in the meantime';
  if (date.isDeleted) return 'its date was deleted';
  return notices[purpose].check?.(date) ?? false;
}

function composeNotice(mail: Mail, notice: Notice, date: MailDate, timezone: string) {
  const { language, school } = mail;
  const { facts: names, notices: texts } = letterTexts[language];
  const { facts: own, letters, why } = texts;
  const { movedTo, orderId } = notice;
  const { kind, person, status } = describe(notice, language);
  const facts = [
    { name: names.participant, lines: person },
    { name: own.status, lines: [movedTo === null ? status : null] },
    { name: own.movedTo, lines: movedTo ? [movedTo.title, formatWhen(movedTo, language, timezone)] : [] },
    { name: names.order, lines: [orderId?.toString()] },
  ];
  return composeLetter(mail, [`${kind}: ${date.title}`, letters[notice.purpose][1]], {
    facts: [...withoutEmpty(facts), ...composeFacts(date, { language, timezone }), ...toNumbers(notice, language)],
    ...{ closing: [why], sender: [school] },
  });
}

/** Notices that a digest lists. */
const maxListed = 200;

/** Lists the notices of `count` that are still true, at most 200. */
function composeDigest(mail: Mail, notices: Notice[], count: number, timezone: string) {
  const { language, school } = mail;
  const { andMore, notices: texts } = letterTexts[language];
  const facts = notices.map((notice): Fact => {
    const { date, orderId, movedTo } = notice;
    const { kind, person, status } = describe(notice, language);
    const about = [status, orderId === null ? null : texts.orderNumber(orderId)].filter(isNotEmpty).join(', ');
    const to = movedTo && `${texts.facts.movedTo}: ${movedTo.title}, ${formatWhen(movedTo, language, timezone)}`;
    const lines = [person.join(', '), `${date.title}, ${formatWhen(date, language, timezone)}`, to ?? about];
    return { name: kind, lines: lines.filter(isNotEmpty) };
  });
  const rest = count > maxListed ? [andMore(count - maxListed)] : [];
  return composeLetter(mail, texts.digest(count), { facts, closing: [...rest, texts.why], sender: [school] });
}

function describe({ purpose, date, name, email, unnamedPlaces, statusId, heldFor }: Notice, language: Language) {
  const { statuses, notices: texts } = letterTexts[language];
  const status = statusId === null ? null : getEnrolmentStatus({ statusId, dateStatusId: date.dateStatusId });
  const isOffered = heldFor === 'offer' && statusId !== null && !hasLeft(statusId);
  return {
    kind: notices[purpose].showsWaiting && status === 'waiting' ? statuses.waiting : texts.letters[purpose][0],
    person: unnamedPlaces > 0 ? [`${texts.withoutName}: ${texts.places(unnamedPlaces)}`] : [name, email],
    status: isOffered ? texts.offered : status && statuses[status],
  };
}

function toNumbers({ purpose, date }: Notice, language: Language): Fact[] {
  const texts = letterTexts[language].notices;
  const { capacityMax, numWaiting } = date;
  const taken = countTaken(date);
  const free = capacityMax === 0 ? texts.unlimited : texts.free(Math.max(0, capacityMax - taken));
  const { numbers: stated = [] } = notices[purpose];
  return [
    { name: texts.facts.seats, lines: [[texts.taken(taken), free, texts.waiting(numWaiting)].join(', ')] },
    ...stated.map((one) => ({ name: texts.facts[one], lines: [String(numbers[one](date, language))] })),
  ];
}
