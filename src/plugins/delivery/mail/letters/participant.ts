import { participantStatus } from '../../../../core/reference/statuses.ts';
import { composeFormer } from '../facts.ts';
import { toActiveStatus, type ScheduleChange } from '../mail-data.ts';
import { withMessage, type Letters } from './letters.ts';

/** To a participant, and to the person before a swap. `outdatedReason` has excluded others who have left. */
export const participantLetters: Letters = {
  receipt: (mail, texts) => texts.receipt(toActiveStatus(mail), mail.school, mail.title, mail.isStatusChanged),
  deregistration: ({ statusId, school, title, isDateDeleted }, texts) =>
    texts.deregistration(statusId === participantStatus.deregisteredWithFee, school, title, isDateDeleted),
  offer: ({ school, title }, texts) => texts.offer(school, title),
  promotion: ({ school, title }, texts) => texts.promotion(school, title),
  swap: (mail, texts) =>
    mail.isToParticipant
      ? texts.swap(toActiveStatus(mail), mail.school, mail.title)
      : texts.swappedOut(mail.school, mail.title),
  move: (mail, texts) => withMessage(texts.move(toActiveStatus(mail), mail.school, mail.title), mail),
  moved_away: ({ school, title }, texts) => texts.movedAway(school, title),
  date_canceled: (mail, texts) => withMessage(texts.dateCanceled(mail.school, mail.title), mail),
  date_changed(mail, texts) {
    const changed = Object.keys(composeFormer(mail, '')) as ScheduleChange[];
    return texts.dateChanged(mail.school, mail.title, changed, mail.before?.isCanceled === true);
  },
  reminder: ({ school, title }, texts) => texts.reminder(school, title),
};
