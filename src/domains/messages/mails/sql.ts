import { sql } from 'drizzle-orm';
import { isMailOnSql, notificationDaysSql } from '../../../core/reference/mail-kinds.ts';
import { canceled, confirmedStatuses, postponed, seatStatuses } from '../../../core/reference/statuses.ts';
import { statement, typed } from '../../../database/statement.ts';
import { recipientHashSql } from '../../../database/tables/catalog-posts.ts';
import { caseFoldedSql, columnName, currentTimeSql } from '../../../database/tables/columns.ts';
import { outbox, type MailPurpose } from '../../../database/tables/outbox.ts';
import {
  wasSent,
  notifiedSql,
  wasNotifiedSql,
  joinedRecipient,
  recipientJoins,
  locationSql,
  waitingMailsSql,
} from './loaders.ts';

// Text: inserts of the rows that a statement selects, window functions, and a row as JSON.

/** All at once: a plan from before a table grew would read the whole table for each mail. */
const ofFollowUps = 'participant_id = any(array(select "participantId" from :mails where "isFollowUp"))';
const person = 'earlier.participant_id, earlier.user_id';
/**
 * True for a mail to a person who was notified. Of mails that wait, an offer is dropped once it has ended, and others
 * once the person has left. The deregistration after an offer is sent all the same.
 */
const followsMail = `((m."participantId", m.user_id) in ${notifiedSql(person, `${ofFollowUps} and ${wasSent}`)}
        or (m."participantId", m.user_id, m.purpose = 'deregistration')
          in ${notifiedSql(`${person}, earlier.purpose = 'offer'`, ofFollowUps)})`;

/** Mails without a kind are sent by all schools, and those that follow others to whom the others went. */
export const queueMails = statement(
  'queue_mails',
  {
    takes: {
      providerId: 'int',
      now: 'moment',
      mails: {
        rows: {
          purpose: typed<MailPurpose>('text'),
          kind: 'text?',
          userId: 'int?',
          participantId: 'int?',
          bookingId: 'int?',
          courseDateId: 'int?',
          endsPlace: 'bool?',
          isFollowUp: 'bool?',
        },
      },
    },
  },
  `insert into outbox (provider_id, purpose, user_id, participant_id, booking_id, course_date_id, ends_place,
      created_at, due_at)
    select :providerId, m.purpose, m.user_id, m."participantId", m."bookingId", m."courseDateId", m."endsPlace", :now, ${currentTimeSql}
    from (
        select mails.*, coalesce(mails."userId", case when mails."bookingId" is null then (
          select p.user_id from participants p
          where p.provider_id = :providerId and p.id = mails."participantId") end) as user_id
        from :mails) m
    where m.kind is null or ${isMailOnSql(':providerId', 'm.kind')}
      or m."isFollowUp" and ${followsMail}
    order by m.place`,
);

/** The moment at which the participants of the date `d` at the location `l` are reminded: 09:00 of a day in its zone. */
export const dueAt = `timezone(d.zone, (d.start_at - ${notificationDaysSql('l')}) + time '09:00')`;
/** A date that was created within a day before its start has no reminder. */
const isDue = `l.notification_days > 0 and ${dueAt} <= ${currentTimeSql} and d.starts_at > ${currentTimeSql}
      and d.starts_at > d.created_at + interval '1 day'
      and d.status_id not in (${canceled}, ${postponed}) and d.deleted_at is null`;
export const location = 'join locations l on l.provider_id = d.provider_id and l.id = d.location_id';
const isMarked = (date: string) => `select from date_notices n
      where n.provider_id = ${date}.provider_id and n.course_date_id = ${date}.id and n.kind = 'reminder'`;

