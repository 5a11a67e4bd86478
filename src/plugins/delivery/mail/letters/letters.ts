import type { MailPurpose } from '../../../../database/tables/outbox.ts';
import type { MailData } from '../mail-data.ts';
import type { LetterTexts } from '../messages.ts';

/** What a letter says, by purpose. */
export type Letters = Partial<Record<MailPurpose, (mail: MailData, texts: LetterTexts) => Opening>>;
export type Opening = { subject: string; text: string[] };

/** With the message of a cancellation. */
export const withMessage = ({ subject, text }: Opening, { cancellationMessage }: MailData): Opening => ({
  subject,
  text: [...text, cancellationMessage ?? ''],
});
