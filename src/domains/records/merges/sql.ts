import { staysSql } from '../../../core/reference/statuses.ts';
import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { aboutItem, type itemMembers } from '../../../database/tables/idempotency.ts';

type Resource = keyof typeof itemMembers;

// `$1` is the provider, `$2` the merged one, `$3` the one that stays, `$4` the time.

/** Locked, so that no session or link of the person begins meanwhile. */
export const lockCourseUsers = {
  name: 'lock_merged_course_users',
  text: `select id, erased_at is not null as is_erased from course_users
    where provider_id = $1 and id in ($2, $3) and not is_placeholder order by id for update`,
};
export const lockCustomers = {
  name: 'lock_merged_customers',
  text: 'select id from customers where provider_id = $1 and id in ($2, $3) order by id for update',
};

export const countCourseUserItems = {
  name: 'count_merged_course_user',
  text: `select
      (select count(*) from participants p where p.provider_id = $1 and p.user_id = $2) as participants,
      (select count(distinct b.order_id) from participants p
        join bookings b on b.provider_id = $1 and b.id = p.booking_id
        where p.provider_id = $1 and p.user_id = $2) as orders,
      (select count(*) from participants p
        join attendances a on a.provider_id = $1 and a.participant_id = p.id
        where p.provider_id = $1 and p.user_id = $2) as attendances,
      (select count(*) from sessions s where s.provider_id = $1 and s.user_id = $2) as sessions,
      (select count(*) from tokens t where t.provider_id = $1 and t.user_id = $2 and t.used_at is null)
        + (select count(*) from calendar_feeds f where f.provider_id = $1 and f.user_id = $2)
        + (select count(*) from participants p join booking_links l on l.provider_id = $1 and l.participant_id = p.id
          where p.provider_id = $1 and p.user_id = $2) as links`,
};
export const findSharedDates = {
  name: 'find_dates_of_merged_course_users',
  text: `select distinct p.course_date_id as id from participants p
      join participants o on o.provider_id = $1 and o.course_date_id = p.course_date_id and o.user_id = $3
    where p.provider_id = $1 and p.user_id = $2 and ${staysSql('p')} and ${staysSql('o')} order by 1 limit 1000`,
};

const isAnswerAbout = (resource: Resource) =>
  `jsonb_path_exists(r.answer, '${aboutItem(resource)})', jsonb_build_object('id', $2::bigint))`;
export const findAnswerKeys = (resource: Resource) => ({
  name: `find_keys_of_answers_about_merged_${resource}`,
  text: `select r.key_hash as key from idempotency_records r where r.provider_id = $1 and ${isAnswerAbout(resource)}`,
});
/** Of those that the search found, with the keys `$3`, and those stored later than `$4`: up to `$5`. */
export const findSomeAnswers = (resource: Resource) => ({
  name: `find_answers_about_merged_${resource}`,
  text: `select r.key_hash as key, r.answer from idempotency_records r
    where r.provider_id = $1 and case when r.created_at > $4 or r.key_hash in (select unnest($3::text[]))
      then ${isAnswerAbout(resource)} end limit $5`,
});
/** As stored at `$3`, for searches that began before. */
export const updateAnswers = {
  name: 'update_answers_about_merged',
  text: `update idempotency_records r set answer = n.answer, created_at = $3
    from json_to_recordset($2) n (key text, answer jsonb) where r.provider_id = $1 and r.key_hash = n.key`,
};
export const countCustomerItems = {
  name: 'count_merged_customer',
  text: `select
      (select count(*) from course_users u where u.provider_id = $1 and u.customer_id = $2) as employees,
      (select count(*) from customers c where c.provider_id = $1 and c.parent_customer_id = $2) as customers,
      (select count(*) from courses c where c.provider_id = $1 and c.customer_id = $2) as courses,
      (select count(*) from campaign_customers c where c.provider_id = $1 and c.customer_id = $2) as campaigns,
      (select count(*) from orders o where o.provider_id = $1 and o.customer_id = $2) as orders`,
};

/** Up to `$5` of them. An array, not a join: without statistics that could read the whole table. */
const moveSome = (table: string, column: string) => ({
  name: `merge_some_${table}`,
  text: `update ${table} set ${column} = $3, updated_at = $4 where provider_id = $1 and id = any(array(
    select id from ${table} where provider_id = $1 and ${column} = $2 order by id limit $5)) returning id`,
});

export const moveSomeParticipants = moveSome('participants', 'user_id');
export const deleteTokens = {
  name: 'merge_tokens',
  text: `with feed as (delete from calendar_feeds where provider_id = $1 and user_id = $2)
    delete from tokens where provider_id = $1 and user_id = $2`,
};
/** Deletes the unsent mails whose link sets a password. */
export const deleteInvitations = {
  name: 'merge_invitations',
  text: `delete from outbox where provider_id = $1 and user_id = $2 and purpose = 'account_created' and sent_at is null`,
};
const moveMailsSql = (condition = '') => `with named as (
      update outbox set named_user_id = $3 where provider_id = $1 and named_user_id = $2 ${condition})
    update outbox set user_id = $3 where provider_id = $1 and user_id = $2 ${condition}`;
