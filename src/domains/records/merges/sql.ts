import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { json, statement } from '../../../database/statement.ts';

// Text: updates of rows by those of other queries, and a recursive one.

/** Stores answers, as of `now`, for searches that began before. */
export const updateAnswers = statement(
  'update_answers_about_merged',
  { takes: { providerId: 'int', answers: { rows: { key: 'text', answer: json<unknown>() } }, now: 'moment' } },
  `update idempotency_records r set answer = answers.answer::jsonb, created_at = :now
    from :answers where r.provider_id = :providerId and r.key_hash = answers.key`,
);

/** A confirmed interest `i`: the link of another one proves the former address alone. */
const isMoved = 'i.provider_id = :providerId and i.email = c.former and i.confirmed_at is not null';
const hasOther = (condition = '') => `(i.notified_at is null and exists (
        select from course_interests k where k.provider_id = :providerId and k.course_id = i.course_id and k.email = c.email
          and k.notified_at is null ${condition}))`;
/** Moves interests to the staying one's e-mail, unless another person has the former; of two in a course one stays. */
export const moveInterests = statement(
  'merge_course_interests',
  { takes: { providerId: 'int', id: 'int', into: 'int' } },
  `with change as (
      select ${caseFoldedSql('a.email')} as former, ${caseFoldedSql('b.email')} as email
      from course_users a join course_users b on b.provider_id = :providerId and b.id = :into
      where a.provider_id = :providerId and a.id = :id and b.email <> '' and ${caseFoldedSql('a.email')} <> ${caseFoldedSql('b.email')}
        and not exists (select from course_users o where o.provider_id = :providerId and o.id <> :id
          and ${caseFoldedSql('o.email')} = ${caseFoldedSql('a.email')})),
    double as (
      delete from course_interests i using change c where ${isMoved} and ${hasOther('and k.confirmed_at is not null')})
    update course_interests i set email = c.email from change c where ${isMoved} and not ${hasOther()}`,
);

/** Gives a staying customer that is below the merged one the place of that: its parents would form a cycle. */
export const moveParent = statement(
  'merge_parent',
  { takes: { providerId: 'int', id: 'int', into: 'int', now: 'moment' } },
  `with recursive above as (
      select parent_customer_id as id from customers where provider_id = :providerId and id = :into
      union select c.parent_customer_id from customers c join above a on c.id = a.id where c.provider_id = :providerId)
    update customers set updated_at = :now,
      parent_customer_id = (select parent_customer_id from customers where provider_id = :providerId and id = :id)
    where provider_id = :providerId and id = :into and :id in (select id from above)`,
);

export const moveSomeCampaigns = statement(
  'merge_some_campaigns',
  { takes: { providerId: 'int', id: 'int', into: 'int', now: 'moment', limit: 'int' }, returns: { id: 'int' } },
  `with removed as (
      delete from campaign_customers where provider_id = :providerId and customer_id = :id and campaign_id = any(array(
        select campaign_id from campaign_customers where provider_id = :providerId and customer_id = :id
        order by 1 limit :limit))
      returning campaign_id as id),
    touched as (update campaigns set updated_at = :now where provider_id = :providerId and id in (select id from removed)),
    copied as (
      insert into campaign_customers (provider_id, campaign_id, customer_id)
      select :providerId, id, :into from removed on conflict do nothing)
    select id from removed`,
);
