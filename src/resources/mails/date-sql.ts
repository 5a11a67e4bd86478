import { isMailOnSql } from '../../core/reference/mail-kinds.ts';
import { canceled, seatStatuses } from '../../core/reference/statuses.ts';
import { currentTimeSql } from '../../database/tables/columns.ts';
import { waitingMailsSql } from './loaders.ts';

/** Time and place of the course date `$2` and whether it is canceled, as one text. */
export const readSchedule = {
  name: 'read_schedule',
  text: `select json_build_array(d.start_at, d.end_at, d.start_time_at, d.end_time_at, d.zone, d.status_id = ${canceled},
      d.location_id, d.place_id, d.place_additional_info, d.is_virtual, d.event_url,
      (select json_agg(json_build_array(g.gathering_at, g.gathering_end_at, g.location_id, g.event_url)
          order by g.gathering_at, g.gathering_end_at, g.location_id, g.event_url)
        from gatherings g where g.provider_id = $1 and g.course_date_id = d.id and g.deleted_at is null))::text as schedule
    from course_dates d where d.provider_id = $1 and d.id = $2`,
};

const recipient = `case when p.held_for is null then p.user_id end`;

/** To the participants with a seat of the course date `$2`, once to the booker of places without names. */
export const queueDateChanges = {
  name: 'queue_mails_of_changed_date',
  text: `with waiting as (${waitingMailsSql('date_changed')})
    insert into outbox (provider_id, purpose, user_id, booking_id, participant_id, created_at, due_at)
    select $1, 'date_changed', ${recipient}, case when p.held_for = 'name' then p.booking_id end, p.id, $3, ${currentTimeSql}
    from course_dates d
      join participants p on p.provider_id = d.provider_id and p.course_date_id = d.id
      join bookings b on b.provider_id = p.provider_id and b.id = p.booking_id
    where d.provider_id = $1 and d.id = $2 and d.status_id <> ${canceled} and d.ends_at > ${currentTimeSql}
      and p.status_id in (${seatStatuses.join(', ')})
      and (p.held_for is null or b.booker_email is not null and p.id in (
        select min(q.id) from participants q
        where q.provider_id = $1 and q.course_date_id = $2 and q.held_for = 'name' group by q.booking_id))
      and (p.id, coalesce(${recipient}, 0)) not in (select participant_id, user_id from waiting)
      and ${isMailOnSql('$1', `'date_changed'`)}
    order by p.id`,
};
