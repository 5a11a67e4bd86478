import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { notificationDaysSql } from '../../../core/reference/notification-days.ts';
import { canceled, confirmedStatuses, postponed } from '../../../core/reference/statuses.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';

/** The moment at which the participants of the date `d` at the location `l` are reminded: 09:00 of a day in its zone. */
export const dueAt = `timezone(d.zone, (d.start_at - ${notificationDaysSql('l')}) + time '09:00')`;
/** A date that was created within a day before its start has no reminder. */
const isDue = `l.notification_days > 0 and ${dueAt} <= ${currentTimeSql} and d.starts_at > ${currentTimeSql}
      and d.starts_at > d.created_at + interval '1 day'
      and d.status_id not in (${canceled}, ${postponed}) and d.deleted_at is null`;
const location = 'join locations l on l.provider_id = d.provider_id and l.id = d.location_id';
const isMarked = (date: string) => `select from date_notices n
      where n.provider_id = ${date}.provider_id and n.course_date_id = ${date}.id and n.kind = 'reminder'`;

/**
 * Dates whose participants are to be reminded, the next first, without those of schools that are closed or being
 * deleted. Reads only dates that start within the days of the school, by their index: `offset 0` keeps this order.
 */
export const findDatesToRemind = {
  name: 'find_dates_to_remind',
  text: `with schools as materialized (
      select school.provider_id as id, (select max(${notificationDaysSql('l')}) + 2 from locations l
        where l.provider_id = school.provider_id) as days
      from provider_state school join providers p on p.id = school.provider_id and p.closed_at is null
      where ${isMailOnSql('school.provider_id', `'reminder'`)})
    select d.provider_id as "providerId", d.id as "courseDateId"
    from schools
      cross join lateral (select * from course_dates where provider_id = schools.id
        and starts_at between now() and now() + schools.days * interval '1 day' offset 0) d
      ${location}
    where ${isDue} and not exists (${isMarked('d')})
    order by d.starts_at, d.provider_id, d.id limit 1000`,
};

const isConfirmed = (participant: string) => `${participant}.status_id in (${confirmedStatuses.join(', ')})
          and ${participant}.held_for is null`;

/**
 * To the next `$4` persons with a confirmed place of the date `$2`, and bookers of places without names, and marks the
 * date after the last of them. Sent after other mails of the school: those are due earlier.
 */
export const queueReminders = {
  name: 'queue_reminders',
  text: `with date as (
      select d.provider_id, d.id, ${dueAt} as due_at from course_dates d ${location}
      where d.provider_id = $1 and d.id = $2 and ${isDue} and ${isMailOnSql('$1', `'reminder'`)}
        and not exists (${isMarked('d')})),
    recipients as (
      select p.id, p.user_id, null::bigint as booking_id
      from date d join participants p on p.provider_id = d.provider_id and p.course_date_id = d.id
      where ${isConfirmed('p')} and not exists (
          select from participants q where q.provider_id = p.provider_id and q.user_id = p.user_id
            and q.course_date_id = p.course_date_id and q.id < p.id and ${isConfirmed('q')})
      union all
      select min(p.id), null, p.booking_id
      from date d join participants p on p.provider_id = d.provider_id and p.course_date_id = d.id and p.held_for = 'name'
        join bookings b on b.provider_id = p.provider_id and b.id = p.booking_id and b.booker_email is not null
      group by p.booking_id),
    reminded as (
      insert into outbox (provider_id, purpose, user_id, booking_id, participant_id, created_at, due_at)
      select $1, 'reminder', r.user_id, r.booking_id, r.id, $3, ${currentTimeSql} + interval '6 hours'
      from date d cross join recipients r
      where not exists (select from outbox o where o.provider_id = $1 and o.participant_id = r.id
          and o.purpose = 'reminder' and o.created_at >= d.due_at)
      order by r.id limit $4
      returning id),
    marked as (
      insert into date_notices (provider_id, course_date_id, kind, created_at)
      select provider_id, id, 'reminder', $3 from date where (select count(*) from reminded) < $4
      returning course_date_id)
    select (select count(*)::int from reminded) as reminded, (select count(*)::int from marked) as marked`,
};

/** For a date that was moved: its participants are reminded again before the new start. */
export const forgetReminder = {
  name: 'forget_reminder',
  text: `delete from date_notices n using course_dates d ${location}
    where n.provider_id = $1 and n.course_date_id = $2 and n.kind = 'reminder'
      and d.provider_id = n.provider_id and d.id = n.course_date_id and ${dueAt} > ${currentTimeSql}`,
};
