import { isMailOnSql, notificationDaysSql } from '../../../core/reference/mail-kinds.ts';
import { canceled } from '../../../core/reference/statuses.ts';
import { json, statement } from '../../../database/statement.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';

// Text: an insert from several inserts and deletions, and a lateral join over all schools.

/** The address for bookings of the location, the course or the school, or the admin users of the location's role. */
const recipients = `lateral (
        select null::bigint as admin_user_id, e.address
        from (select coalesce(nullif(l.email_booking, ''), nullif(c.email_booking, ''), nullif(s.email_booking, ''), s.email) as address) e
        where l.notification_role_id is null and e.address <> ''
        union all
        select m.admin_user_id, null from admin_membership_roles a
          join admin_memberships m on m.provider_id = a.provider_id and m.admin_user_id = a.admin_user_id
        where a.provider_id = :providerId and a.role_id = l.notification_role_id and m.detached_at is null) r`;

/** The date `d` is not canceled, and its location `l` is one of those that send notices: all, unless some are chosen. */
const sendsNotices = (provider: string) => `d.status_id <> ${canceled} and (l.is_notification_enabled or not exists (
        select from locations chosen where chosen.provider_id = ${provider} and chosen.is_notification_enabled))`;
const isNotified = (provider: string) => `${sendsNotices(provider)} and d.deleted_at is null`;

const isFull = 'd.capacity_max > 0 and d.num_confirmed + d.num_overbooked + d.num_unconfirmed >= d.capacity_max';
const isBudgetReached = 'l.capacity_budget > 0 and d.num_confirmed + d.num_overbooked >= l.capacity_budget';
/** True for dates with fewer confirmed participants than the minimum, as in the index. */
const isUnderMinimum = `d.num_confirmed + d.num_overbooked < d.capacity_min and d.status_id <> ${canceled}`;
/** True from `notification_days` before the deadline until it; both days are in the date's zone. */
const isWarned = `l.notification_days > 0
      and timezone(d.zone, ${currentTimeSql})::date between d.deadline_at - ${notificationDaysSql('l')} and d.deadline_at`;

/** Queues notices of participants, one for places without names, and those that a date causes once. */
export const queueNotices = statement(
  'queue_notices',
  {
    takes: {
      providerId: 'int',
      now: 'moment',
      notices: { rows: { purpose: 'text', participantId: 'int', courseDateId: 'int?' } },
      courseDateIds: 'int[]',
    },
  },
  `with changed as (
      select d.id, d.ends_at, ${isFull} as is_full, coalesce(${isBudgetReached}, false) as is_budget_reached,
        coalesce(${isUnderMinimum} and ${isWarned}, false) as is_under_minimum, coalesce(${isNotified(':providerId')}, false) as is_notified
      from course_dates d left join locations l on l.provider_id = :providerId and l.id = d.location_id
      where d.provider_id = :providerId and d.id in :courseDateIds),
    reopened as (
      delete from date_notices n using changed d
      where n.provider_id = :providerId and n.course_date_id = d.id and n.kind = 'full' and not d.is_full),
    conditions as (
      insert into date_notices (provider_id, course_date_id, kind, created_at)
      select :providerId, d.id, k.kind, :now
      from changed d
        cross join lateral (values ('full', d.is_full), ('budget', d.is_budget_reached), ('under_minimum', d.is_under_minimum)) k (kind, applies)
      where k.applies and d.is_notified and d.ends_at > ${currentTimeSql} and ${isMailOnSql(':providerId', "('notice_' || k.kind)")}
      on conflict do nothing
      returning course_date_id, kind),
    about as (
      select distinct on (notices.purpose, date_id, p.booking_id, case when not u.is_placeholder then p.id end)
        notices.purpose, case notices.purpose when 'moved_away' then 'notice_canceled' else notices.purpose end as kind, p.id as participant_id,
        coalesce(notices."courseDateId", p.course_date_id) as date_id, notices."courseDateId" as course_date_id
      from :notices
        join participants p on p.provider_id = :providerId and p.id = notices."participantId"
        join course_users u on u.provider_id = :providerId and u.id = p.user_id
      order by notices.purpose, date_id, p.booking_id, case when not u.is_placeholder then p.id end, p.id)
    insert into outbox (provider_id, purpose, admin_user_id, address, participant_id, course_date_id, created_at, due_at)
    select :providerId, n.purpose, r.admin_user_id, r.address, n.participant_id, n.course_date_id, :now, ${currentTimeSql}
    from (
        select * from about where ${isMailOnSql(':providerId', 'kind')}
        union all
        select 'notice_' || kind, 'notice_' || kind, null, course_date_id, course_date_id from conditions) n
      join course_dates d on d.provider_id = :providerId and d.id = n.date_id
      left join locations l on l.provider_id = :providerId and l.id = d.location_id
      join courses c on c.provider_id = :providerId and c.id = d.course_id
      join providers s on s.id = :providerId
      cross join ${recipients}
    where ${sendsNotices(':providerId')}
    order by n.participant_id, n.purpose, r.admin_user_id`,
);

/** Dates under their minimum that the school is not told about, without schools that are closed or being deleted. */
export const findUnderMinimum = statement(
  'find_dates_under_minimum',
  {
    takes: {},
    returns: { providerId: 'int', courseDateIds: json<number[]>() },
    acrossSchools: 'a job of all schools, which names each where it reads its rows',
  },
  `select d.provider_id as "providerId", json_agg(d.id order by d.id) as "courseDateIds"
    from provider_state school
      join providers p on p.id = school.provider_id and p.closed_at is null
      cross join lateral (
        select d.provider_id, d.id from course_dates d join locations l on l.provider_id = d.provider_id and l.id = d.location_id
        where d.provider_id = school.provider_id and ${isUnderMinimum} and ${isWarned} and ${isNotified('school.provider_id')}
          and d.ends_at > ${currentTimeSql} and not exists (
            select from date_notices n where n.provider_id = d.provider_id and n.course_date_id = d.id and n.kind = 'under_minimum')
        order by d.id limit 100) d
    where ${isMailOnSql('school.provider_id', "'notice_under_minimum'")}
    group by d.provider_id order by 1 limit 100`,
);
