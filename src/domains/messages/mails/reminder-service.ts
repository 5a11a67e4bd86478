import type { Database } from '../../../database/client.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import { execute } from '../../../database/statements.ts';
import * as sql from './sql.ts';

/** Limits the time under the lock. */
const maxReminders = 1_000;

/** Queues the reminders that are due. Each process runs it. The failure of one date delays no other. */
export async function queueDueReminders(database: Pick<Database, 'pool' | 'write'>) {
  type Due = { providerId: number; courseDateId: number };
  const due = await execute<Due>({ $client: database.pool }, sql.findDatesToRemind, []);
  await runEach(due, async ({ providerId, courseDateId }) => {
    const queueBatch = () =>
      database.write([providerId], ['people'], async (tx, now) => {
        const values = [providerId, courseDateId, now, maxReminders];
        const [batch] = await execute<{ reminded: number; marked: number }>(tx, sql.queueReminders, values);
        const { reminded, marked } = batch!;
        if (reminded + marked === 0) return tx.rollbackNoChange(false);
        tx.recordAffected(courseDateId);
        return marked === 0;
      });
    while (await queueBatch()) continue;
  });
}

export const reminderJob = auditedJob('The queueing of reminders', 'reminders', 60_000, queueDueReminders);
