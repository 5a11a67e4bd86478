import { staysSql } from '../../../core/reference/statuses.ts';
import { isBookableSql } from '../../../domains/courses/interests/loaders.ts';
import { isNoticeSql, joinedRecipient, locationSql, personJoins } from '../../../domains/messages/mails/loaders.ts';
import { caseFoldedSql } from '../../../database/tables/columns.ts';

/** More than are in a letter and in its calendar. */
export const maxGatherings = 200;

const epochMs = (moment: string) => `1000 * extract(epoch from ${moment})::float8`;

/**
 * A move is as old as the place that it gave. A mail that is sent again is later, and still has the message of the
 * cancellation, unless the participant was moved again.
 */
const momentsOfMove = `select f.created_at from outbox f where f.provider_id = o.provider_id
          and f.participant_id = o.participant_id and f.purpose = 'move' and f.id <= o.id`;

const changes = (gatherings: 'live' | 'deleted', moment: 'created_at' | 'deleted_at', change: 1 | -1) =>
  `select greatest(g.${moment}, p.created_at) as at, ${change} as change from gatherings g
      where g.provider_id = d.provider_id and g.course_date_id = d.id
        and g.deleted_at is ${gatherings === 'live' ? '' : 'not '}null`;

/** The numbers of gatherings that the date had since the participant was created; calendars may have so many entries. */
const numbersOfGatherings = `select min(n)::int as fewest, max(n)::int as most from (
    select sum(sum(change)) over (order by at) as n from (
      select p.created_at as at, 0 as change
      union all ${changes('live', 'created_at', 1)}
      union all ${changes('deleted', 'created_at', 1)}
      union all ${changes('deleted', 'deleted_at', -1)}) changes
    group by at) totals`;

