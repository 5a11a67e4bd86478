import { and, eq, exists, isNull, sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { hashSecret, newProviderSecret, newSecret, parseProviderId } from '../../../core/secrets.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Database } from '../../../database/client.ts';
import type { Ctx, SchoolWrite, WriteCtx } from '../../../database/context.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import type { UnlockedStore } from '../../../database/reader.ts';
import { caseFolded, hasLink } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { courseInterests } from '../../../database/tables/interests.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { isOfOpenProvider } from '../../../database/tables/providers.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { decideFormMails, isMailSwitchedOn } from '../../messages/mails/queue-service.ts';
import { assertVisibleCourse } from '../courses/service.ts';
import type { InterestBody } from './body-schema.ts';
import { interestList } from './list.ts';
import type { InterestReceived } from './schema.ts';
import { isAlive, isBookable } from './loaders.ts';
import { findDueCourses, queueMails, requestInterest as insertInterest } from './sql.ts';

export const interestAreas: Areas = ['people'];

type InterestQuery = Omit<Parameters<typeof interestList.page>[1], 'course_id'>;

export async function listInterests(ctx: Ctx, courseId: number, query: InterestQuery) {
  const page = await interestList.page(ctx, { ...query, course_id: courseId });
  await assertVisibleCourse(ctx, courseId, {});
  return page;
}

/** Asks the address by mail to confirm its interest. The answer says nothing about the address. */
export const requestInterest = (ctx: Ctx, courseId: number, body: InterestBody): Promise<InterestReceived> =>
  ctx.write(interestAreas, async (w) => {
    const isWritten = await requestWithin(w, courseId, body);
    const received = { successful: true, course_id: courseId, email: body.email };
    return isWritten ? received : w.tx.rollBack(received);
  });

/** `requestInterest` for the hashed address of a visitor. Returns false if nothing was written. */
export async function requestWithin(
  w: SchoolWrite,
  courseId: number,
  { email, name, language }: InterestBody,
  addressHash: string | null = null,
): Promise<boolean> {
  const { tx, now } = w;
  const dates = tenantWhere(w, courseDates, eq(courseDates.courseId, courseId), isBookable);
  const hasDate = sql<boolean>`${exists(tx.select({ id: courseDates.id }).from(courseDates).where(dates))}`;
  const isKnown = tenantWhere(w, courses, eq(courses.id, courseId), isNull(courses.deletedAt));
  const [found] = await tx.select({ hasDate }).from(courses).where(isKnown);
  const course = Problem.assertFound(found, 'Course');
  if (!(await isMailSwitchedOn(w, tx, 'date_published')))
    throw Problem.coded('interests_off', 'The school sends no mails about new dates');
  if (course.hasDate) throw Problem.coded('course_has_date', 'The course has a date that can be booked');
  const [isSent = false] = await decideFormMails(w, [email]);
  const interest = { courseId, email, name: name || null, language: language ?? null, now };
  const keyHash = hashSecret(newSecret());
  const post = { providerId: w.providerId, ...interest, addressHash, keyHash, isSent };
  const [counted] = await insertInterest(tx, post);
  if (counted?.id != null) tx.auditItem(counted.id);
  return counted !== undefined;
}

/** Returns the secret of a link for a mail, of which only a hash is stored; undefined once the interest has ended. */
export async function createInterestLink(
  on: UnlockedStore,
  { providerId, interestId, mailId = null }: { providerId: number; interestId: number; mailId?: number | null },
) {
  const token = newProviderSecret(providerId);
  const { id, linkHash, linkMailId, earlierHashes } = courseInterests;
  const link = {
    linkHash: hashSecret(token),
    linkMailId: sql`greatest(${linkMailId}, ${mailId}::bigint)`,
    earlierHashes: sql`case when ${linkMailId} >= ${mailId}::bigint then ${earlierHashes} || ${linkHash} else '{}' end`,
  };
  const isInterest = tenantWhere({ providerId }, courseInterests, eq(id, interestId), isAlive);
  const { rowCount } = await on.update(courseInterests).set(link).where(isInterest);
  return rowCount === 0 ? undefined : token;
}

const isLinked = (providerId: number, token: string) =>
  tenantWhere(
    { providerId },
    courseInterests,
    hasLink(courseInterests.linkHash, courseInterests.earlierHashes, hashSecret(token)),
  );

export type LinkedInterest = NonNullable<Awaited<ReturnType<typeof findInterest>>>;

/** Undefined for an unknown link, and once the interest has ended. */
export async function findInterest(on: UnlockedStore, token: string) {
  const { providerId, id, courseId, confirmedAt, notifiedAt } = courseInterests;
  const [found] = await on
    .select({
      providerId,
      id,
      isConfirmed: sql<boolean>`${confirmedAt} is not null`,
      isNotified: sql<boolean>`${notifiedAt} is not null`,
      title: courses.title,
    })
    .from(courseInterests)
    .innerJoin(courses, sameTenant(courses, courseInterests, eq(courses.id, courseId), isNull(courses.deletedAt)))
    .where(and(isLinked(parseProviderId(token), token), isAlive, isOfOpenProvider(courseInterests)));
  return found;
}

/** Idempotent. */
export const confirmInterest = (ctx: Ctx, token: string): Promise<void> =>
  ctx.write(interestAreas, async ({ tx, now }) => {
    const [confirmed] = await tx
      .update(courseInterests)
      .set({ confirmedAt: now })
      .where(and(isLinked(ctx.providerId, token), isNull(courseInterests.confirmedAt), isAlive))
      .returning({ id: courseInterests.id });
    if (!confirmed) {
      tx.rollBack();
      return;
    }
    tx.auditItem(confirmed.id);
  });

/** Deletes an interest with its mails. Idempotent. */
export const deleteInterest = (ctx: Ctx, token: string): Promise<void> =>
  ctx.write(interestAreas, async ({ tx }) => {
    const { id, email } = courseInterests;
    const [deleted] = await tx.delete(courseInterests).where(isLinked(ctx.providerId, token)).returning({ id, email });
    if (!deleted) {
      tx.rollBack();
      return;
    }
    const isTo = eq(caseFolded(outbox.address), caseFolded(deleted.email));
    await tx.delete(outbox).where(tenantWhere(ctx, outbox, isTo, eq(outbox.interestId, deleted.id)));
    tx.auditItem(deleted.id);
  });

/** Deletes those of a course that is deleted. */
export const deleteInterests = (w: WriteCtx, courseId: number) =>
  w.tx.delete(courseInterests).where(tenantWhere(w, courseInterests, eq(courseInterests.courseId, courseId)));

/** Limits the time under the lock. */
const maxMails = 1_000;

/** Queues a mail to each person who is interested in a course that has a date. Each process runs it. */
export async function queueInterestMails(database: Pick<Database, 'unlocked' | 'write'>) {
  await runEach(await findDueCourses(database.unlocked, {}), async ({ providerId, courseId }) => {
    const queueBatch = () =>
      database.write([providerId], ['people'], async ({ tx, now }) => {
        const mails = await queueMails.count(tx, { providerId, courseId, now, limit: maxMails });
        // Another process was first.
        if (mails === 0) return tx.rollBack(0);
        tx.auditItem(courseId);
        return mails;
      });
    while ((await queueBatch()) === maxMails) continue;
  });
}

export const interestJob = auditedJob('The mails about new dates', 'interests', 60_000, queueInterestMails);