/** Dates to remind of, the next first, by the index that `offset 0` keeps; without closed schools. */
export const findDatesToRemind = statement(
  'find_dates_to_remind',
  {
    takes: {},
    returns: { providerId: 'int', courseDateId: 'int' },
    acrossSchools: 'a job of all schools, which names each where it reads its rows',
  },
  `with schools as materialized (
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
);

const isConfirmed = (participant: string) => `${participant}.status_id in (${confirmedStatuses.join(', ')})
          and ${participant}.held_for is null`;

/** Reminds the next persons of a date, and bookers of places without names, after other mails; marks the last one. */
export const queueReminders = statement(
  'queue_reminders',
  {
    takes: { providerId: 'int', courseDateId: 'int', now: 'moment', limit: 'int' },
    returns: { reminded: 'int', marked: 'int' },
  },
  `with date as (
      select d.provider_id, d.id, ${dueAt} as due_at from course_dates d ${location}
      where d.provider_id = :providerId and d.id = :courseDateId and ${isDue} and ${isMailOnSql(':providerId', `'reminder'`)}
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
      select :providerId, 'reminder', r.user_id, r.booking_id, r.id, :now, ${currentTimeSql} + interval '6 hours'
      from date d cross join recipients r
      where not exists (select from outbox o where o.provider_id = :providerId and o.participant_id = r.id
          and o.purpose = 'reminder' and o.created_at >= d.due_at)
      order by r.id limit :limit
      returning id),
    marked as (
      insert into date_notices (provider_id, course_date_id, kind, created_at)
      select provider_id, id, 'reminder', :now from date where (select count(*) from reminded) < :limit
      returning course_date_id)
    select (select count(*)::int from reminded) as reminded, (select count(*)::int from marked) as marked`,
);

const { userId, adminUserId, bookingId, address, participantId, webhookId } = outbox;
const { courseDateId, refusedAddressId, interestId } = outbox;
/** The columns in which mails of one purpose are equal. */
export const referenceColumns = {
  ...{ userId, adminUserId, bookingId, address, participantId, webhookId, courseDateId, refusedAddressId, interestId },
};
const names = Object.values(referenceColumns).map(columnName);
export const references = names.join(', ');
const toReferences = (mail: string) => `row(${names.map((name) => `${mail}.${name}`).join(', ')})`;
const hasEqual = (condition: string) =>
  sql<boolean>`${sql.raw(`exists (
      select from outbox w where w.provider_id = outbox.provider_id and ${condition} and w.purpose = outbox.purpose
        and ${toReferences('w')} is not distinct from ${toReferences('outbox')})`)}`;

/** True while the mail waits, and true if one with the same purpose and references waits or was just sent. */
export const resendFacts = {
  isWaiting: sql<boolean>`${outbox.sentAt} is null and ${outbox.failedAt} is null`,
  hasEqualWaiting: hasEqual('w.sent_at is null and w.failed_at is null'),
  hasEqualSent: hasEqual(`w.sent_at > ${currentTimeSql} - interval '5 minutes'`),
};

/** Lets mails to the recipient of a mail be tried again. */
export const liftRefusals = statement(
  'lift_refused_addresses',
  { takes: { providerId: 'int', mailId: 'int', now: 'moment' } },
  `update refused_addresses set lifted_at = :now
    where provider_id = :providerId and lifted_at is null and ${caseFoldedSql('email')} in (
      select ${caseFoldedSql(joinedRecipient)} from outbox o
      ${recipientJoins}
      where o.provider_id = :providerId and o.id = :mailId)`,
);

/** The time and place of a course date for letters, and as one text its other values whose change is mailed. */
export const readSchedule = statement(
  'read_schedule',
  { takes: { providerId: 'int', courseDateId: 'int' }, returns: { schedule: 'text' } },
  `select json_build_object('isCanceled', d.status_id = ${canceled}, 'startAt', d.start_at::text, 'endAt', d.end_at::text,
      'startTimeAt', d.start_time_at::text, 'endTimeAt', d.end_time_at::text, 'zone', d.zone, 'isVirtual', d.is_virtual,
      'eventUrl', d.event_url, 'locationId', d.location_id, 'location', ${locationSql('l')}, 'placeId', d.place_id,
      'placeTitle', place.title, 'placeAdditionalInfo', d.place_additional_info,
      'gatherings', (select json_agg(json_build_object('gatheringAt', g.gathering_at::text, 'gatheringEndAt', g.gathering_end_at::text,
            'locationId', g.location_id, 'location', ${locationSql('at')}, 'eventUrl', g.event_url)
          order by g.gathering_at, g.gathering_end_at, g.location_id, g.event_url)
        from gatherings g left join locations at on at.provider_id = :providerId and at.id = g.location_id
        where g.provider_id = :providerId and g.course_date_id = d.id and g.deleted_at is null))::text as schedule
    from course_dates d left join locations l on l.provider_id = :providerId and l.id = d.location_id
      left join places place on place.id = d.place_id
    where d.provider_id = :providerId and d.id = :courseDateId`,
);

/** A mail that waits is sent with the new time and place. */
const wasNotified = (recipient: string) => wasNotifiedSql(`${recipient} and ${wasSent}`);
const isMailed = (recipient: string) =>
  `(${isMailOnSql(':providerId', `'date_changed'`)} or ${wasNotified(recipient)})`;
const isInvolved = `p.provider_id = :providerId and p.course_date_id = :courseDateId and p.status_id in (${seatStatuses.join(', ')})`;

/** Queues mails about a changed date; persons who had a mail about it get one whatever the switch. */
export const queueDateChanges = statement(
  'queue_mails_of_changed_date',
  { takes: { providerId: 'int', courseDateId: 'int', now: 'moment', before: 'text' } },
  `with waiting as (${waitingMailsSql('date_changed')}),
    recipients as (
      select p.id, p.user_id, null::bigint as booking_id from participants p
      where ${isInvolved} and p.held_for is null and ${isMailed('participant_id = p.id and earlier.user_id = p.user_id')}
      union all
      (select distinct on (p.booking_id) p.id, null, p.booking_id
      from participants p join bookings b on b.provider_id = :providerId and b.id = p.booking_id
      where ${isInvolved} and p.held_for is distinct from 'offer' and b.booker_email is not null
        and (p.held_for = 'name' and ${isMailed('booking_id = b.id')} or ${wasNotified('booking_id = b.id')} and not exists (
          select from participants q join course_users u on u.provider_id = :providerId and u.id = q.user_id
          where q.provider_id = :providerId and q.booking_id = b.id and ${caseFoldedSql('u.email')} = ${caseFoldedSql('b.booker_email')}))
      order by p.booking_id, p.held_for is null, p.id))
    insert into outbox (provider_id, purpose, user_id, booking_id, participant_id, before, created_at, due_at)
    select :providerId, 'date_changed', r.user_id, r.booking_id, r.id, :before::text::jsonb, :now, ${currentTimeSql}
    from recipients r join course_dates d on d.provider_id = :providerId and d.id = :courseDateId
    where d.status_id <> ${canceled} and d.ends_at > ${currentTimeSql}
      and (r.id, coalesce(r.user_id, 0)) not in (select participant_id, user_id from waiting)
    order by r.id, r.booking_id nulls first`,
);

/** Mails to one recipient in 24 hours by the forms of a school. */
const maxFormMails = 5;

const numSent = `(select count(*)::int from catalog_posts p, unnest(p.recipients) mail
      where p.provider_id = :providerId and p.recipients @> array[e.hash] and mail = e.hash
        and p.created_at > ${currentTimeSql} - interval '24 hours')`;

export const decideFormMails = statement(
  'decide_form_mails',
  { takes: { providerId: 'int', mails: { rows: { email: 'text' } } }, returns: { isSent: 'bool' } },
  `select mails.email <> ''
      and row_number() over (partition by e.hash order by mails.place) + ${numSent} <= ${maxFormMails} as "isSent"
    from :mails cross join lateral (select ${recipientHashSql(':providerId', 'mails.email')} as hash) e
    order by mails.place`,
);
