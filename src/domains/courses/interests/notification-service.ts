import type { Database } from '../../../database/client.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import { execute } from '../../../database/statements.ts';
import * as sql from './sql.ts';

/** Limits the time under the lock. */
const maxMails = 1_000;

/** Queues a mail to each person who is interested in a course that has a date. Each process runs it. */
export async function queueInterestMails(database: Pick<Database, 'pool' | 'write'>) {
  type Found = { providerId: number; courseId: number };
  const found = await execute<Found>({ $client: database.pool }, sql.findDueCourses, []);
  await runEach(found, async ({ providerId, courseId }) => {
    const queueBatch = () =>
      database.write([providerId], ['people'], async (tx, now) => {
        const mails = await execute(tx, sql.queueMails, [providerId, courseId, now, maxMails]);
        // Another process was first.
        if (mails.length === 0) return tx.rollbackNoChange(0);
        tx.recordAffected(courseId);
        return mails.length;
      });
    while ((await queueBatch()) === maxMails) continue;
  });
}

export const interestJob = auditedJob('The mails about new dates', 'interests', 60_000, queueInterestMails);
