import type { Log } from '../../../core/log.ts';
import type { Database } from '../../../database/client.ts';
import { warnOfFailure, type Job } from '../../../database/periodic.ts';
import { execute } from '../../../database/statements.ts';
import { endDueHolds } from './promotion-service.ts';
import * as sql from './sql.ts';

const intervalMs = 2_000;
/** Schools whose offers end at once, which wait in the queue of writes. */
const maxSchools = 100;

/**
 * Ends the due offers of all schools. Each process runs it: one that finds those of a school ended by another writes
 * nothing. A school that is locked delays no other one.
 */
export function dueHoldsJob(database: Database, log: Pick<Log, 'warn'>): Job {
  const busy = new Set<number>();
  const run = async (signal: AbortSignal) => {
    const values = [JSON.stringify([...busy]), maxSchools - busy.size];
    const due = await execute<{ id: number }>({ $client: database.pool }, sql.findProvidersWithDueOffers, values);
    const audited = database.withAudit({ actor: 'server', actorId: null, action: 'end of offers' });
    for (const { id } of due) {
      busy.add(id);
      const endAll = async () => {
        while (!signal.aborted && (await endDueHoldsOfSchool(audited, id)));
      };
      void endAll()
        .catch((error: unknown) => {
          if (!signal.aborted) warnOfFailure(log, 'The end of offers', error);
        })
        .finally(() => busy.delete(id));
    }
  };
  return { name: 'The search for offers that end', intervalMs, run };
}

/** Ends the first due offers of a school; returns false without any. */
export const endDueHoldsOfSchool = (database: Pick<Database, 'write'>, providerId: number) =>
  database.write(
    [providerId],
    ['dates', 'people', 'money'],
    async (tx, now) => (await endDueHolds({ providerId }, tx, now, null)) || tx.rollbackNoChange(false),
  );
