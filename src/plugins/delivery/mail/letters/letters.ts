import { participantStatus } from '../../../../core/reference/statuses.ts';
import type { MailPurpose } from '../../../../database/tables/outbox.ts';
import { composeFormer } from '../facts.ts';
import { type MailData, toActiveStatus, type ScheduleChange } from '../mail-data.ts';
import type { LetterTexts } from '../messages.ts';

/** What a letter says, by purpose. */
export type Letters = Partial<Record<MailPurpose, (mail: MailData, texts: LetterTexts) => Opening>>;
export type Opening = { subject: string; text: string[] };

/** With the message of a cancellation. */
export const withMessage = ({ subject, text }: Opening, { cancellationMessage }: MailData): Opening => ({
  subject,
  text: [...text, cancellationMessage ?? ''],
});

/** About an account at the school. */
export const accountLetters: Letters = {
  invitation: ({ school, username }, texts) => texts.invitation(school, username),
  account_created: ({ school, username }, texts) => texts.accountCreated(school, username),
};

/** To the booker, about the booking or a place without a name. */
export const bookerLetters: Letters = {
  booking_link: ({ school, title }, texts) => texts.bookingLink(school, title),
  booking_receipt: ({ school, title }, texts) => texts.bookingReceipt(school, title),
  reminder: ({ school, title }, texts) => texts.reminderOfBooking(school, title),
  move: (mail, texts) => withMessage(texts.moveOfBooking(mail.school, mail.title), mail),
};

/** To those who are interested in a course. */
export const interestLetters: Letters = {
  interest_confirmation: ({ school, title }, texts) => texts.interestConfirmation(school, title),
  date_published: ({ school, title }, texts) => texts.datePublished(school, title),
};

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

/** To the school, besides its notices. */
export const schoolLetters: Letters = {
  // `outdatedReason` has excluded a webhook that is active.
  webhook_disabled: ({ disabledReason, webhookHost }, texts) => texts.webhookDisabled(disabledReason!, webhookHost!),
  address_refused: ({ refusedEmail, refusalReason, refusedSubject }, texts) =>
    texts.addressRefused(refusedEmail!, refusalReason!, refusedSubject),
};