/** Current data for a letter. Days and times are in the course date's time zone. */
export const findMail = {
  name: 'find_mail',
  text: `select o.id, o.purpose, o.failure as "lastFailure", to_char(o.created_at at time zone 'UTC', 'YYYYMMDD"T"HH24MISS"Z"') as "createdAt",
      o.provider_id as "providerId", (select uid_host from service_state) as "uidHost", o.user_id as "userId", o.admin_user_id as "adminUserId",
      ${isNoticeSql('o')} as "isNotice", b.id as "bookingId", o.booking_id is not null as "isToBooker", o.participant_id as "participantId",
      m.detached_at is not null as "isDetached", u.erased_at is not null as "isErased",
      coalesce(u.is_placeholder, false) as "isPlaceholder", o.user_id = p.user_id as "isToParticipant",
      u.password_hash is not null or exists (select from outbox a where a.provider_id = o.provider_id
        and a.user_id = o.user_id and a.purpose = 'account_created') as "canSignOn",
      p.id as "placeId", p.user_id as "placeUserId", o.ends_place as "endsPlace", o.before,
      coalesce(o.created_at > p.created_at and p.status_updated_at > p.created_at, false) as "isStatusChanged",
      exists (select from participants q where q.provider_id = b.provider_id and q.booking_id = b.id and q.course_date_id = d.id
        and q.held_for = 'name') as "hasUnnamed",
      o.interest_id as "interestId", i.id is not null as "hasInterest", i.confirmed_at is not null as "isInterestConfirmed",
      case when o.purpose = 'date_published' then exists (select from course_dates
        where provider_id = o.provider_id and id = o.course_date_id and ${isBookableSql}) end as "isBookable",
      w.host as "webhookHost", w.disabled_reason as "disabledReason",
      coalesce(b.language, i.language, (select own.language from participants last
          join bookings own on own.provider_id = last.provider_id and own.id = last.booking_id
        where last.provider_id = o.provider_id and last.user_id = o.user_id and o.participant_id is null
        order by last.id desc limit 1)) as "bookingLanguage",
      settings.language as "schoolLanguage", settings.texts as "schoolTexts",
      coalesce(${joinedRecipient}, '') as email,
      refused.email as "refusedEmail", refused.reason as "refusalReason", refused.subject as "refusedSubject",
      refused.lifted_at is not null as "isRefusalLifted",
      exists (select from outbox later where later.provider_id = o.provider_id and later.refused_address_id = o.refused_address_id
        and later.id > o.id and later.failed_at is null) as "hasLaterNotice",
      coalesce(u.username, a.email, '') as username,
      coalesce(u.firstname, m.firstname, case when o.booking_id is not null then b.booker_name end,
        case when i.confirmed_at is not null then i.name end, '') as firstname,
      coalesce(u.lastname, m.lastname, '') as lastname,
      case when o.user_id is null then concat_ws(' ', person.firstname, person.lastname)
        else concat_ws(' ', u.firstname, u.lastname) end as "participantName",
      s.title as school, s.phone, s.web_address as "webAddress",
      coalesce(nullif(c.email_booking, ''), nullif(s.email_booking, ''), s.email) as contact,
      p.status_id as "statusId", p.held_for as "heldFor", to_char(p.held_until at time zone d.zone, 'YYYY-MM-DD HH24:MI') as "heldUntil",
      d.status_id as "dateStatusId", d.deleted_at is not null as "isDateDeleted", case when o.purpose = 'move' then (select f.cancellation_message from cancellations k
          join course_dates f on f.provider_id = k.provider_id and f.id = k.course_date_id
        where k.provider_id = o.provider_id and k.move_to = d.id and k.created_at in (${momentsOfMove})
          and not exists (${momentsOfMove} and f.created_at > k.created_at and f.created_at = p.status_updated_at)
        order by k.created_at desc limit 1)
        else d.cancellation_message end as "cancellationMessage",
      b.order_id as "orderId", ord.customer_id is not null
        or coalesce(${caseFoldedSql('b.booker_email')} <> ${caseFoldedSql("coalesce(u.email, '')")}, false) as "hasOtherPayer",
      not exists (select from participants other where other.provider_id = p.provider_id and other.booking_id = p.booking_id
        and other.id <> p.id) as "isOnlyParticipant",
      (select count(*)::int from participants f where f.provider_id = b.provider_id and f.booking_id = b.id
        and ${staysSql('f')}) as "numParticipants",
      d.id as "courseDateId", p.course_date_id is distinct from d.id as "isFormerDate",
      coalesce(nullif(d.title, ''), c.title, '') as title,
      d.start_at::text as "startAt", d.end_at::text as "endAt",
      d.start_time_at::text as "startTimeAt", d.end_time_at::text as "endTimeAt", d.zone, d.is_virtual as "isVirtual",
      ${epochMs('d.starts_at')} as "startsAtMs", ${epochMs('d.ends_at')} as "endsAtMs",
      ${epochMs('greatest(d.updated_at, p.updated_at)')} as "updatedAtMs",
      d.starts_at <= now() as "hasStarted", d.ends_at <= now() as "isOver",
      d.event_url as "eventUrl", d.place_additional_info as "placeAdditionalInfo", place.title as "placeTitle",
      ${locationSql('l')} as location,
      (select json_agg(json_build_object('id', g.id, 'gatheringAt', g.gathering_at::text, 'gatheringEndAt', g.gathering_end_at::text,
          'startsAtMs', ${epochMs('g.starts_at')}, 'endsAtMs', ${epochMs('timezone(g.zone, g.gathering_end_at)')},
          'theme', g.theme, 'description', g.description, 'eventUrl', g.event_url, 'location', ${locationSql('at')}) order by g.starts_at, g.id)
        from (select * from gatherings f
            where f.provider_id = d.provider_id and f.course_date_id = d.id and f.deleted_at is null
            order by f.starts_at, f.id limit ${maxGatherings}) g
          left join locations at on at.provider_id = g.provider_id and at.id = g.location_id) as gatherings,
      numbers.fewest as "fewestGatherings", numbers.most as "mostGatherings"
    from outbox o
      ${personJoins}
      left join booking_settings settings on settings.provider_id = o.provider_id
      left join refused_addresses refused on refused.provider_id = o.provider_id and refused.id = o.refused_address_id
      left join webhooks w on w.provider_id = o.provider_id and w.id = o.webhook_id
      left join participants p on p.provider_id = o.provider_id and p.id = coalesce(o.participant_id,
        (select min(f.id) from participants f where f.provider_id = o.provider_id and f.booking_id = o.booking_id))
      left join course_users person on person.provider_id = p.provider_id and person.id = p.user_id
      left join bookings b on b.provider_id = p.provider_id and b.id = p.booking_id
      left join orders ord on ord.provider_id = b.provider_id and ord.id = b.order_id
      left join course_dates d on d.provider_id = o.provider_id and d.id = coalesce(o.course_date_id, p.course_date_id)
      left join course_interests i on i.provider_id = o.provider_id and i.id = o.interest_id
      left join courses c on c.provider_id = o.provider_id and c.id = coalesce(d.course_id, i.course_id)
      left join locations l on l.provider_id = d.provider_id and l.id = d.location_id
      left join places place on place.id = d.place_id
      left join lateral (${numbersOfGatherings}) numbers on p.id is not null and d.id is not null
    where o.provider_id = $1 and o.id = $2`,
};
