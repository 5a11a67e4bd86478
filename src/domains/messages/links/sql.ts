import { currentTimeSql, hasLinkSql } from '../../../database/tables/columns.ts';

/** The end of the last date of a booking's participants, or of the date of one of them; null without a date. */
const endsAt = (booking: string, participant: string) => `(
      select max(d.ends_at) from participants p
        join course_dates d on d.provider_id = $1 and d.id = p.course_date_id and d.deleted_at is null
      where p.provider_id = $1 and p.booking_id = ${booking} and (${participant}::bigint is null or p.id = ${participant}))`;

/**
 * Stores the link `$4` of the booking `$2`, or of its participant `$3`, in place of those of earlier mails; no row once the
 * course is over. The links of all attempts of a mail are one row. `$6` is which others it replaces.
 */
export const storeLink = {
  name: 'store_booking_link',
  text: `with earlier as (
      delete from booking_links where provider_id = $1 and booking_id = $2 and participant_id is not distinct from $3
        and case when mail_id is null then $6 = 'all' else $6 <> 'none' and coalesce(mail_id < $5, true) end)
    insert into booking_links as l (provider_id, booking_id, participant_id, hash, mail_id, created_at, expires_at)
    select $1, $2, $3::bigint, $4, $5::bigint, now(), e.at from (select ${endsAt('$2', '$3')} as at) e where e.at > now()
    on conflict (provider_id, mail_id) do update set hash = excluded.hash,
      earlier_hashes = l.earlier_hashes || l.hash, created_at = excluded.created_at, expires_at = excluded.expires_at
    returning true as stored`,
};

/** A link of a provider ($1) by hash ($2) whose course is not over, of a provider that is open. */
export const findLink = {
  name: 'find_booking_link',
  text: `select l.provider_id as "providerId", l.booking_id as "bookingId", l.participant_id as "participantId",
      p.user_id as "userId"
    from booking_links l
      left join participants p on p.provider_id = l.provider_id and p.id = l.participant_id
    where l.provider_id = $1 and ${hasLinkSql('l.hash', '$2')} and (l.participant_id is not null) = $3
      and ${endsAt('l.booking_id', 'l.participant_id')} > now()
      and exists (select from providers s where s.id = $1 and s.closed_at is null)`,
};

/** The booker of a booking, and whether all of its courses are over. */
export const findBooker = {
  name: 'find_booker',
  text: `select b.booker_email as email, coalesce(${endsAt('b.id', 'null')} <= now(), true) as "isOver"
    from bookings b where b.provider_id = $1 and b.id = $2`,
};

/** Queues a mail with a link, unless one waits. */
export const queueLink = {
  name: 'queue_booking_link',
  text: `insert into outbox (provider_id, purpose, booking_id, created_at, due_at)
    select $1, 'booking_link', $2, $3, ${currentTimeSql}
    where not exists (select from outbox where provider_id = $1 and booking_id = $2 and purpose = 'booking_link'
      and sent_at is null and failed_at is null)
    returning id`,
};

const ofPerson = 'p.provider_id = $1 and p.user_id = $2 and ($4::bigint[] is null or p.id = any($4))';

/** Ends the links to the offers of a person, or to some of them ($4), and mails those that are open again. */
export const replaceOfferLinks = {
  name: 'replace_offer_links',
  text: `with ended as (
      delete from booking_links where provider_id = $1
        and participant_id in (select p.id from participants p where ${ofPerson}))
    insert into outbox (provider_id, purpose, user_id, participant_id, created_at, due_at)
    select $1, 'offer', $2, p.id, $3, ${currentTimeSql} from participants p
    where ${ofPerson} and p.held_for = 'offer'
      and not exists (select from outbox o where o.provider_id = $1 and o.user_id = $2 and o.participant_id = p.id
        and o.purpose = 'offer' and o.sent_at is null and o.failed_at is null)`,
};
