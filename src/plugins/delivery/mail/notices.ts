import type { MailPurpose } from '../../../database/tables/outbox.ts';

/** Mails to the school. */
export type NoticePurpose = Extract<MailPurpose, `notice_${string}` | 'address_refused'>;

const subjects: Record<NoticePurpose, string> = {
  notice_booked: 'Booked',
  notice_canceled: 'Canceled',
  notice_full: 'Fully booked',
  notice_under_minimum: 'Fewer participants than the minimum',
  notice_budget: 'Budgeted number of participants reached',
  address_refused: 'An e-mail address is refused',
};

export const composeNotice = (purpose: NoticePurpose, title: string) => ({
  subject: `${subjects[purpose]}: ${title}`,
  text: [],
});
