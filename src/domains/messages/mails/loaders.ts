import { eq, sql, type SQL } from 'drizzle-orm';
import { caseFolded, toSqlText } from '../../../database/tables/columns.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { outbox, refusedAddresses } from '../../../database/tables/outbox.ts';
import { participants } from '../../../database/tables/participants.ts';
import { adminMemberships, adminUsers } from '../../../database/tables/people.ts';
import { providers } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';

/** Names of the joined tables. */
type Names = Record<'mail' | 'user' | 'member' | 'admin' | 'booking' | 'school', string>;

/** True for a mail to the school, or to one of its admin users, about dates and participants. */
export const isNoticeSql = (mail: string) =>
  `(${mail}.purpose like 'notice\\_%'
        or ${mail}.purpose = 'moved_away' and ${mail}.user_id is null and ${mail}.booking_id is null)`;

/** The mark of an address as refused. */
export const marksRefusal = (address: SQL | string) =>
  sql`${caseFolded(refusedAddresses.email)} = ${caseFolded(address)} and ${refusedAddresses.liftedAt} is null`;

/** True for an address that is marked as refused. */
export const isRefusedSql = (provider: string, address: string) =>
  `exists (select from refused_addresses where provider_id = ${provider}
        and ${toSqlText(marksRefusal(sql.raw(address)))})`;

/** The address for notices of the admin user, or null. */
export const noticeEmailSql = (member: string) => `nullif(${member}.booking_email, '')`;

/** The addresses of the school that are not refused; the first one gets the mails about refused addresses. */
export const refusalEmailsSql = (school: string) =>
  `(select address from unnest(array[${school}.email_booking, ${school}.email, ${school}.email_admin])
          with ordinality a (address, place)
        where address <> '' and not ${isRefusedSql(`${school}.id`, 'address')} order by place)`;

/** The address of a mail to the school itself. */
export const schoolEmailSql = ({ mail, school }: Pick<Names, 'mail' | 'school'>) =>
  `case when ${mail}.webhook_id is not null then ${school}.email_admin
        when ${mail}.refused_address_id is not null then (select * from ${refusalEmailsSql(school)} e limit 1) end`;

/** Where a mail goes, by current data; null without an address. `booking` is that of the mail or of its participant. */
const recipientSql = ({ mail, user, member, admin, booking, school }: Names) =>
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

/** The recipient of the mail `o` with `recipientJoins`, or with those of persons and the booking of its participant. */
export const joinedRecipient = recipientSql({
  mail: 'o',
  user: 'u',
  member: 'm',
  admin: 'a',
  booking: 'b',
  school: 's',
});

const personJoins = `join providers s on s.id = o.provider_id
      left join course_users u on u.provider_id = o.provider_id and u.id = o.user_id
      left join admin_memberships m on m.provider_id = o.provider_id and m.admin_user_id = o.admin_user_id
      left join admin_users a on a.id = m.admin_user_id`;

export const recipientJoins = `${personJoins}
      left join bookings b on b.provider_id = o.provider_id and b.id = o.booking_id`;

const { providerId, id, purpose, userId, adminUserId, bookingId, participantId, courseDateId } = outbox;
const { attempts, lastError, createdAt, sentAt, failedAt } = outbox;
const references = { userId, adminUserId, bookingId, participantId, courseDateId };
const columns = { providerId, id, purpose, ...references, attempts, lastError, createdAt, sentAt, failedAt };

export const fetchMails = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...columns,
      recipient: sql<string | null>`${sql.raw(recipientSql(tables))}`,
      participantBookingId: participants.bookingId,
      participantCourseDateId: participants.courseDateId,
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

/**
 * The mails of this kind that wait for the participants of a provider's course date. Locked: they are sent with
 * current data, so that no worker claims them before this transaction ends. Not joined: without statistics a join
 * would compare each with all others.
 */
export const waitingMailsSql = (purpose: string) => `
      select o.participant_id, coalesce(o.user_id, 0) as user_id from outbox o
      where o.provider_id = :providerId and o.purpose = '${purpose}' and o.sent_at is null and o.failed_at is null
        and (o.attempts = 0 or o.last_error is not null) and o.participant_id = any(array(
          select p.id from participants p where p.provider_id = :providerId and p.course_date_id = :courseDateId))
      for no key update`;

/** The location in `table` as letters have it, or null. */
export const locationSql = (
  table: string,
) => `case when ${table}.id is not null then json_build_object('isVirtual', ${table}.is_virtual,
        'title', coalesce(nullif(${table}.custom_title, ''), ${table}.title),
        'address', ${table}.address, 'zipcode', ${table}.zipcode, 'city', ${table}.city) end`;

/** The mails to a person or a booker about a place, its date and its location. */
const placePurposes =
  "'receipt', 'promotion', 'offer', 'move', 'swap', 'date_changed', 'reminder', 'booking_receipt', 'deregistration'";

/** True for a mail that was sent, or is being sent. */
export const wasSent = '(earlier.sent_at is not null or earlier.attempts > 0 and earlier.last_error is null)';

/** Such mails that were or will be sent; the condition on the mail `earlier` begins with its recipient. */
export const notifiedSql = (columns: string, recipient: string) => `(select ${columns} from outbox earlier
      where earlier.provider_id = :providerId and earlier.${recipient} and earlier.failed_at is null and earlier.purpose in (${placePurposes}))`;
export const wasNotifiedSql = (recipient: string) => `exists ${notifiedSql('', recipient)}`;
