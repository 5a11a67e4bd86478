import { hasAnyId } from '../../../database/tables/columns.ts';
import { and, eq } from 'drizzle-orm';
import { isMailOn, type MailKind, type MailSwitches } from '../../../core/reference/mail-kinds.ts';
import type { Database } from '../../../database/client.ts';
import type { SchoolWrite } from '../../../database/context.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import { dateNotices } from '../../../database/tables/coursedates.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import * as statements from './sql.ts';

type Changes = {
  /** Participants who got a place on a date, on its waiting list too. */
  booked?: number[];
  /** Participants who have left their date. */
  canceled?: number[];
  /** Participants with the date that they were moved from. */
  moved?: { id: number; courseDateId: number }[];
  /** Dates of which seats or capacities have changed. */
  courseDateIds?: number[];
};

/** Queues notices to the school, at the end of each write that changes places or seats, behind promotions. */
export async function queueNotices(
  { providerId, tx, now }: SchoolWrite,
  { booked = [], canceled = [], moved = [], courseDateIds = [] }: Changes,
) {
  const notices = [
    ...booked.map((participantId) => ({ purpose: 'notice_booked', participantId })),
    ...canceled.map((participantId) => ({ purpose: 'notice_canceled', participantId })),
    ...moved.map(({ id, courseDateId }) => ({ purpose: 'moved_away', participantId: id, courseDateId })),
  ];
  if (notices.length + courseDateIds.length === 0) return;
  await statements.queueNotices(tx, { providerId, now, notices, courseDateIds });
}

const ofBookings: MailKind[] = ['notice_booked', 'notice_full', 'notice_under_minimum', 'notice_budget'];

/** False if a booking cannot cause a notice. */
export const mayBeNotified = ({ mailSwitches }: { mailSwitches: MailSwitches | null }) =>
  ofBookings.some((kind) => isMailOn(kind, mailSwitches));

/** Tells schools once about their dates under the minimum. Each process runs it. */
export async function warnOfMinimum(database: Pick<Database, 'unlocked' | 'write'>) {
  await runEach(await statements.findUnderMinimum(database.unlocked, {}), ({ providerId, courseDateIds }) =>
    database.write([providerId], ['dates'], async (w) => {
      const isNotified = and(eq(dateNotices.kind, 'under_minimum'), hasAnyId(dateNotices.courseDateId, courseDateIds));
      const numNotified = await w.tx.$count(dateNotices, tenantWhere({ providerId }, dateNotices, isNotified));
      // Another process was first.
      if (numNotified === courseDateIds.length) {
        w.tx.rollBack();
        return;
      }
      for (const id of courseDateIds) w.tx.auditItem(id);
      await queueNotices({ providerId, ...w }, { courseDateIds });
    }),
  );
}

export const minimumJob = auditedJob('The notices of dates under the minimum', 'minimum notice', 60_000, warnOfMinimum);
