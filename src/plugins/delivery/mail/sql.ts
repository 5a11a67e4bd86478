import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { seatStatuses } from '../../../core/reference/statuses.ts';
import { statement, typedOrNull } from '../../../database/statement.ts';
import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import { isDelayedSql, isKnownSql, type MailFailure } from '../../../database/tables/outbox.ts';
import { isNoticeSql, refusalEmailsSql } from '../../../domains/messages/mails/loaders.ts';

// Text: a function, chains of `with`, and claims of the queue.

/**
 * Leases at most `slots` due mails, fairly: the tenant queue key with the fewest mails in progress is first, then the
 * least recently served one. `keys`, `counts` and `turns` are tenant queue keys, their mails in progress and when they
 * were last served; mails with other purposes wait for a newer server. Other workers skip a mail until its lease ends;
 * `due_at` is that time and identifies the attempt. `last_error` is null meanwhile.
 */
export const claimMails = statement(
  'claim_mails',
  {
    takes: { slots: 'int', keys: 'int[]', counts: 'int[]', turns: 'int[]', purposes: 'text[]' },
    returns: { providerId: 'int', id: 'int', attempts: 'int', lease: 'moment', tenantQueueKey: 'int' },
    acrossSchools: 'the mails of all schools share the places',
  },
  `select provider_id as "providerId", id, attempts, due_at::text as lease, fairness_key as "tenantQueueKey"
    from claim_mails(:slots::int, array :keys, array :counts::int[], array :turns::int[], array :purposes)`,
);

/** Also makes two mails due that wait after a failure of the mail server, so that they leave as fast as it takes them. */
export const markSent = statement(
  'mark_mails_sent',
  { takes: { providerId: 'int', ids: 'int[]', isWritten: 'bool' } },
  `with sent as (
      update outbox set sent_at = now(), is_written = :isWritten, failed_at = null, last_error = null
      where provider_id = :providerId and id in :ids and sent_at is null)
    update outbox set due_at = now() where (provider_id, id) in (
      select provider_id, id from outbox where ${isDelayedSql} and due_at > now() + interval '10 seconds'
      order by attempts, due_at limit 2 for update skip locked)`,
);

/** `minutes` until the next attempt; null for a final failure. */
export const markFailed = statement(
  'mark_mails_failed',
  {
    takes: {
      providerId: 'int',
      lease: 'moment',
      problem: 'text',
      failure: typedOrNull<MailFailure>('text'),
      failed: { rows: { id: 'int', attempts: 'int', minutes: 'int?' } },
    },
  },
  `update outbox set last_error = :problem, attempts = failed.attempts,
      failure = case when failure = 'message' and :failure is distinct from 'recipient' then failure else :failure end,
      due_at = now() + coalesce(failed.minutes, 0) * interval '1 minute',
      failed_at = case when failed.minutes is null then now() end
    from :failed
    where provider_id = :providerId and outbox.id = failed.id and due_at = :lease and sent_at is null`,
);

/** The page of an accepted offer, and the payer's page in a reminder, are not outdated with the mail. */
const keepsLink = `(d.purpose = 'reminder' or d.purpose = 'offer' and exists (select from participants p
        where p.provider_id = :providerId and p.id = d.participant_id and p.user_id = d.user_id and p.held_for is null
          and p.status_id in (${seatStatuses.join(', ')})))`;
const ofDeleted = (condition = 'true') =>
  `provider_id = :providerId and mail_id in (select d.id from deleted d where ${condition})`;

/**
 * Deletes outdated mails, and the links of their earlier attempts. An interest whose date can no longer be booked gets a
 * mail about the next date; a confirmed one keeps its link, which deletes it.
 */
