import { eq, sql } from 'drizzle-orm';
import { notLeftSql } from '../../../core/reference/statuses.ts';
import type { Reader } from '../../../database/client.ts';
import { caseFolded } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { bookings, orders } from '../../../database/tables/orders.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers, fullName } from '../../../database/tables/users.ts';
import { toMs } from '../../../domains/courses/gatherings/loaders.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { loadDate } from './dates.ts';
import { joinLines, type StoredMail } from './mails.ts';

/**
 * A move is as old as the place that it gave. A mail that is sent again is later, and still has the message of the
 * cancellation, unless the participant was moved again.
 */
const momentsOfMove = `select f.created_at from outbox f where f.provider_id = outbox.provider_id
    and f.participant_id = outbox.participant_id and f.purpose = 'move' and f.id <= outbox.id`;
const moveMessage = sql<string | null>`(select f.cancellation_message from cancellations k
    join course_dates f on f.provider_id = k.provider_id and f.id = k.course_date_id
  where k.provider_id = ${outbox.providerId} and k.move_to = ${courseDates.id} and k.created_at in (${sql.raw(momentsOfMove)})
    and not exists (${sql.raw(momentsOfMove)} and f.created_at > k.created_at
      and f.created_at = ${participants.statusUpdatedAt})
  order by k.created_at desc limit 1)`;
const hasAccountMail = sql`exists (select from outbox a where a.provider_id = ${outbox.providerId}
  and a.user_id = ${outbox.userId} and a.purpose = 'account_created')`;

/** The participant of the mail, or the first one of the booking, with the booking. */
async function selectPlace(db: Reader, { providerId, id }: StoredMail) {
  const { courseDateId, statusId, heldFor, createdAt } = participants;
  const [found] = await db
    .select({
      placeId: participants.id,
      placeUserId: participants.userId,
      ...{ courseDateId, statusId, heldFor, createdAt },
      heldUntil: sql<
        string | null
      >`to_char(${participants.heldUntil} at time zone ${courseDates.zone}, 'YYYY-MM-DD HH24:MI')`,
      /** True for a receipt about another status than the booked one. */
      isStatusChanged: sql<boolean>`${outbox.createdAt} > ${participants.createdAt}
        and ${participants.statusUpdatedAt} > ${participants.createdAt}`,
      updatedAtMs: toMs(participants.updatedAt),
      moveMessage,
      name: fullName,
      /** True for those who have a password, or a mail to choose one. */
      canSignOn: sql<boolean>`${courseUsers.passwordHash} is not null or ${hasAccountMail}`,
      ...{ bookingId: bookings.id, orderId: bookings.orderId, bookerName: bookings.bookerName },
      language: bookings.language,
      /** True if somebody else than the participant pays. */
      hasOtherPayer: sql<boolean>`${orders.customerId} is not null
        or coalesce(${caseFolded(bookings.bookerEmail)} <> ${caseFolded(sql`coalesce(${courseUsers.email}, '')`)}, false)`,
      /** True while a place of the booking has no name. */
      hasUnnamed: sql<boolean>`exists (select from participants q where q.provider_id = ${bookings.providerId}
        and q.booking_id = ${bookings.id} and q.course_date_id = ${participants.courseDateId} and q.held_for = 'name')`,
      /** True if the booking never had another one. */
      isOnlyParticipant: sql<boolean>`not exists (select from participants other
        where other.provider_id = ${participants.providerId} and other.booking_id = ${participants.bookingId}
          and other.id <> ${participants.id})`,
      /** Those who have left do not count. */
      numParticipants: sql<number>`(select count(*)::int from participants f
        where f.provider_id = ${bookings.providerId} and f.booking_id = ${bookings.id} and ${sql.raw(notLeftSql('f'))})`,
    })
    .from(outbox)
    .innerJoin(
      participants,
      sameTenant(
        participants,
        outbox,
        sql`${participants.id} = coalesce(${outbox.participantId}, (select min(f.id) from participants f
          where f.provider_id = ${outbox.providerId} and f.booking_id = ${outbox.bookingId}))`,
      ),
    )
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .innerJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .innerJoin(orders, sameTenant(orders, bookings, eq(orders.id, bookings.orderId)))
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .where(tenantWhere({ providerId }, outbox, eq(outbox.id, id)));
  return found && joinLines(found);
}

export async function loadPlace(db: Reader, mail: StoredMail) {
  const found = await selectPlace(db, mail);
  if (!found) return undefined;
  const date = await loadDate(db, mail.providerId, mail.courseDateId ?? found.courseDateId);
  return {
    ...found,
    date,
    isToParticipant: mail.userId === found.placeUserId,
    isToAnother: mail.userId !== null && mail.userId !== found.placeUserId,
    isFormerDate: found.courseDateId !== date.courseDateId,
    updatedAtMs: Math.max(found.updatedAtMs, date.updatedAtMs),
    /** The name of the recipient, or of the participant in a mail to the booker. */
    participantName: mail.userId === null ? found.name : `${mail.firstname ?? ''} ${mail.lastname}`.trim(),
    enrolment: { statusId: found.statusId, dateStatusId: date.dateStatusId },
  };
}
export type Place = NonNullable<Awaited<ReturnType<typeof loadPlace>>>;
