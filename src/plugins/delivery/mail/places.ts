import * as statuses from '../../../core/reference/statuses.ts';
import { loadCredit } from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import { linkUrl } from '../../../domains/messages/links/schema.ts';
import { createLink } from '../../../domains/messages/links/service.ts';
import { loadBookingBalance } from '../../../domains/orders/payments/balance-service.ts';
import { composeAmounts, composeCredit, composeReceipt, loadReceipt } from './amounts.ts';
import { loadPlace, type Place } from './place.ts';
import { composeCalendar, type CalendarChange } from './calendar.ts';
import { composeFacts, composeFormer, scheduleChanges } from './dates.ts';
import { composeLetter, letterTexts } from './letter.tsx';
import type { PlaceLetter } from './mail-types.ts';
import { addressMail, type Mail, type Prepare, type Sources } from './mails.ts';

/** Why a mail is no longer true, or false. */
type Check = (place: Place) => string | false;

const isTaken: Check = ({ isToAnother }) => isToAnother && 'another person has its place in the meantime';
const isLeft: Check = ({ statusId }) => statuses.hasLeft(statusId) && 'its participant has left in the meantime';
const isBack: Check = ({ statusId }) => !statuses.hasLeft(statusId) && 'its participant is back in the meantime';
const isOver: Check = ({ date }) => date.isOver && 'its date is over';
/** The checks of a mail that says what holds now of a date to come. */
const toCome: Check[] = [
  ({ date }) => date.dateStatusId === statuses.canceled && 'its date is canceled in the meantime',
  ({ date }) => date.isDeleted && 'its date was deleted',
  isOver,
];
const toStart: Check[] = [
  ...toCome,
  ({ date }) => date.hasStarted && 'its date is over',
  ({ date }) => date.dateStatusId === statuses.postponed && 'its date is postponed in the meantime',
];
const hasNoPlace = 'its participant has no place any more';

type Traits = {
  checks: Check[];
  /** It tells a participant, or the booker, of a place. */
  confirms?: true;
  calendar?: CalendarChange;
  message?(place: Place): string | null;
  /** The page that it needs, and the links that the new one ends. Without it an optional one is sent all the same. */
  link?: { kind: 'booking' | 'offer'; replaces: 'all' | 'mailed' | 'none'; isOptional?: true };
  hasOrder?: true;
  /**
   * In place of the price and what is left to pay: what the end of the place credited, all that a receipt has, or none
   * if it is about a place that is lost, or another person's.
   */
  amounts?: 'credit' | 'receipt' | 'none';
};

const letters: Record<PlaceLetter, Traits> = {
  receipt: { checks: [isTaken, isLeft, isOver], confirms: true, calendar: 'status', hasOrder: true },
  deregistration: { checks: [isTaken, isBack], calendar: 'end', amounts: 'credit' },
  offer: {
    checks: [({ heldFor }) => heldFor !== 'offer' && 'its offer has ended in the meantime', isTaken],
    link: { kind: 'offer', replaces: 'all' },
  },
  promotion: {
    checks: [
      ...[isTaken, isLeft, ...toCome],
      ({ statusId, heldFor }) => (!statuses.holdsSeat(statusId) || heldFor === 'offer') && hasNoPlace,
    ],
    ...{ confirms: true, calendar: 'place' },
  },
  swap: { checks: [isLeft], confirms: true, calendar: 'place', amounts: 'none' },
  swapped_out: { checks: [], calendar: 'end' },
  move: { checks: [isTaken, isLeft], confirms: true, calendar: 'place', message: (place) => place.moveMessage },
  moved_away: {
    checks: [({ isFormerDate }) => !isFormerDate && 'its participant is back in the meantime'],
    ...{ calendar: 'end', amounts: 'none' },
  },
  date_canceled: {
    checks: [({ date }) => date.dateStatusId !== statuses.canceled && 'its date is not canceled any more', isTaken],
    ...{ calendar: 'end', message: ({ date }) => date.cancellationMessage },
  },
  date_changed: { checks: [isTaken, isLeft, ...toCome], confirms: true, calendar: 'date' },
  reminder: {
    checks: [isTaken, isLeft, ...toStart, ({ statusId }) => !statuses.isConfirmed(statusId) && hasNoPlace],
    confirms: true,
  },
  booking_link: { checks: [], link: { kind: 'booking', replaces: 'all' }, hasOrder: true },
  // It leaves the link of the page on which the booking was made.
  booking_receipt: {
    ...{ checks: [], calendar: 'booking', hasOrder: true, amounts: 'receipt' },
    link: { kind: 'booking', replaces: 'mailed', isOptional: true },
  },
  reminder_of_booking: {
    checks: [isLeft, ...toStart, ({ hasUnnamed }) => !hasUnnamed && 'its places have names in the meantime'],
    ...{ confirms: true, link: { kind: 'booking', replaces: 'none' } },
  },
  move_of_booking: { checks: [isLeft], confirms: true, message: (place) => place.moveMessage },
};