export const deleteMails = statement(
  'delete_mails',
  { takes: { providerId: 'int', ids: 'int[]', lease: 'moment' } },
  `with deleted as (
        delete from outbox where provider_id = :providerId and id in :ids and due_at = :lease and sent_at is null
        returning id, purpose, interest_id, participant_id, user_id),
      ended_tokens as (delete from tokens where ${ofDeleted()}),
      ended_links as (delete from booking_links where ${ofDeleted(`not ${keepsLink}`)}),
      kept_links as (update booking_links set mail_id = null where ${ofDeleted(keepsLink)})
    update course_interests i set notified_at = null, course_date_id = null from deleted d
    where i.provider_id = :providerId and i.id = d.interest_id and d.purpose = 'date_published' and not exists (
      select from course_interests n where n.provider_id = :providerId and n.course_id = i.course_id and n.email = i.email
        and n.notified_at is null)
      and not exists (select from outbox s where s.provider_id = :providerId
        and ${caseFoldedSql('s.address')} = ${caseFoldedSql('i.email')}
        and s.interest_id = i.id and s.purpose = 'date_published' and s.sent_at is not null)`,
);

/**
 * Stores a refused address, or marks it again where the mark is lifted. Queues the mail to the school then, and again
 * the refused mail to the school itself, if the school has another address.
 */
export const storeRefusal = statement(
  'store_refused_address',
  {
    takes: { providerId: 'int', email: 'text', reason: 'text', now: 'moment', subject: 'text', mailId: 'int' },
    returns: { id: 'int' },
  },
  `with refused as (
      insert into refused_addresses as r (provider_id, email, reason, refused_at, subject)
      values (:providerId, :email, :reason, :now, :subject)
      on conflict (provider_id, (${caseFoldedSql('email')})) do update set email = excluded.email,
        reason = excluded.reason, refused_at = excluded.refused_at, subject = excluded.subject, lifted_at = null
        where r.lifted_at is not null
      returning id),
    notice as (
      insert into outbox (provider_id, purpose, refused_address_id, created_at, due_at)
      select :providerId, 'address_refused', r.id, :now, ${currentTimeSql}
      from (select id from refused
          union select refused_address_id from outbox
            where provider_id = :providerId and id = :mailId and refused_address_id is not null) r (id)
        join providers s on s.id = :providerId
      where exists (
          select from ${refusalEmailsSql('s')} e where ${caseFoldedSql('e.address')} <> ${caseFoldedSql(':email')})
        and ${isMailOnSql(':providerId', "'address_refused'")}
      order by r.id
      returning id)
    select id from refused union all select id from notice`,
);

/** The notices `o` to the recipient of a notice that are to be sent. */
const ofRecipient = `o.provider_id = :providerId and o.sent_at is null and o.failed_at is null
      and ${isNoticeSql('o')} and ${isKnownSql('o.purpose')}
      and exists (select from outbox own where own.provider_id = :providerId and own.id = :id
        and (own.address = o.address or own.admin_user_id = o.admin_user_id))`;
/** True while a worker has the mail `o`, as in `claim_mails`. */
const isLeased = 'o.attempts > 0 and o.last_error is null and o.due_at > now()';
const free = (limit: string) => `select o.id from outbox o where ${ofRecipient} and not (${isLeased})
      order by o.id limit ${limit} for update skip locked`;

/** How many notices wait for the recipient of a notice, those in progress among them, and the first of these. */
export const countNotices = statement(
  'count_notices',
  { takes: { providerId: 'int', id: 'int' }, returns: { waiting: 'int', firstInProgress: 'int?' } },
  `select count(*) as waiting, min(o.id) filter (where ${isLeased}) as "firstInProgress"
    from outbox o where ${ofRecipient}`,
);

/** Leases at most `limit` other notices to the recipient of a notice, with its lease. */
export const leaseNotices = statement(
  'lease_notices',
  {
    takes: { providerId: 'int', id: 'int', lease: 'moment', limit: 'int' },
    returns: { id: 'int', attempts: 'int' },
  },
  `update outbox set attempts = attempts + 1, due_at = :lease, last_error = null
    where provider_id = :providerId and id in (${free(':limit')}) returning id, attempts`,
);

/** Lets a notice with a lease, and the others to its recipient, wait for some seconds. */
export const awaitDigest = statement(
  'await_digest',
  { takes: { providerId: 'int', id: 'int', lease: 'moment', seconds: 'int' } },
  `with others as (${free('1000')})
    update outbox set attempts = attempts - case when id = :id then 1 else 0 end,
      due_at = now() + :seconds::int * interval '1 second', last_error = 'Waits for a digest of notices'
    where provider_id = :providerId and sent_at is null
      and (id = :id and due_at = :lease or id in (select id from others))`,
);
