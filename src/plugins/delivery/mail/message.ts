import type { MailCalendar } from './calendar.ts';
import { toHtml, toText, type Letter } from './letter.tsx';
import type { MailData } from './mail-data.ts';
import type { Message } from './transport.ts';

/** Equal for all attempts, so that recipients can detect duplicates, and unique across databases. */
export const mailName = ({ createdAt, id }: MailData) => `${createdAt}-${id}`;

/** Sent from the service's address in the school's name; replies go to the school. `name` is that of the message id. */
export function toMessage(
  mail: MailData,
  letter: Letter,
  calendar: MailCalendar | null,
  from: string,
  name = mailName(mail),
): Message {
  const { school, firstname, lastname, email, contact } = mail;
  return {
    from: { name: school, address: from },
    to: { name: `${firstname} ${lastname}`.trim(), address: email },
    ...(contact === '' ? {} : { replyTo: { name: school, address: contact } }),
    subject: letter.subject,
    text: toText(letter),
    html: toHtml(letter),
    ...(calendar && toCalendarPart(calendar)),
    messageId: `<${name}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': letter.language },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function toCalendarPart({ alternative, attachment }: MailCalendar): Pick<Message, 'alternatives' | 'attachments'> {
  const toPart = ({ method, content }: { method: string; content: string }) => ({
    content,
    contentType: `text/calendar; charset=utf-8; method=${method}`,
    // Base64 keeps its line breaks.
    contentTransferEncoding: 'base64' as const,
  });
  return {
    ...(alternative && { alternatives: [toPart(alternative)] }),
    ...(attachment && { attachments: [{ ...toPart(attachment), filename: 'calendar.ics' }] }),
  };
}
