import { setTimeout as sleep } from 'node:timers/promises';
import { execute, type Queryable } from '../../../../database/statements.ts';
import type { Attempted, ClaimedMail } from '../endings.ts';
import { awaitDigest, countNotices, leaseNotices } from './query.ts';

/** Notices to one recipient that are sent one by one; of more, a digest is sent. */
const maxSingle = 20;
/** Limits the rows of a transaction. */
const maxCollected = 1_000;
const awaitSeconds = 5;
/** Until deliveries in progress have put off their notices. */
const settleMs = 1_000;

/**
 * Leases the other notices to the recipient of a notice where more than 20 wait; none otherwise. Undefined while another
 * delivery does: of several in progress, in any process, the one with the first notice.
 */
export async function collectDigest(
  on: Queryable,
  { providerId, id, lease }: ClaimedMail,
): Promise<Attempted[] | undefined> {
  type Found = { waiting: number; firstInProgress: number | null };
  const [found] = await execute<Found>(on, countNotices, [providerId, id]);
  const { waiting, firstInProgress } = found!;
  if (waiting <= maxSingle) return [];
  if ((firstInProgress ?? id) < id) return undefined;
  const collect = (limit: number) => execute<Attempted>(on, leaseNotices, [providerId, id, lease, limit]);
  const collected = await collect(maxCollected - 1);
  if (collected.length < Math.min(waiting, maxCollected) - 1) {
    await sleep(settleMs);
    collected.push(...(await collect(maxCollected - 1 - collected.length)));
  }
  return collected;
}

/** Puts a notice off, with the others to its recipient, while a digest of them is made. */
export const waitForDigest = (on: Queryable, { providerId, id, lease }: ClaimedMail) =>
  execute(on, awaitDigest, [providerId, id, lease, `${awaitSeconds} seconds`]);
