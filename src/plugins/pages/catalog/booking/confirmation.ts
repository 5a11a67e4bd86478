import { asc, eq, sql } from 'drizzle-orm';
import type { Ctx } from '../../../../database/context.ts';
import { courseDates } from '../../../../database/tables/coursedates.ts';
import { courses } from '../../../../database/tables/courses.ts';
import { participants } from '../../../../database/tables/participants.ts';
import { courseUsers, fullName } from '../../../../database/tables/users.ts';
import { sameTenant, tenantWhere } from '../../../../lists/tenant-scope.ts';
import { linkUrl } from '../../../../domains/messages/links/schema.ts';
import { findLink } from '../../../../domains/messages/links/service.ts';
import { loadBookingBalance } from '../../../../domains/orders/payments/balance-service.ts';
import type { View } from '../view.ts';
import { findPost, toToken } from './service.ts';

export type Confirmation = NonNullable<Awaited<ReturnType<typeof loadConfirmation>>>;

/** The booking that a form's key made; undefined without one in the last 24 hours. */
export async function loadConfirmation(school: Ctx, key: string, { hasPersonalPages }: View) {
  const { providerId, unlockedStore: on, settings } = school;
  const post = await findPost(on, providerId, key);
  if (!post?.isOpen) return undefined;
  const token = await toToken(school, key);
  const [places, balance, subject] = await Promise.all([
    listPlaces(school, post.bookingId),
    loadBookingBalance(school, post.bookingId),
    findLink(on, 'booking', token),
  ]);
  // A link that the school has replaced has ended.
  const link = subject && hasPersonalPages ? linkUrl(settings, 'booking', token) : undefined;
  return { places, balance, mailedTo: post.mailedTo, link };
}

/** The participants of a booking with their dates. */
function listPlaces(ctx: Ctx, bookingId: number) {
  const { startAt, endAt, startTimeAt, endTimeAt, zone } = courseDates;
  return ctx.unlockedStore
    .select({
      name: fullName,
      statusId: participants.statusId,
      dateStatusId: courseDates.statusId,
      title: sql<string>`coalesce(nullif(${courseDates.title}, ''), ${courses.title})`,
      ...{ startAt, endAt, startTimeAt, endTimeAt, zone },
    })
    .from(participants)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .innerJoin(courses, sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId)))
    .where(tenantWhere(ctx, participants, eq(participants.bookingId, bookingId)))
    .orderBy(asc(participants.id))
    .limit(100);
}
