/**
 * Leases at most `$1` due mails, fairly: the fairness key with the fewest mails in progress is first, then the least
 * recently served one. `$2` to `$4` are fairness keys, their mails in progress and when they were last served. Other workers
 * skip a mail until its lease ends; `due_at` is that time and identifies the attempt. `last_error` is null meanwhile.
 */
export const claimMails = {
  name: 'claim_mails',
  text: `select provider_id as "providerId", id, attempts, due_at::text as lease, fairness_key as "fairnessKey"
    from claim_mails($1, $2, $3, $4)`,
};

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
      b.order_id as "orderId", coalesce(d.title, c.title) as title,
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
      left join courses c on c.provider_id = p.provider_id and c.id = p.course_id
      left join course_dates d on d.provider_id = p.provider_id and d.id = p.course_date_id
      left join locations l on l.provider_id = d.provider_id and l.id = d.location_id
      left join places place on place.id = d.place_id
    where o.provider_id = $1 and o.id = $2`,
};

/** The unsent mail `$2` of provider `$1` with the lease `$3`. */
const isAttempt = 'provider_id = $1 and id = $2 and due_at = $3 and sent_at is null';

export const markSent = {
  name: 'mark_mail_sent',
  text: `update outbox set sent_at = now(), is_written = $3, failed_at = null, last_error = null
    where provider_id = $1 and id = $2 and sent_at is null`,
};

export const markAttemptFailed = {
  name: 'mark_mail_unsent',
  text: `update outbox set last_error = $4, due_at = now() + $5::interval where ${isAttempt}`,
};
export const markMailFailed = {
  name: 'mark_mail_failed',
  text: `update outbox set last_error = $4, due_at = now(), failed_at = now() where ${isAttempt}`,
};

/** Does not count as an attempt. */
export const postponeMail = {
  name: 'postpone_mail',
  text: `update outbox set attempts = attempts - 1, last_error = $4, due_at = now() + $5::interval
    where ${isAttempt}`,
};

/** Deletes an outdated mail. */
export const deleteMail = {
  name: 'delete_mail',
  text: `delete from outbox where ${isAttempt}`,
};

/** Newest first. */
export const selectMails = {
  name: 'list_mails',
  text: `select o.id as mail_id, o.provider_id, o.purpose, coalesce(u.email, a.email, o.address, b.booker_email) as email,
      case when o.is_written then 'written' when o.sent_at is not null then 'sent' when o.failed_at is not null then 'failed' else 'waiting' end as state,
      o.attempts, o.created_at::text, case when o.sent_at is null and o.failed_at is null then o.due_at::text end as due_at,
      case when not o.is_written then o.sent_at::text end as sent_at,
      case when o.is_written then o.sent_at::text end as written_at, o.failed_at::text,
      case when o.sent_at is null and o.failed_at is null then coalesce(o.last_error, $4) else o.last_error end as last_error
    from outbox o
      join providers s on s.id = o.provider_id
      left join course_users u on u.provider_id = o.provider_id and u.id = o.user_id
      left join admin_users a on a.id = o.admin_user_id
      left join bookings b on b.provider_id = o.provider_id and b.id = o.booking_id
    where ($1::bigint is null or o.provider_id = $1) and (not $2 or o.failed_at is not null)
    order by o.id desc limit $3`,
};

/** Excludes mails in progress, which would be sent twice. */
const resetSql = 'update outbox set attempts = 0, failed_at = null, due_at = now()';
export const resetMail = {
  name: 'retry_mail',
  text: `${resetSql} where provider_id = $1 and id = $2 and sent_at is null and last_error is not null returning id`,
};
export const resetFailedMails = {
  name: 'retry_failed_mails',
  text: `${resetSql} where provider_id = $1 and failed_at is not null returning id`,
};

export const findProvidersWithFailedMails = {
  name: 'providers_of_failed_mails',
  text: 'select distinct provider_id as "providerId" from outbox where failed_at is not null order by 1',
};

export const findMailState = {
  name: 'get_mail_state',
  text: 'select provider_id as "providerId", sent_at is not null as "isSent", is_written as "isWritten", attempts from outbox where id = $1',
};
