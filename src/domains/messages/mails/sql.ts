import { isMailOnSql, notificationDaysSql } from '../../../core/reference/mail-kinds.ts';
import { canceled, confirmedStatuses, postponed, seatStatuses } from '../../../core/reference/statuses.ts';
import { recipientHashSql } from '../../../database/tables/catalog-posts.ts';
import { currentTimeSql, caseFoldedSql } from '../../../database/tables/columns.ts';
import { wasSent, wasToldSql, joinedRecipient, recipientJoins, locationSql, waitingMailsSql } from './loaders.ts';

/**
 * Of the mails that wait, an offer is dropped once it has ended, and others once the person has left. The deregistration
 * after an offer is sent all the same.
 */
const countsAsTold = `(${wasSent} or (told.purpose = 'offer') = (m.purpose = 'deregistration'))`;

/** Mails without a kind are sent by all schools, and those that follow others to whom the others went. */
export const queueMails = {
  name: 'queue_mails',
  text: `insert into outbox (provider_id, purpose, user_id, participant_id, booking_id, course_date_id, ends_place,
      created_at, due_at)
    select $1, m.purpose, m.user_id, m."participantId", m."bookingId", m."courseDateId", m."endsPlace", $2, ${currentTimeSql}
    from (
        select r.*, coalesce(r."userId", case when r."bookingId" is null then (
          select p.user_id from participants p where p.provider_id = $1 and p.id = r."participantId") end) as user_id
        from json_to_recordset($3) r (place int, purpose text, kind text, "userId" bigint, "participantId" bigint,
          "bookingId" bigint, "courseDateId" bigint, "endsPlace" boolean, "isFollowUp" boolean)) m
    where m.kind is null or ${isMailOnSql('$1', 'm.kind')}
      or m."isFollowUp" and ${wasToldSql(`participant_id = m."participantId" and told.user_id = m.user_id and ${countsAsTold}`)}
    order by m.place`,
};

export const findSwitch = { name: 'find_mail_switch', text: `select ${isMailOnSql('$1', '$2')} as "isOn"` };

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

/** The columns in which mails of one purpose are equal. */
export const references =
  'user_id, admin_user_id, booking_id, address, participant_id, webhook_id, course_date_id, refused_address_id, interest_id';
const toReferences = (mail: string) => `(${references.replaceAll(/\w+/g, (name) => `${mail}.${name}`)})`;
const isWaiting = (mail: string) => `${mail}.sent_at is null and ${mail}.failed_at is null`;
const hasEqual = (condition: string) => `exists (
      select from outbox w where w.provider_id = o.provider_id and ${condition} and w.purpose = o.purpose
        and row${toReferences('w')} is not distinct from row${toReferences('o')})`;

/** Whether the mail `$2` waits, and whether one with the same purpose and references waits or was just sent. */
export const findMailToResend = {
  name: 'find_mail_to_resend',
  text: `select ${isWaiting('o')} as "isWaiting", ${hasEqual(isWaiting('w'))} as "hasEqualWaiting",
      ${hasEqual(`w.sent_at > ${currentTimeSql} - interval '5 minutes'`)} as "hasEqualSent"
    from outbox o where o.provider_id = $1 and o.id = $2`,
};

export const copyMail = {
  name: 'copy_mail',
  text: `insert into outbox (provider_id, purpose, ${references}, ends_place, before, created_at, due_at)
    select provider_id, purpose, ${references}, ends_place, before, $3, ${currentTimeSql} from outbox where provider_id = $1 and id = $2
    returning id`,
};

/** Mails to the recipients of the mails `$2` are tried again. */
export const liftRefusals = {
  name: 'lift_refused_addresses',
  text: `update refused_addresses set lifted_at = $3
    where provider_id = $1 and lifted_at is null and ${caseFoldedSql('email')} in (
      select ${caseFoldedSql(joinedRecipient)} from outbox o
      ${recipientJoins}
      where o.provider_id = $1 and o.id = any($2::bigint[]))`,
};

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
  text: `with waiting as (${waitingMailsSql('date_changed', '$1', '$2')}),
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

/** Mails to one recipient in 24 hours by the forms of a school. */
const maxFormMails = 5;

const numSent = `(select count(*)::int from catalog_posts p, unnest(p.recipients) mail
      where p.provider_id = $1 and p.recipients @> array[e.hash] and mail = e.hash
        and p.created_at > ${currentTimeSql} - interval '24 hours')`;

/** Of the JSON list `$2` of addresses, in its order. */
const decided = `select l.place, e.hash, l.email <> ''
      and row_number() over (partition by e.hash order by l.place) + ${numSent} <= ${maxFormMails} as "isSent"
    from json_array_elements_text($2) with ordinality as l (email, place)
      cross join lateral (select ${recipientHashSql('$1', 'l.email')} as hash) e`;

export const decideFormMails = {
  name: 'decide_form_mails',
  text: `select d."isSent" from (${decided}) d order by d.place`,
};

/** Of one address; stores it by the key `$3` if it is sent. */
export const reserveFormMail = {
  name: 'reserve_form_mail',
  text: `with decided as (${decided}), taken as (
      insert into catalog_posts (provider_id, key_hash, places, recipients, created_at)
      select $1, $3, 0, array(select hash from decided where "isSent"), ${currentTimeSql}
      where exists (select from decided where "isSent"))
    select d."isSent" from decided d order by d.place`,
};
