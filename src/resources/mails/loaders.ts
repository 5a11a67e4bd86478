import { eq, getTableColumns, sql } from 'drizzle-orm';
import { bookings } from '../../database/tables/orders.ts';
import { outbox } from '../../database/tables/outbox.ts';
import { participants } from '../../database/tables/participants.ts';
import { adminMemberships, adminUsers } from '../../database/tables/people.ts';
import { providers } from '../../database/tables/providers.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';

/** Names of the joined tables. */
type Names = Record<'mail' | 'user' | 'member' | 'admin' | 'booking' | 'school', string>;

/** True for a mail to an admin user about dates and participants. */
export const isNoticeSql = (mail: string) => `(${mail}.purpose = 'moved_away' or ${mail}.purpose like 'notice\\_%')`;

/** The address for notices of the admin user, or null. */
export const noticeEmailSql = (member: string) => `nullif(${member}.booking_email, '')`;

/** The address of a mail to the school itself. */
export const schoolEmailSql = ({ mail, school }: Pick<Names, 'mail' | 'school'>) =>
  `case when ${mail}.webhook_id is not null then ${school}.email_admin
        when ${mail}.refused_address_id is not null then
          coalesce(nullif(${school}.email_booking, ''), nullif(${school}.email, ''), ${school}.email_admin) end`;

/** Where a mail goes, by current data; null without an address. `booking` is that of the mail or of its participant. */
export const recipientSql = ({ mail, user, member, admin, booking, school }: Names) =>
  `nullif(coalesce(${user}.email, case when ${isNoticeSql(mail)} then ${noticeEmailSql(member)} end, ${admin}.email,
        ${mail}.address, case when ${mail}.booking_id is not null then ${booking}.booker_email end,
        ${schoolEmailSql({ mail, school })}), '')`;

/** The names of the tables themselves. */
export const tables = {
  mail: 'outbox',
  user: 'course_users',
  member: 'admin_memberships',
  admin: 'admin_users',
  booking: 'bookings',
  school: 'providers',
};

export const fetchMails = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(outbox),
      recipient: sql<string | null>`${sql.raw(recipientSql(tables))}`,
      itsBookingId: participants.bookingId,
      itsCourseDateId: participants.courseDateId,
    })
    .from(outbox)
    .innerJoin(providers, eq(providers.id, outbox.providerId))
    .leftJoin(courseUsers, sameTenant(courseUsers, outbox, eq(courseUsers.id, outbox.userId)))
    .leftJoin(
      adminMemberships,
      sameTenant(adminMemberships, outbox, eq(adminMemberships.adminUserId, outbox.adminUserId)),
    )
    .leftJoin(adminUsers, eq(adminUsers.id, adminMemberships.adminUserId))
    .leftJoin(bookings, sameTenant(bookings, outbox, eq(bookings.id, outbox.bookingId)))
    .leftJoin(participants, sameTenant(participants, outbox, eq(participants.id, outbox.participantId)))
    .where(keys.match(outbox, outbox.id)),
);
