import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { canceled, seatStatuses } from '../../../core/reference/statuses.ts';
import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import { locationSql, waitingMailsSql, wasSent, wasToldSql } from './loaders.ts';

/** Time and place of the course date `$2` for letters, and its other values whose change is told, as one text. */
export const readSchedule = {
  name: 'read_schedule',
  text: `select json_build_object('isCanceled', d.status_id = ${canceled}, 'startAt', d.start_at::text, 'endAt', d.end_at::text,
      'startTimeAt', d.start_time_at::text, 'endTimeAt', d.end_time_at::text, 'zone', d.zone, 'isVirtual', d.is_virtual,
      'eventUrl', d.event_url, 'locationId', d.location_id, 'location', ${locationSql('l')}, 'placeId', d.place_id,
      'placeTitle', place.title, 'placeAdditionalInfo', d.place_additional_info,
      'gatherings', (select json_agg(json_build_object('gatheringAt', g.gathering_at::text, 'gatheringEndAt', g.gathering_end_at::text,
            'locationId', g.location_id, 'location', ${locationSql('at')}, 'eventUrl', g.event_url)
          order by g.gathering_at, g.gathering_end_at, g.location_id, g.event_url)
        from gatherings g left join locations at on at.provider_id = $1 and at.id = g.location_id
        where g.provider_id = $1 and g.course_date_id = d.id and g.deleted_at is null))::text as schedule
    from course_dates d left join locations l on l.provider_id = $1 and l.id = d.location_id
      left join places place on place.id = d.place_id
    where d.provider_id = $1 and d.id = $2`,
};

/** A mail that waits is sent with the new time and place. */
const wasTold = (recipient: string) => wasToldSql(`${recipient} and ${wasSent}`);
const isTold = (recipient: string) => `(${isMailOnSql('$1', `'date_changed'`)} or ${wasTold(recipient)})`;
const isInvolved = `p.provider_id = $1 and p.course_date_id = $2 and p.status_id in (${seatStatuses.join(', ')})`;

/**
 * To the participants with a seat of the course date `$2`, and once to the booker of places without names, and to one who
 * had a receipt and is none of the participants. Whatever the switch, to those who were told of the date by a mail.
 */
export const queueDateChanges = {
  name: 'queue_mails_of_changed_date',
  text: `with waiting as (${waitingMailsSql('date_changed')}),
    recipients as (
      select p.id, p.user_id, null::bigint as booking_id from participants p
      where ${isInvolved} and p.held_for is null and ${isTold('participant_id = p.id and told.user_id = p.user_id')}
      union all
      (select distinct on (p.booking_id) p.id, null, p.booking_id
      from participants p join bookings b on b.provider_id = $1 and b.id = p.booking_id
      where ${isInvolved} and p.held_for is distinct from 'offer' and b.booker_email is not null
        and (p.held_for = 'name' and ${isTold('booking_id = b.id')} or ${wasTold('booking_id = b.id')} and not exists (
          select from participants q join course_users u on u.provider_id = $1 and u.id = q.user_id
          where q.provider_id = $1 and q.booking_id = b.id and ${caseFoldedSql('u.email')} = ${caseFoldedSql('b.booker_email')}))
      order by p.booking_id, p.held_for is null, p.id))
    insert into outbox (provider_id, purpose, user_id, booking_id, participant_id, before, created_at, due_at)
    select $1, 'date_changed', r.user_id, r.booking_id, r.id, $4::jsonb, $3, ${currentTimeSql}
    from recipients r join course_dates d on d.provider_id = $1 and d.id = $2
    where d.status_id <> ${canceled} and d.ends_at > ${currentTimeSql}
      and (r.id, coalesce(r.user_id, 0)) not in (select participant_id, user_id from waiting)
    order by r.id, r.booking_id nulls first`,
};
