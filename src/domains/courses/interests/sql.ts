import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { recipientHashSql } from '../../../database/tables/catalog-posts.ts';
import { caseFoldedSql, currentTimeSql, hasLinkSql } from '../../../database/tables/columns.ts';
import { interestEmailSql, isAliveSql, isBookableSql } from './loaders.ts';

/** By the index of the outbox. */
const isTo = (email: string) => `${caseFoldedSql('o.address')} = ${caseFoldedSql(email)}`;

/** Whether the course `$2` is known, whether it has a date to book, and whether the school sends the mail. */
export const findCourse = {
  name: 'find_course_of_interest',
  text: `select exists (
        select from course_dates where provider_id = $1 and course_id = $2 and ${isBookableSql}) as "hasDate",
      ${isMailOnSql('$1', "'date_published'")} as "isOn"
    from courses where provider_id = $1 and id = $2 and deleted_at is null`,
};

/**
 * Stores the interest of `$3` in the course `$2` and queues the mail that asks to confirm it, unless one waits, the
 * interest is confirmed, or `$9` is false: the recipient has reached the daily mail limit. The address `$7` of a visitor
 * counts the post in any case, by the key `$8`, so that its limit tells nothing about the recipient.
 */
export const requestInterest = {
  name: 'request_interest',
  text: `with stored as (
      insert into course_interests as i (provider_id, course_id, email, name, language, created_at)
      select $1, $2, ${interestEmailSql('$3')}, $4, $5, $6
      where $9::boolean
      on conflict (provider_id, course_id, email) where notified_at is null
        do update set name = excluded.name, language = excluded.language, created_at = excluded.created_at
        where i.confirmed_at is null
      returning i.id, i.email),
    queued as (
      insert into outbox (provider_id, purpose, address, interest_id, created_at, due_at)
      select $1, 'interest_confirmation', stored.email, stored.id, $6, ${currentTimeSql} from stored
      where not exists (select from outbox o where o.provider_id = $1 and o.purpose = 'interest_confirmation'
        and o.interest_id = stored.id and ${isTo('stored.email')} and o.sent_at is null and o.failed_at is null)
      returning id)
    insert into catalog_posts (provider_id, key_hash, address_hash, places, recipients, created_at)
    select $1, $8, $7, 0, array(select ${recipientHashSql('$1', '$3')} from queued), ${currentTimeSql}
    where $7::text is not null or exists (select from queued)
    returning (select stored.id from stored, queued) as id`,
};

/** Of the mail `$4`, in place of the links of earlier ones; no row once the interest is deleted or has ended. */
export const storeLink = {
  name: 'store_interest_link',
  text: `update course_interests i set link_hash = $3, link_mail_id = greatest(link_mail_id, $4),
      earlier_hashes = case when link_mail_id >= $4 then earlier_hashes || link_hash else '{}' end
    where provider_id = $1 and id = $2 and ${isAliveSql('i')}
    returning true as stored`,
};

/** The interest of a link, by provider ($1) and hash ($2), of a provider that is open. */
export const findInterest = {
  name: 'find_interest_of_link',
  text: `select i.provider_id as "providerId", i.id, i.confirmed_at is not null as "isConfirmed",
      i.notified_at is not null as "isNotified", c.title
    from course_interests i join courses c on c.provider_id = $1 and c.id = i.course_id and c.deleted_at is null
    where i.provider_id = $1 and ${hasLinkSql('i.link_hash', '$2')} and ${isAliveSql('i')}
      and exists (select from providers s where s.id = $1 and s.closed_at is null)`,
};

export const confirmInterest = {
  name: 'confirm_interest',
  text: `update course_interests i set confirmed_at = $3
    where provider_id = $1 and ${hasLinkSql('link_hash', '$2')} and confirmed_at is null and ${isAliveSql('i')} returning id`,
};

/** With its mails. */
export const deleteInterest = {
  name: 'delete_interest',
  text: `with deleted as (delete from course_interests where provider_id = $1 and ${hasLinkSql('link_hash', '$2')}
      returning id, email),
      mails as (delete from outbox o using deleted where o.provider_id = $1 and ${isTo('deleted.email')}
        and o.interest_id = deleted.id)
    select id from deleted`,
};

/** Of a deleted course. */
export const deleteInterests = {
  name: 'delete_interests_of_course',
  text: 'delete from course_interests where provider_id = $1 and course_id = $2',
};

const isDue = (interest: string) => `${interest}.confirmed_at is not null and ${interest}.notified_at is null`;
const isOn = (provider: string) => isMailOnSql(provider, "'date_published'");

/**
 * Courses with a date to book and with confirmed interests, at most 100 of each school, without schools that are
 * closed or being deleted.
 */
export const findDueCourses = {
  name: 'find_courses_of_due_interests',
  text: `select c.provider_id as "providerId", c.course_id as "courseId"
    from provider_state school
      join providers p on p.id = school.provider_id and p.closed_at is null
      cross join lateral (
        select i.provider_id, i.course_id from course_interests i
        where i.provider_id = school.provider_id and ${isDue('i')} and exists (
          select from course_dates where provider_id = i.provider_id and course_id = i.course_id and ${isBookableSql})
        group by i.provider_id, i.course_id order by i.course_id limit 100) c
    where ${isOn('school.provider_id')}
    order by 1, 2`,
};

/**
 * Queues the mails to the next `$4` persons of the course `$2` about its first date to book, and marks them as notified. Sent
 * after other mails of the school: those are due earlier.
 */
export const queueMails = {
  name: 'queue_mails_of_interests',
  text: `with first_date as (
      select id from course_dates where provider_id = $1 and course_id = $2 and ${isBookableSql}
      order by starts_at, id limit 1),
    notified as (
      update course_interests i set notified_at = $3, course_date_id = d.id from first_date d
      where i.provider_id = $1 and ${isDue('i')} and ${isOn('$1')} and i.id in (
        select n.id from course_interests n where n.provider_id = $1 and n.course_id = $2 and ${isDue('n')}
        order by n.id limit $4)
      returning i.id, i.email, i.course_date_id)
    insert into outbox (provider_id, purpose, address, course_date_id, interest_id, created_at, due_at)
    select $1, 'date_published', email, course_date_id, id, $3, ${currentTimeSql} + interval '6 hours' from notified order by id
    returning interest_id as "interestId"`,
};
