import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { statement } from '../../../database/statement.ts';
import { recipientHashSql } from '../../../database/tables/catalog-posts.ts';
import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import { isBookableSql } from './loaders.ts';

// Text: statements that write several tables at once, and a lateral join over all schools.

/**
 * Stores an interest and queues the mail that asks to confirm it, unless one waits, the interest is confirmed, or the
 * recipient has reached the daily mail limit (`isSent` is false). The address of a visitor counts the post in any case,
 * by the key, so that its limit tells nothing about the recipient.
 */
export const requestInterest = statement(
  'request_interest',
  {
    takes: {
      providerId: 'int',
      courseId: 'int',
      email: 'text',
      name: 'text?',
      language: 'text?',
      now: 'moment',
      isSent: 'bool',
      addressHash: 'text?',
      keyHash: 'text',
    },
    returns: { id: 'int?' },
  },
  `with stored as (
      insert into course_interests as i (provider_id, course_id, email, name, language, created_at)
      select :providerId, :courseId, ${caseFoldedSql(':email')}, :name, :language, :now
      where :isSent
      on conflict (provider_id, course_id, email) where notified_at is null
        do update set name = excluded.name, language = excluded.language, created_at = excluded.created_at
        where i.confirmed_at is null
      returning i.id, i.email),
    queued as (
      insert into outbox (provider_id, purpose, address, interest_id, created_at, due_at)
      select :providerId, 'interest_confirmation', stored.email, stored.id, :now, ${currentTimeSql} from stored
      where not exists (select from outbox o where o.provider_id = :providerId and o.purpose = 'interest_confirmation'
        and o.interest_id = stored.id and ${caseFoldedSql('o.address')} = ${caseFoldedSql('stored.email')} and o.sent_at is null and o.failed_at is null)
      returning id)
    insert into catalog_posts (provider_id, key_hash, address_hash, places, recipients, created_at)
    select :providerId, :keyHash, :addressHash, 0, array(select ${recipientHashSql(':providerId', ':email')} from queued), ${currentTimeSql}
    where :addressHash::text is not null or exists (select from queued)
    returning (select stored.id from stored, queued) as id`,
);

const isDue = (interest: string) => `${interest}.confirmed_at is not null and ${interest}.notified_at is null`;
const isOn = (provider: string) => isMailOnSql(provider, "'date_published'");

/** Courses of open schools with a date to book and confirmed interests, at most 100 of each school. */
export const findDueCourses = statement(
  'find_courses_of_due_interests',
  {
    takes: {},
    returns: { providerId: 'int', courseId: 'int' },
    acrossSchools: 'a job of all schools, which names each where it reads its rows',
  },
  `select c.provider_id as "providerId", c.course_id as "courseId"
    from provider_state school
      join providers p on p.id = school.provider_id and p.closed_at is null
      cross join lateral (
        select i.provider_id, i.course_id from course_interests i
        where i.provider_id = school.provider_id and ${isDue('i')} and exists (
          select from course_dates where provider_id = i.provider_id and course_id = i.course_id and ${isBookableSql})
        group by i.provider_id, i.course_id order by i.course_id limit 100) c
    where ${isOn('school.provider_id')}
    order by 1, 2`,
);

/** Queues and marks the mails to the next persons about a course's first date to book, due after other mails. */
export const queueMails = statement(
  'queue_mails_of_interests',
  { takes: { providerId: 'int', courseId: 'int', now: 'moment', limit: 'int' } },
  `with first_date as (
      select id from course_dates where provider_id = :providerId and course_id = :courseId and ${isBookableSql}
      order by starts_at, id limit 1),
    notified as (
      update course_interests i set notified_at = :now, course_date_id = d.id from first_date d
      where i.provider_id = :providerId and ${isDue('i')} and ${isOn(':providerId')} and i.id in (
        select n.id from course_interests n where n.provider_id = :providerId and n.course_id = :courseId and ${isDue('n')}
        order by n.id limit :limit)
      returning i.id, i.email, i.course_date_id)
    insert into outbox (provider_id, purpose, address, course_date_id, interest_id, created_at, due_at)
    select :providerId, 'date_published', email, course_date_id, id, :now, ${currentTimeSql} + interval '6 hours' from notified order by id`,
);
