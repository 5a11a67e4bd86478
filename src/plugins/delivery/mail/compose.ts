import type { Settings } from '../../../core/settings.ts';
import { composeFacts } from './facts.ts';
import type { Letter } from './letter.tsx';
import { accountLetters } from './letters/account.ts';
import { bookerLetters } from './letters/booker.ts';
import type { Letters } from './letters/letters.ts';
import { participantLetters } from './letters/participant.ts';
import { schoolLetters } from './letters/school.ts';
import { isNotEmpty, type MailData } from './mail-data.ts';
import { letterTexts, type LetterTexts } from './messages.ts';
import { composeNotice, type NoticePurpose } from './notices.ts';

/** `link` leads to the page that the purpose needs, if any. */
export function compose(
  mail: MailData,
  { defaultLanguage: language, timezone }: Settings,
  link: string | null,
): Letter {
  const texts = letterTexts[language];
  const { contact, phone, webAddress } = mail;
  const { subject, text } = composeOpening(mail, texts);
  const button = link === null ? null : { ...getLinkTexts(mail, texts), href: link };
  return {
    language,
    subject,
    greeting: texts.greeting(mail.firstname),
    opening: text.filter(isNotEmpty),
    facts: mail.startAt === null ? [] : composeFacts(mail, language, timezone),
    button: button && { label: button.label, href: button.href },
    closing: [...(button?.closing ?? []), ...(contact === '' ? [] : [texts.questions])],
    sender: [texts.regards, mail.school, contact, phone, webAddress].filter(isNotEmpty),
  };
}

const letters: Letters = { ...accountLetters, ...participantLetters, ...schoolLetters };

function composeOpening(mail: MailData, texts: LetterTexts) {
  const { purpose, isToBooker, title } = mail;
  const compose = (isToBooker ? bookerLetters[purpose] : undefined) ?? letters[purpose];
  return compose?.(mail, texts) ?? composeNotice(purpose as NoticePurpose, title);
}

function getLinkTexts({ purpose, school }: MailData, texts: LetterTexts) {
  if (purpose === 'offer') return texts.offerLink;
  return purpose === 'booking_link' ? texts.payerLink : texts.passwordLink(school);
}
