import type { MailData } from './mail-data.ts';
import { toHtml, toText, type Letter } from './letter.tsx';
import type { Message } from './transport.ts';

/** Equal for all attempts, so that recipients can detect duplicates, and unique across databases. */
export const mailName = ({ createdAt, id }: MailData) => `${createdAt}-${id}`;

/** Sent from the service's address in the school's name; replies go to the school. */
export function toMessage(mail: MailData, letter: Letter, from: string): Message {
  const { school, firstname, lastname, email, contact } = mail;
  return {
    from: { name: school, address: from },
    to: { name: `${firstname} ${lastname}`.trim(), address: email },
    ...(contact === '' ? {} : { replyTo: { name: school, address: contact } }),
    subject: letter.subject,
    text: toText(letter),
    html: toHtml(letter),
    messageId: `<${mailName(mail)}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': letter.language },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
