/** Current data for a letter. Days and times are in the course date's time zone. */
export const findMail = {
  name: 'find_mail',
  text: `select o.id, o.purpose, to_char(o.created_at at time zone 'UTC', 'YYYYMMDD"T"HH24MISS"Z"') as "createdAt",
      o.provider_id as "providerId", o.user_id as "userId", o.admin_user_id as "adminUserId",
      b.id as "bookingId", o.booking_id is not null as "isToBooker", o.participant_id as "participantId",
      m.detached_at is not null as "isDetached", u.erased_at is not null as "isErased",
      coalesce(u.is_placeholder, false) as "isPlaceholder", o.user_id = p.user_id as "isToParticipant",
      w.host as "webhookHost", w.disabled_reason as "disabledReason",
      coalesce(u.email, a.email, o.address, case when o.booking_id is not null then b.booker_email end,
        case when o.webhook_id is not null then s.email_admin end, '') as email,
      coalesce(u.username, a.email, '') as username,
      coalesce(u.firstname, m.firstname, case when o.booking_id is not null then b.booker_name end, '') as firstname,
      coalesce(u.lastname, m.lastname, '') as lastname,
      case when o.user_id is null then concat_ws(' ', person.firstname, person.lastname)
        else concat_ws(' ', u.firstname, u.lastname) end as "participantName",
      s.title as school, s.phone, s.web_address as "webAddress",
      coalesce(nullif(c.email_booking, ''), nullif(s.email_booking, ''), s.email) as contact,
      p.status_id as "statusId", p.held_for as "heldFor", to_char(p.held_until at time zone d.zone, 'YYYY-MM-DD HH24:MI') as "heldUntil",
      d.status_id as "dateStatusId", case when o.purpose = 'move' then (select f.cancellation_message from cancellations k
          join course_dates f on f.provider_id = k.provider_id and f.id = k.course_date_id
        where k.provider_id = o.provider_id and k.move_to = d.id and k.created_at = o.created_at)
        else d.cancellation_message end as "cancellationMessage",
      b.order_id as "orderId", coalesce(nullif(d.title, ''), c.title, '') as title,
      d.start_at::text as "startAt", d.end_at::text as "endAt",
      d.start_time_at::text as "startTimeAt", d.end_time_at::text as "endTimeAt", d.zone, d.is_virtual as "isVirtual",
      d.event_url as "eventUrl", d.place_additional_info as "placeAdditionalInfo", place.title as "placeTitle",
      case when l.id is not null then json_build_object('isVirtual', l.is_virtual,
        'title', coalesce(nullif(l.custom_title, ''), l.title),
        'address', l.address, 'zipcode', l.zipcode, 'city', l.city) end as location,
      (select json_agg(json_build_object('gatheringAt', g.gathering_at::text, 'gatheringEndAt', g.gathering_end_at::text,
          'theme', g.theme) order by g.starts_at, g.id)
        from gatherings g
        where g.provider_id = d.provider_id and g.course_date_id = d.id and g.deleted_at is null) as gatherings
    from outbox o
      join providers s on s.id = o.provider_id
      left join course_users u on u.provider_id = o.provider_id and u.id = o.user_id
      left join admin_memberships m on m.provider_id = o.provider_id and m.admin_user_id = o.admin_user_id
      left join admin_users a on a.id = m.admin_user_id
      left join webhooks w on w.provider_id = o.provider_id and w.id = o.webhook_id
      left join participants p on p.provider_id = o.provider_id and p.id = coalesce(o.participant_id,
        (select min(f.id) from participants f where f.provider_id = o.provider_id and f.booking_id = o.booking_id))
      left join course_users person on person.provider_id = p.provider_id and person.id = p.user_id
      left join bookings b on b.provider_id = p.provider_id and b.id = p.booking_id
      left join course_dates d on d.provider_id = o.provider_id and d.id = coalesce(o.course_date_id, p.course_date_id)
      left join courses c on c.provider_id = d.provider_id and c.id = d.course_id
      left join locations l on l.provider_id = d.provider_id and l.id = d.location_id
      left join places place on place.id = d.place_id
    where o.provider_id = $1 and o.id = $2`,
};
