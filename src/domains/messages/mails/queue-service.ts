import { mailKinds } from '../../../core/reference/mail-kinds.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { execute, toRecordset } from '../../../database/statements.ts';
import type { MailPurpose } from './schema.ts';
import * as sql from './sql.ts';

type School = Pick<Ctx, 'providerId'>;

/** To a course user, or to the booker of a booking. `participantId` is null for a mail about an account. */
export type NewMail = {
  purpose: MailPurpose;
  /** True: sent whether the school has switched this kind of mail on or off. */
  isRequested?: boolean;
  /** True: also sent to a person who was told of the place by an earlier mail. */
  isFollowUp?: boolean;
  courseDateId?: number;
  /** Of a mail about the end of a place: whether it was confirmed. */
  endsPlace?: boolean;
} & (
  | { userId: number; participantId: number | null }
  /** To the person who has the place. */
  | { participantId: number; userId?: number }
  | { bookingId: number; participantId?: number }
);

/** Queues mails of the kinds that the school has switched on, and those that are sent whatever the switch. */
export async function queueMails({ providerId }: School, tx: Tx, now: string, mails: NewMail[]) {
  if (mails.length === 0) return;
  const rows = mails.map(({ isRequested = false, ...mail }) => ({ ...mail, kind: isRequested ? null : toKind(mail) }));
  await execute(tx, sql.queueMails, [providerId, now, toRecordset(rows)]);
}

const toKind = ({ purpose }: { purpose: MailPurpose }) =>
  purpose === 'moved_away' ? 'move' : purpose in mailKinds ? purpose : null;

export async function isMailSwitchedOn(
  { providerId }: School,
  on: Parameters<typeof execute>[0],
  kind: keyof typeof mailKinds,
) {
  const [found] = await execute<{ isOn: boolean }>(on, sql.findSwitch, [providerId, kind]);
  return found!.isOn;
}
