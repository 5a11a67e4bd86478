import { postponed } from '../../../core/reference/statuses.ts';
import type { Settings } from '../../../core/settings.ts';
import type { Database } from '../../../database/client.ts';
import { type PlaceCredit, loadCredit } from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import { type BookingBalance, loadBookingBalance } from '../../../domains/orders/payments/balance-service.ts';
import { composeAmounts, composeCredit, composePrice, showsAmounts } from './amounts.ts';
import { composeFacts } from './facts.ts';
import type { Letter } from './letter.tsx';
import {
  accountLetters,
  bookerLetters,
  interestLetters,
  type Letters,
  participantLetters,
  schoolLetters,
  composeReceipt,
} from './letters.ts';
import { confirmsPlace, isNotEmpty, type MailData } from './mail-data.ts';
import { letterTexts, type LetterTexts } from './messages.ts';
import { type PublishedDate, loadPublishedDate } from './published-date.ts';
import { type Receipt, loadReceipt } from './receipt.ts';

/** What a letter has besides the data of its mail. */
type Extras = {
  /** Leads to the page that the purpose needs, if any. */
  link?: string | null;
  /** For those who see the amounts. */
  balance?: BookingBalance | null;
  /** Of the payer's receipt. */
  receipt?: Receipt | null;
  /** Of a place that its payer has left. */
  credit?: PlaceCredit;
  /** Of a mail about a new date. */
  published?: PublishedDate;
};

export function compose(
  mail: MailData,
  settings: Pick<Settings, 'timezone' | 'publicUrl'>,
  { link = null, balance = null, receipt = null, published, credit }: Extras,
): Letter {
  const { language, contact, phone, webAddress, words } = mail;
  const texts = letterTexts[language];
  const { subject, text } = composeOpening(mail, texts);
  const button = composeButton(mail, settings, link, texts);
  const isPostponed = confirmsPlace(mail) && mail.dateStatusId === postponed;
  return {
    language,
    subject,
    greeting: words.greeting ?? texts.greeting(mail.firstname),
    opening: [...text, isPostponed ? texts.postponed : ''].filter(isNotEmpty),
    facts: [
      ...composeFacts(mail, settings.timezone),
      ...(balance === null || receipt !== null ? [] : composeAmounts(mail, balance)),
      ...composeCredit(mail, credit),
      ...composePrice(mail, published?.price),
    ],
    sections: balance === null || receipt === null ? [] : composeReceipt(mail, receipt, balance),
    button: button && { label: button.label, href: button.href },
    closing: [...(button?.closing ?? []), ...(contact === '' ? [] : [texts.questions])],
    sender: [texts.regards, mail.school, contact, phone, webAddress].filter(isNotEmpty),
    footer: words.footer?.split('\n').map((line) => line.trimEnd()) ?? [],
  };
}

const letters: Letters = { ...accountLetters, ...participantLetters, ...interestLetters, ...schoolLetters };

function composeOpening(mail: MailData, texts: LetterTexts) {
  const { purpose, isToBooker } = mail;
  const toOpening = (isToBooker ? bookerLetters[purpose] : undefined) ?? letters[purpose];
  // Notices have letters of their own.
  return toOpening!(mail, texts);
}

/** The link of the purpose, or the participant's own page for those who can sign on. */
function composeButton(
  { purpose, school, isToParticipant, isToBooker, canSignOn }: MailData,
  { publicUrl }: Pick<Settings, 'publicUrl'>,
  link: string | null,
  texts: LetterTexts,
) {
  if (link === null) return isToParticipant && canSignOn ? { ...texts.ownPage, href: `${publicUrl}/my` } : null;
  if (purpose === 'offer') return { ...texts.offerLink, href: link };
  if (purpose === 'interest_confirmation') return { ...texts.interestLink, href: link };
  if (purpose === 'date_published') return { ...texts.dateLink, href: link };
  const isOfPayer = isToBooker || purpose === 'booking_link' || purpose === 'booking_receipt';
  return { ...(isOfPayer ? texts.payerLink : texts.passwordLink(school)), href: link };
}

/** The amounts of those who see them, all of the booking for the payer's receipt, and the price of a new date. */
export async function loadExtras(
  { unlocked }: Pick<Database, 'unlocked'>,
  settings: Settings,
  mail: MailData,
): Promise<Extras> {
  const { purpose, providerId, bookingId, orderId } = mail;
  if (purpose === 'date_published') {
    const published = await loadPublishedDate(unlocked, settings, mail);
    return { published, link: published.href };
  }
  if (purpose === 'deregistration') {
    const credit = await loadCredit(unlocked, providerId, mail.participantId!);
    if (credit?.isOwn) return { credit };
  }
  if (!showsAmounts(mail)) return {};
  const school = { providerId, db: unlocked };
  const balance = await loadBookingBalance(school, bookingId!);
  return { balance, receipt: purpose === 'booking_receipt' ? await loadReceipt(school, bookingId!, orderId!) : null };
}
