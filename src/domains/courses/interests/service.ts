import { Problem } from '../../../core/errors.ts';
import { hashSecret, newProviderSecret, newSecret, parseProviderId } from '../../../core/secrets.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Tx, Database } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { decideFormMails } from '../../messages/mails/queue-service.ts';
import { assertVisibleCourse } from '../courses/service.ts';
import type { InterestBody } from './body-schema.ts';
import { interestList } from './list.ts';
import type { InterestReceived } from './schema.ts';
import * as sql from './sql.ts';

export const interestAreas: Areas = ['people'];

type InterestQuery = Omit<Parameters<typeof interestList.page>[1], 'course_id'>;

export async function listInterests(ctx: Ctx, courseId: number, query: InterestQuery) {
  const page = await interestList.page(ctx, { ...query, course_id: courseId });
  await assertVisibleCourse(ctx, courseId, {});
  return page;
}

/** Asks the address by mail to confirm its interest. The answer says nothing about the address. */
export const requestInterest = (ctx: Ctx, courseId: number, body: InterestBody): Promise<InterestReceived> =>
  ctx.write(interestAreas, async (tx, now) => {
    const isWritten = await requestWithin(ctx, tx, now, courseId, body);
    const received = { successful: true, course_id: courseId, email: body.email };
    return isWritten ? received : tx.rollbackNoChange(received);
  });

/** As `requestInterest`, for the hashed address of a visitor. Returns false if nothing was written. */
export async function requestWithin(
  ctx: Pick<Ctx, 'providerId'>,
  tx: Tx,
  now: string,
  courseId: number,
  { email, name, language }: InterestBody,
  addressHash: string | null = null,
): Promise<boolean> {
  const { providerId } = ctx;
  const [found] = await execute<{ hasDate: boolean; isOn: boolean }>(tx, sql.findCourse, [providerId, courseId]);
  const { hasDate, isOn } = Problem.assertFound(found, 'Course');
  if (!isOn) throw Problem.coded('interests_off', 'The school sends no mails about new dates');
  if (hasDate) throw Problem.coded('course_has_date', 'The course has a date that can be booked');
  const [isSent] = await decideFormMails(ctx, tx, [email]);
  const interest = [providerId, courseId, email, name || null, language ?? null, now];
  const values = [...interest, addressHash, hashSecret(newSecret()), isSent];
  const [counted] = await execute<{ id: number | null }>(tx, sql.requestInterest, values);
  if (counted?.id != null) tx.recordAffected(counted.id);
  return counted !== undefined;
}

/** Returns the secret of a link for a mail, of which only a hash is stored; undefined once the interest has ended. */
export async function createInterestLink(
  on: Queryable,
  { providerId, interestId, mailId = null }: { providerId: number; interestId: number; mailId?: number | null },
) {
  const token = newProviderSecret(providerId);
  const stored = await execute(on, sql.storeLink, [providerId, interestId, hashSecret(token), mailId]);
  return stored.length > 0 ? token : undefined;
}

export type LinkedInterest = {
  providerId: number;
  id: number;
  isConfirmed: boolean;
  isNotified: boolean;
  title: string;
};

/** Undefined for an unknown link, and once the interest has ended. */
export async function findInterest(on: Queryable, token: string) {
  const [found] = await execute<LinkedInterest>(on, sql.findInterest, [parseProviderId(token), hashSecret(token)]);
  return found;
}

/** Idempotent. */
export const confirmInterest = (ctx: Ctx, token: string): Promise<void> =>
  ctx.write(interestAreas, async (tx, now) => {
    const [confirmed] = await execute<{ id: number }>(tx, sql.confirmInterest, [
      ctx.providerId,
      hashSecret(token),
      now,
    ]);
    if (!confirmed) {
      tx.rollbackNoChange();
      return;
    }
    tx.recordAffected(confirmed.id);
  });

/** Idempotent. */
export const deleteInterest = (ctx: Ctx, token: string): Promise<void> =>
  ctx.write(interestAreas, async (tx) => {
    const [deleted] = await execute<{ id: number }>(tx, sql.deleteInterest, [ctx.providerId, hashSecret(token)]);
    if (!deleted) {
      tx.rollbackNoChange();
      return;
    }
    tx.recordAffected(deleted.id);
  });

/** Of a course that is deleted. */
export const deleteInterests = ({ providerId }: Ctx, tx: Tx, courseId: number) =>
  execute(tx, sql.deleteInterests, [providerId, courseId]);

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