export const moveMails = { name: 'merge_outbox', text: moveMailsSql() };
/** Those about the participants `$4`. */
export const moveMailsOfPlaces = {
  name: 'merge_outbox_of_participants',
  text: moveMailsSql('and participant_id = any($4::bigint[])'),
};
/** A confirmed interest `i`: the link of another one proves the former address alone. */
const isMoved = 'i.provider_id = $1 and i.email = c.former and i.confirmed_at is not null';
const hasOther = (condition = '') => `(i.notified_at is null and exists (
        select from course_interests k where k.provider_id = $1 and k.course_id = i.course_id and k.email = c.email
          and k.notified_at is null ${condition}))`;
/**
 * Interests of the merged one's e-mail go to that of the one that stays, unless another person has the former. Of two in
 * a course one stays.
 */
export const moveInterests = {
  name: 'merge_course_interests',
  text: `with change as (
      select ${caseFoldedSql('a.email')} as former, ${caseFoldedSql('b.email')} as email
      from course_users a join course_users b on b.provider_id = $1 and b.id = $3
      where a.provider_id = $1 and a.id = $2 and b.email <> '' and ${caseFoldedSql('a.email')} <> ${caseFoldedSql('b.email')}
        and not exists (select from course_users o where o.provider_id = $1 and o.id <> $2
          and ${caseFoldedSql('o.email')} = ${caseFoldedSql('a.email')})),
    double as (
      delete from course_interests i using change c where ${isMoved} and ${hasOther('and k.confirmed_at is not null')})
    update course_interests i set email = c.email from change c where ${isMoved} and not ${hasOther()}`,
};
/** An import that continues finds the one that stays. */
export const moveImportRefs = (resource: Resource) => ({
  name: `merge_import_refs_of_${resource}`,
  text: `update import_refs set item_id = $3
    where provider_id = $1 and kind = '${resource === 'customer' ? 'customer' : 'user'}' and item_id = $2`,
});
/** For an erasure of the one that stays, in backups that still have the merged one. */
export const rememberMerge = {
  name: 'remember_merge',
  text: `with former as (update merged_users set into_id = $3 where provider_id = $1 and into_id = $2)
    insert into merged_users (provider_id, user_id, created_at, into_id)
    select provider_id, id, created_at, $3 from course_users where provider_id = $1 and id = $2`,
};
export const deleteCourseUser = {
  name: 'delete_merged_course_user',
  text: 'delete from course_users where provider_id = $1 and id = $2',
};

/** One that is below the merged one takes the place of that, or its parents would form a cycle. */
export const moveParent = {
  name: 'merge_parent',
  text: `with recursive above as (
      select parent_customer_id as id from customers where provider_id = $1 and id = $3
      union select c.parent_customer_id from customers c join above a on c.id = a.id where c.provider_id = $1)
    update customers set updated_at = $4,
      parent_customer_id = (select parent_customer_id from customers where provider_id = $1 and id = $2)
    where provider_id = $1 and id = $3 and $2 in (select id from above)`,
};
const moveSomeCampaigns = {
  name: 'merge_some_campaigns',
  text: `with removed as (
      delete from campaign_customers where provider_id = $1 and customer_id = $2 and campaign_id = any(array(
        select campaign_id from campaign_customers where provider_id = $1 and customer_id = $2 order by 1 limit $5))
      returning campaign_id as id),
    touched as (update campaigns set updated_at = $4 where provider_id = $1 and id in (select id from removed)),
    copied as (
      insert into campaign_customers (provider_id, campaign_id, customer_id) select $1, id, $3::bigint from removed
      on conflict do nothing)
    select id from removed`,
};
/** Children after `moveParent`. */
export const moveSomeOfCustomer = [
  ...[moveSome('course_users', 'customer_id'), moveSome('courses', 'customer_id'), moveSome('orders', 'customer_id')],
  ...[moveSome('customers', 'parent_customer_id'), moveSomeCampaigns],
];
export const deleteCustomer = {
  name: 'delete_merged_customer',
  text: 'delete from customers where provider_id = $1 and id = $2',
};

/** Replaces the event of the deletion; after more changes than are recorded it stands beside a resync. */
export const recordMerge = (resource: Resource) => ({
  name: `record_merged_${resource}`,
  text: `with replaced as (
      delete from events where provider_id = $1 and id >= first_event_id()
        and resource = '${resource}' and resource_id = $2 and change = 'deleted')
    insert into events (provider_id, at, resource, change, resource_id, into_id)
    values ($1, $4, '${resource}', 'merged', $2, $3)`,
});