/** The letters of a purpose: to the person who has the place, to its booker, and to the person before. */
export const places =
  (participant: PlaceLetter, { booker = participant, former = participant } = {}): Prepare =>
  async (sources, stored) => {
    if (stored.bookingId !== null && stored.email === '') return { outdated: 'its booker has no e-mail address' };
    const { unlocked } = sources.database;
    const place = await loadPlace(unlocked, stored);
    if (!place) return { outdated: 'it was deleted' };
    const named = place.isToAnother ? former : participant;
    const kind = stored.userId === null ? booker : named;
    for (const check of letters[kind].checks) {
      const outdated = check(place);
      if (outdated !== false) return { outdated };
    }
    const { language, bookerName, date } = place;
    const firstname = stored.bookingId === null ? null : bookerName;
    const mail = addressMail(stored, { language, firstname, contact: date.contact }, sources.settings);
    return { mail, write: () => writeLetter(sources, mail, place, kind) };
  };

async function writeLetter(sources: Sources, mail: Mail, place: Place, kind: PlaceLetter) {
  const { timezone, publicUrl } = sources.settings;
  const { link: page, confirms = false, calendar, message, hasOrder } = letters[kind];
  const { date, orderId, enrolment, isToParticipant } = place;
  const texts = letterTexts[mail.language];
  const link = page && (await createPlaceLink(sources, mail, place, page));
  if (page && !page.isOptional && link === undefined) return { outdated: 'its course is over' };
  const amounts = await loadAmounts(sources, mail, place, kind);
  const { before } = mail;
  const facts = {
    ...{ language: mail.language, timezone, before },
    participantName: page?.kind === 'booking' ? '' : place.participantName,
    mayJoin: confirms && isToParticipant && statuses.hasConfirmedPlace(enrolment),
    ...(hasOrder && { orderId }),
    heldUntil: page?.kind === 'offer' ? place.heldUntil : null,
  };
  const former = composeFormer(date, facts);
  const changed = scheduleChanges.filter((one) => former[one] !== undefined);
  const opening = texts.letters[kind]({
    ...{ school: mail.school, title: date.title, isStatusChanged: place.isStatusChanged, changed },
    // A person with an open offer still waits.
    status: place.heldFor === 'offer' ? 'waiting' : statuses.getEnrolmentStatus(enrolment),
    hasFee: place.statusId === statuses.participantStatus.deregisteredWithFee,
    ...{ isDateDeleted: date.isDeleted, isReopened: before?.isCanceled === true },
  });
  const isPostponed = confirms && date.dateStatusId === statuses.postponed;
  const ownPage = isToParticipant && place.canSignOn ? { ...texts.ownPage, href: `${publicUrl}/my` } : null;
  const letter = composeLetter(mail, [...opening, message?.(place), isPostponed ? texts.postponed : null], {
    facts: [...composeFacts(date, facts), ...amounts.facts],
    sections: amounts.sections,
    button:
      page && link ? { ...(page.kind === 'offer' ? texts.offerLink : texts.payerLink), href: link.href } : ownPage,
  });
  const entry = calendar && (await composeCalendar(sources, mail, place, calendar));
  return { letter, calendar: entry, token: link?.token ?? null };
}

async function createPlaceLink(
  { database, settings }: Sources,
  { id, providerId }: Mail,
  { bookingId, placeId }: Place,
  { kind, replaces }: NonNullable<Traits['link']>,
) {
  const subject = { providerId, bookingId, participantId: kind === 'offer' ? placeId : null };
  const token = await createLink(database.unlocked, subject, { mailId: id, replaces });
  return token === undefined ? undefined : { token, href: linkUrl(settings, kind, token) };
}

/**
 * The amounts of those who see them: participants only of a booking of their own that nobody else pays. Nobody sees them
 * of a place that is left without a fee, but for what was credited: the order may be credited later.
 */
async function loadAmounts({ database: { unlocked } }: Sources, mail: Mail, place: Place, kind: PlaceLetter) {
  const { bookingId, orderId, statusId, isToParticipant, isOnlyParticipant, hasOtherPayer } = place;
  const { providerId, language } = mail;
  const school = { providerId, db: unlocked };
  const { amounts } = letters[kind];
  const credit = amounts === 'credit' ? await loadCredit(unlocked, providerId, place.placeId) : undefined;
  if (credit?.isOwn) return { facts: composeCredit(language, credit), sections: [] };
  const isOfRecipient = mail.bookingId !== null || (isToParticipant && isOnlyParticipant && !hasOtherPayer);
  const hasLeftFreely = amounts === 'credit' && statusId === statuses.participantStatus.deregistered;
  if (amounts === 'none' || hasLeftFreely || !isOfRecipient) return { facts: [], sections: [] };
  const balance = await loadBookingBalance(school, bookingId);
  if (amounts !== 'receipt') return { facts: composeAmounts(language, place.numParticipants, balance), sections: [] };
  const receipt = await loadReceipt(school, bookingId, orderId);
  return { facts: [], sections: composeReceipt(language, place.date, receipt, balance) };
}
