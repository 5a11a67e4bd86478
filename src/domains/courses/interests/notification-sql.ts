import { isMailOnSql } from '../../../core/reference/mail-kinds.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';
import { isBookableSql } from './loaders.ts';

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
