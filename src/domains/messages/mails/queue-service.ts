import { and, eq, sql } from 'drizzle-orm';
import { mailKinds, isMailOn, type MailKind } from '../../../core/reference/mail-kinds.ts';
import { hashSecret, newSecret } from '../../../core/secrets.ts';
import type { Database } from '../../../database/client.ts';
import type { Ctx, SchoolWrite } from '../../../database/context.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import { catalogPosts, recipientHash } from '../../../database/tables/catalog-posts.ts';
import { currentTime } from '../../../database/tables/columns.ts';
import { dateNotices } from '../../../database/tables/coursedates.ts';
import { bookingSettings } from '../../../database/tables/providers.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { MailPurpose } from './schema.ts';
import * as statements from './sql.ts';

type School = Pick<Ctx, 'providerId'>;

/** A mail to a course user, or to the booker of a booking. `participantId` is null for a mail about an account. */
export type NewMail = {
  purpose: MailPurpose;
  /** True: sent whether the school has switched this kind of mail on or off. */
  isRequested?: boolean;
  /** True: also sent to a person who was told of the place by an earlier mail. */
  isFollowUp?: boolean;
  courseDateId?: number;
  /** True if the ended place of the mail was confirmed. */
  endsPlace?: boolean;
} & (
  | { userId: number; participantId: number | null }
  /** A mail to the person who has the place. */
  | { participantId: number; userId?: number }
  | { bookingId: number; participantId?: number }
);

/** Queues mails of the kinds that the school has switched on, and those that are sent whatever the switch. */
export async function queueMails({ providerId, tx, now }: SchoolWrite, mails: NewMail[]) {
  if (mails.length === 0) return;
  const rows = mails.map(({ isRequested = false, ...mail }) => ({ ...mail, kind: isRequested ? null : toKind(mail) }));
  await statements.queueMails(tx, { providerId, now, mails: rows });
}

const toKind = ({ purpose }: { purpose: MailPurpose }) =>
  purpose === 'moved_away' ? 'move' : purpose in mailKinds ? purpose : null;

export async function isMailSwitchedOn(school: School, on: Ctx['db'], kind: MailKind) {
  const { mails } = bookingSettings;
  const [found] = await on.select({ mails }).from(bookingSettings).where(tenantWhere(school, bookingSettings));
  return isMailOn(kind, found?.mails ?? null);
}

/** True for each address below the daily limit of mails that forms, names or links cause; the caller stores them. */
export async function decideFormMails({ providerId, tx }: SchoolWrite, emails: string[]): Promise<boolean[]> {
  const mails = emails.map((email) => ({ email }));
  return (await statements.decideFormMails(tx, { providerId, mails })).map(({ isSent }) => isSent);
}

/** `decideFormMails` for one mail, which is stored if it is sent. */
export async function reserveFormMail(w: SchoolWrite, email: string): Promise<boolean> {
  const { providerId } = w;
  const [isSent = false] = await decideFormMails(w, [email]);
  const recipients = sql`array[${recipientHash(providerId, email)}]`;
  const mail = { providerId, keyHash: hashSecret(newSecret()), places: 0, recipients, createdAt: currentTime };
  if (isSent) await w.tx.insert(catalogPosts).values(mail);
  return isSent;
}

/** Who gets a receipt, whatever the request and the switches say: the booker, and the participants by their place. */
export type RequestedMails = { toBooker: boolean; toParticipants: boolean[] };

type Booked = {
  input: {
    places?: number;
    booker_email?: string;
    config?: {
      send_receipt_email_to_participant?: boolean;
      send_account_created_email_to_user?: boolean;
      send_link_email_to_booker?: boolean;
    };
  };
  switches: Parameters<typeof isMailOn>[1];
  users: { userId: number; isNew: boolean }[];
  created: { bookingId: number; participantIds: number[] };
  mails?: RequestedMails | undefined;
};

/** Queues the mails about a booking. Its request decides on receipts, else the switches of the school. */
export const queueBookingMails = (w: SchoolWrite, booked: Booked) =>
  queueMails(
    w,
    booked.input.places === undefined ? [...toParticipants(booked), ...toBooker(booked)] : toBooker(booked),
  );

