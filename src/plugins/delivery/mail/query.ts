import { seatStatuses } from '../../../core/reference/statuses.ts';
import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { isDelayedSql } from '../../../database/tables/outbox.ts';
import { isRefusedSql, joinedRecipient, recipientJoins } from '../../../domains/messages/mails/loaders.ts';
import { references } from '../../../domains/messages/mails/sql.ts';

/**
 * Leases at most `$1` due mails, fairly: the fairness key with the fewest mails in progress is first, then the least
 * recently served one. `$2` to `$4` are fairness keys, their mails in progress and when they were last served; mails with
 * other purposes than `$5` wait for a newer server. Other workers skip a mail until its lease ends; `due_at` is that time
 * and identifies the attempt. `last_error` is null meanwhile.
 */
export const claimMails = {
  name: 'claim_mails',
  text: `select provider_id as "providerId", id, attempts, due_at::text as lease, fairness_key as "fairnessKey"
    from claim_mails($1, $2, $3, $4, $5)`,
};

/** The unsent mails `$2` of provider `$1` with the lease `$3`. */
const areAttempted = 'provider_id = $1 and id = any($2::bigint[]) and due_at = $3 and sent_at is null';

/** Also makes two mails due that wait after a failure of the mail server, so that they leave as fast as it takes them. */
export const markSent = {
  name: 'mark_mails_sent',
  text: `with sent as (
      update outbox set sent_at = now(), is_written = $3, failed_at = null, last_error = null
      where provider_id = $1 and id = any($2::bigint[]) and sent_at is null)
    update outbox set due_at = now() where (provider_id, id) in (
      select provider_id, id from outbox where ${isDelayedSql} and due_at > now() + interval '10 seconds'
      order by attempts, due_at limit 2 for update skip locked)`,
};

/** `$6` and `$7` are the attempts of each and the minutes until the next one; null for a final failure. */
export const markFailed = {
  name: 'mark_mails_failed',
  text: `update outbox set last_error = $4, attempts = m.attempts,
      failure = case when failure = 'message' and $5 is distinct from 'recipient' then failure else $5 end,
      due_at = now() + coalesce(m.minutes, 0) * interval '1 minute',
      failed_at = case when m.minutes is null then now() end
    from unnest($2::bigint[], $6::int[], $7::int[]) m (mail_id, attempts, minutes)
    where id = m.mail_id and ${areAttempted}`,
};

/** Does not count as an attempt. */
export const postponeMails = {
  name: 'postpone_mails',
  text: `update outbox set attempts = attempts - 1, last_error = $4, due_at = now() + $5::interval
    where ${areAttempted}`,
};

/** The page of an accepted offer, and the payer's page in a reminder, are not outdated with the mail. */
const keepsLink = `(d.purpose = 'reminder' or d.purpose = 'offer' and exists (select from participants p
        where p.provider_id = $1 and p.id = d.participant_id and p.user_id = d.user_id and p.held_for is null
          and p.status_id in (${seatStatuses.join(', ')})))`;
const ofDeleted = (condition = 'true') =>
  `provider_id = $1 and mail_id in (select d.id from deleted d where ${condition})`;

/**
 * Deletes outdated mails, and the links of their earlier attempts. An interest whose date can no longer be booked gets a
 * mail about the next date; a confirmed one keeps its link, which deletes it.
 */
export const deleteMails = {
  name: 'delete_mails',
  text: `with deleted as (delete from outbox where ${areAttempted}
        returning id, purpose, interest_id, participant_id, user_id),
      ended_tokens as (delete from tokens where ${ofDeleted()}),
      ended_links as (delete from booking_links where ${ofDeleted(`not ${keepsLink}`)}),
      kept_links as (update booking_links set mail_id = null where ${ofDeleted(keepsLink)})
    update course_interests i set notified_at = null, course_date_id = null from deleted d
    where i.provider_id = $1 and i.id = d.interest_id and d.purpose = 'date_published' and not exists (
      select from course_interests n where n.provider_id = $1 and n.course_id = i.course_id and n.email = i.email
        and n.notified_at is null)
      and not exists (select from outbox s where s.provider_id = $1 and ${caseFoldedSql('s.address')} = ${caseFoldedSql('i.email')}
        and s.interest_id = i.id and s.purpose = 'date_published' and s.sent_at is not null)`,
};

/** Newest first. */
export const selectMails = {
  name: 'list_mails',
  text: `select o.id as mail_id, o.provider_id, o.purpose, ${joinedRecipient} as email,
      case when o.is_written then 'written' when o.sent_at is not null then 'sent' when o.failed_at is not null then 'failed' else 'waiting' end as state,
      o.attempts, o.created_at::text, case when o.sent_at is null and o.failed_at is null then o.due_at::text end as due_at,
      case when not o.is_written then o.sent_at::text end as sent_at,
      case when o.is_written then o.sent_at::text end as written_at, o.failed_at::text,
      case when o.sent_at is null and o.failed_at is null then coalesce(o.last_error, $4) else o.last_error end as last_error
    from outbox o
      ${recipientJoins}
    where ($1::bigint is null or o.provider_id = $1) and (not $2 or o.failed_at is not null)
    order by o.id desc limit $3`,
};

/** Excludes mails in progress, which would be sent twice. */
const resetSql = 'update outbox set attempts = 0, failed_at = null, due_at = now()';
export const resetMail = {
  name: 'retry_mail',
  text: `${resetSql} where provider_id = $1 and id = $2 and sent_at is null and last_error is not null returning id`,
};
const isWaiting = 'sent_at is null and failed_at is null and last_error is not null';
/** Those that have failed since `$2`: of equal mails, such as one that was sent again, the latest alone, to no refused address. */
const areFailed = `id in (
      select id from (
        select id, failed_at, row_number() over (partition by purpose, ${references} order by id desc) as place
        from outbox where provider_id = $1) mails
      where place = 1 and failed_at >= $2)
    and id not in (select o.id from outbox o ${recipientJoins}
      where o.provider_id = $1 and o.failed_at is not null and ${isRefusedSql('$1', joinedRecipient)})`;

const ofProviders = (condition: string) =>
  `select distinct provider_id as "providerId" from outbox where ${condition} order by 1`;
/** The statements that retry all mails that have failed, or all that wait for their next attempt. */
export const resets = {
  failed: {
    providers: { name: 'providers_of_failed_mails', text: ofProviders('failed_at is not null') },
    reset: { name: 'retry_failed_mails', text: `${resetSql} where provider_id = $1 and ${areFailed} returning id` },
  },
  waiting: {
    providers: { name: 'providers_of_waiting_mails', text: ofProviders(isWaiting) },
    reset: { name: 'retry_waiting_mails', text: `${resetSql} where provider_id = $1 and ${isWaiting} returning id` },
  },
};

export const findMailState = {
  name: 'get_mail_state',
  text: 'select provider_id as "providerId", sent_at is not null as "isSent", is_written as "isWritten", attempts from outbox where id = $1',
};
