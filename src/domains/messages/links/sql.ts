import { sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { statement } from '../../../database/statement.ts';
import { currentTimeSql, toSqlText } from '../../../database/tables/columns.ts';

// Text: inserts of the rows that a statement selects, with the links that they replace.

type Linked = Record<'providerId' | 'bookingId' | 'participantId', SQL | AnyPgColumn>;
/** The end of the last date of a booking's participants, or of the date of one of them; null without a date. */
export const endsAt = ({ providerId, bookingId, participantId }: Linked) => sql`(
      select max(d.ends_at) from participants p
        join course_dates d on d.provider_id = p.provider_id and d.id = p.course_date_id and d.deleted_at is null
      where p.provider_id = ${providerId} and p.booking_id = ${bookingId}
        and (${participantId}::bigint is null or p.id = ${participantId}))`;
const ofLink = endsAt({
  providerId: sql.raw(':providerId'),
  bookingId: sql.raw(':bookingId'),
  participantId: sql.raw(':participantId'),
});

/** Stores the link of a booking or participant for all attempts of a mail, instead of those that `replaces` says. */
export const storeLink = statement(
  'store_booking_link',
  {
    takes: {
      providerId: 'int',
      bookingId: 'int',
      participantId: 'int?',
      hash: 'text',
      mailId: 'int?',
      replaces: 'text',
    },
  },
  `with earlier as (
      delete from booking_links where provider_id = :providerId and booking_id = :bookingId and participant_id is not distinct from :participantId
        and case when mail_id is null then :replaces = 'all' else :replaces <> 'none' and coalesce(mail_id < :mailId, true) end)
    insert into booking_links as l (provider_id, booking_id, participant_id, hash, mail_id, created_at, expires_at)
    select :providerId, :bookingId, :participantId::bigint, :hash, :mailId::bigint, now(), e.at from (select ${toSqlText(ofLink)} as at) e where e.at > now()
    on conflict (provider_id, mail_id) do update set hash = excluded.hash,
      earlier_hashes = l.earlier_hashes || l.hash, created_at = excluded.created_at, expires_at = excluded.expires_at`,
);

const ofPerson = 'p.provider_id = :providerId and p.user_id = :userId and (:all or p.id in :participantIds)';

/** Ends the links to the offers of a person, `all` or those of some participants, and mails those that are open again. */
export const replaceOfferLinks = statement(
  'replace_offer_links',
  { takes: { providerId: 'int', userId: 'int', now: 'moment', all: 'bool', participantIds: 'int[]' } },
  `with ended as (
      delete from booking_links where provider_id = :providerId
        and participant_id in (select p.id from participants p where ${ofPerson}))
    insert into outbox (provider_id, purpose, user_id, participant_id, created_at, due_at)
    select :providerId, 'offer', :userId, p.id, :now, ${currentTimeSql} from participants p
    where ${ofPerson} and p.held_for = 'offer'
      and not exists (select from outbox o where o.provider_id = :providerId and o.user_id = :userId and o.participant_id = p.id
        and o.purpose = 'offer' and o.sent_at is null and o.failed_at is null)`,
);
