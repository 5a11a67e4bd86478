import type { FoundMail } from './compose.ts';
import { toHtml, toText, type Letter } from './letter.tsx';
import type { Message } from './transport.ts';

/** What all tries of a mail have in common, in this database and any other: by it two that arrive are told to be one. */
export const getName = ({ createdAt, id }: FoundMail) => `${createdAt}-${id}`;

/** From the school, by the service's address; answers go to the school. */
export function toMessage(mail: FoundMail, letter: Letter, from: string): Message {
  const { school, firstname, lastname, email, contact } = mail;
  return {
    from: { name: school, address: from },
    to: { name: `${firstname} ${lastname}`.trim(), address: email },
    ...(contact === '' ? {} : { replyTo: { name: school, address: contact } }),
    subject: letter.subject,
    text: toText(letter),
    html: toHtml(letter),
    messageId: `<${getName(mail)}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': letter.language },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
