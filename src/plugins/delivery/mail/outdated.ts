import { canceled, hasLeft, holdsSeat, isConfirmed, postponed } from '../../../core/reference/statuses.ts';
import { confirmsPlace, type MailData } from './mail-data.ts';

/** Reason why a delayed mail is no longer true, or null. */
export function outdatedReason(mail: MailData) {
  const { purpose, isToParticipant, userId, statusId } = mail;
  if (mail.isDetached) return 'its admin user is detached in the meantime';
  if (mail.isErased) return 'its course user is erased in the meantime';
  if (mail.isPlaceholder) return 'its participant has no name';
  if (mail.isToBooker && mail.email === '') return 'its booker has no e-mail address';
  if (mail.interestId !== null) return findInterestReason(mail);
  if (purpose === 'webhook_disabled' && mail.disabledReason === null)
    return 'its webhook is active again or was deleted';
  if (mail.hasLaterNotice) return 'a later mail tells of its address';
  if (mail.isRefusalLifted) return 'its address is tried again in the meantime';
  if (purpose === 'offer' && mail.heldFor !== 'offer') return 'its offer has ended in the meantime';
  if (purpose === 'date_canceled' && mail.dateStatusId !== canceled) return 'its date is not canceled any more';
  if (purpose === 'moved_away') return mail.isFormerDate ? null : 'its participant is back in the meantime';
  if (userId !== null && isToParticipant === false && purpose !== 'swap')
    return 'another person has its place in the meantime';
  if (purpose === 'deregistration' && !hasLeft(statusId!)) return 'its participant is back in the meantime';
  if (confirmsPlace(mail) && hasLeft(statusId!)) return 'its participant has left in the meantime';
  if (purpose === 'receipt' && mail.isOver) return 'its date is over';
  return aboutDate.includes(purpose) ? findDateReason(mail) : null;
}

function findInterestReason({ purpose, hasInterest, isInterestConfirmed, isBookable }: MailData) {
  if (!hasInterest) return 'its interest was deleted';
  if (purpose === 'interest_confirmation')
    return isInterestConfirmed ? 'its interest is confirmed in the meantime' : null;
  return isBookable ? null : 'its date cannot be booked any more';
}

const aboutDate = ['promotion', 'date_changed', 'reminder'];

/** Of a mail that says what holds now of a date to come. */
function findDateReason(mail: MailData) {
  const { purpose, statusId, heldFor, dateStatusId, isDateDeleted, hasStarted, isOver, isToBooker } = mail;
  if (dateStatusId === canceled) return 'its date is canceled in the meantime';
  if (isDateDeleted) return 'its date was deleted';
  if (isOver || (purpose === 'reminder' && hasStarted)) return 'its date is over';
  if (purpose === 'reminder' && dateStatusId === postponed) return 'its date is postponed in the meantime';
  if (purpose === 'reminder' && isToBooker) return mail.hasUnnamed ? null : 'its places have names in the meantime';
  const hasSeat = purpose === 'reminder' ? isConfirmed(statusId!) : holdsSeat(statusId!) && heldFor !== 'offer';
  return purpose !== 'date_changed' && !hasSeat ? 'its participant has no place any more' : null;
}