function toBooker({ input: { config, booker_email }, switches, created: { bookingId }, mails }: Booked): NewMail[] {
  const isReceiptSent = mails?.toBooker ?? (booker_email !== undefined && isMailOn('booking_receipt', switches));
  return [
    ...(isReceiptSent ? [{ purpose: 'booking_receipt' as const, bookingId, isRequested: true }] : []),
    // The receipt has the link; a second one would end it.
    ...(config?.send_link_email_to_booker && !isReceiptSent ? [{ purpose: 'booking_link' as const, bookingId }] : []),
  ];
}

function toParticipants({ input: { config }, switches, users, created, mails }: Booked): NewMail[] {
  const newUserIds = new Set(users.flatMap(({ userId, isNew }) => (isNew ? [userId] : [])));
  const accounts = [...newUserIds].map((userId): NewMail => ({
    purpose: 'account_created',
    userId,
    participantId: null,
  }));
  const receipts = users.map(({ userId }, n): NewMail => ({
    ...{ purpose: 'receipt', userId, participantId: created.participantIds[n]! },
    isRequested: true,
  }));
  const sendReceipts = config?.send_receipt_email_to_participant ?? isMailOn('receipt', switches);
  const sent = receipts.filter((_receipt, n) => mails?.toParticipants[n] ?? sendReceipts);
  return [...(config?.send_account_created_email_to_user ? accounts : []), ...sent];
}

/** Time and place of a course date, to compare. */
export async function readSchedule({ providerId, tx }: SchoolWrite, courseDateId: number) {
  return (await statements.readSchedule.one(tx, { providerId, courseDateId })).schedule;
}

/** Gatherings that a letter lists. */
export const maxListed = 50;
const shorten = (schedule: string) =>
  JSON.stringify(JSON.parse(schedule || '{}'), (name, value: unknown) =>
    name === 'gatherings' && Array.isArray(value) ? (value as unknown[]).slice(0, maxListed) : value,
  );

/** Tells the participants of a date that is not over if its time or place has changed, or it is reopened. */
export async function queueDateChanges(w: SchoolWrite, courseDateId: number, before: string) {
  if ((await readSchedule(w, courseDateId)) === before) return;
  await statements.queueDateChanges(w.tx, { ...w, courseDateId, now: w.now, before: shorten(before) });
  await forgetReminder(w, courseDateId);
}

/** Lets the participants of a date that was moved be reminded again before the new start. */
async function forgetReminder(w: SchoolWrite, courseDateId: number) {
  const isAhead = sql`exists (
    select from course_dates d ${sql.raw(statements.location)}
    where d.provider_id = ${dateNotices.providerId} and d.id = ${dateNotices.courseDateId}
      and ${sql.raw(statements.dueAt)} > ${currentTime})`;
  const isReminder = and(eq(dateNotices.courseDateId, courseDateId), eq(dateNotices.kind, 'reminder'), isAhead);
  await w.tx.delete(dateNotices).where(tenantWhere(w, dateNotices, isReminder));
}

/** Limits the time under the lock. */
const maxReminders = 1_000;

/** Queues the reminders that are due. Each process runs it. The failure of one date delays no other. */
export async function queueDueReminders(database: Pick<Database, 'unlocked' | 'write'>) {
  await runEach(await statements.findDatesToRemind(database.unlocked, {}), async ({ providerId, courseDateId }) => {
    const queueBatch = () =>
      database.write([providerId], ['people'], async ({ tx, now }) => {
        const batch = { providerId, courseDateId, now, limit: maxReminders };
        const { reminded, marked } = await statements.queueReminders.one(tx, batch);
        if (reminded + marked === 0) return tx.rollBack(false);
        tx.auditItem(courseDateId);
        return marked === 0;
      });
    while (await queueBatch()) continue;
  });
}

export const reminderJob = auditedJob('The queueing of reminders', 'reminders', 60_000, queueDueReminders);
