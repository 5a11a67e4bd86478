import { withMessage, type Letters } from './letters.ts';

/** To the booker, about the booking or a place without a name. */
export const bookerLetters: Letters = {
  booking_link: ({ school, title }, texts) => texts.bookingLink(school, title),
  booking_receipt: ({ school, title }, texts) => texts.bookingReceipt(school, title),
  reminder: ({ school, title }, texts) => texts.reminderOfBooking(school, title),
  move: (mail, texts) => withMessage(texts.moveOfBooking(mail.school, mail.title), mail),
};
