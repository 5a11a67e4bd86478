import { usernameHashSql } from '../../../database/tables/access.ts';
import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { aboutItem } from '../../../database/tables/idempotency.ts';
import { importLockSql } from '../../../database/tables/imports.ts';

/** The providers with buyers that are kept no longer, without those that are being deleted. */
export const findDue = {
  name: 'providers_of_due_erasures',
  text: `select p.provider_id as id from provider_state p
    where exists (select from orders o where o.provider_id = p.provider_id and o.kept_until <= now())
      or exists (select from customers c where c.provider_id = p.provider_id and c.kept_until <= now())
    order by 1`,
};

const findKeptOf = (table: string) =>
  `to_json(array(select id from ${table} where provider_id = $1 and kept_until <= now() order by kept_until limit 1000))`;
/** Buyers that are kept no longer, and the version of the school. */
export const findKept = {
  name: 'find_kept_no_longer',
  text: `select ${findKeptOf('orders')} as orders, ${findKeptOf('customers')} as customers, changed_at::text as since
    from provider_state where provider_id = $1`,
};

const listed = `jsonb_to_recordset($1) l (provider bigint, "user" bigint, created_at timestamptz, erased_at timestamptz,
    orders_kept boolean)`;
/** The persons of a list that are not erased since; those of a provider that is being deleted go with it. */
export const findListed = {
  name: 'find_listed_persons',
  text: `select u.provider_id as "providerId", u.id as "userId" from ${listed}
      join course_users u on u.provider_id = l.provider and u.id = l."user" and u.created_at = l.created_at
      join provider_state s on s.provider_id = u.provider_id
    where u.erased_at is null or u.erased_at < l.erased_at group by 1, 2 order by 1, 2`,
};
export const rememberListed = {
  name: 'remember_listed_erasures',
  text: `insert into erasures (provider_id, user_id, created_at, erased_at, orders_kept)
    select distinct l.provider, l."user", l.created_at, l.erased_at, coalesce(l.orders_kept, false) from ${listed}
    where not exists (select from erasures e where e.provider_id = l.provider
      and e.user_id is not distinct from l."user" and e.created_at = l.created_at and e.erased_at = l.erased_at)`,
};

// `$1` is the provider, `$2` the course user.

export const deleteSignOnFailures = {
  name: 'erase_sign_on_failures',
  text: `delete from sign_on_failures where provider_id = $1
    and username_hash = (select ${usernameHashSql('username')} from course_users where provider_id = $1 and id = $2)`,
};
/** The person, and the orders `$3`: ids, and the e-mail and the names as whole texts. */
const searchedSql = `with person as (
      select ${caseFoldedSql("nullif(email, '')")} as email, ${caseFoldedSql("nullif(firstname, '')")} as firstname,
        ${caseFoldedSql("nullif(lastname, '')")} as lastname
      from course_users where provider_id = $1 and id = $2),
    texts as (select array[email, firstname || ' ' || lastname] as whole, array[firstname] as first, array[lastname] as last
      from person union all select '{}', '{}', '{}' limit 1),
    own as (select jsonb_build_object('id', $2::bigint, 'orders', to_jsonb($3::bigint[]), 'bookings',
      (select coalesce(jsonb_agg(b.id order by b.id), '[]') from bookings b where b.provider_id = $1 and b.order_id = any($3)),
      'whole', array_remove(whole, null), 'first', array_remove(first, null), 'last', array_remove(last, null)) as searched
      from texts)`;
const isAnswerAbout = `jsonb_path_exists(${caseFoldedSql('r.answer::text')}::jsonb, '${aboutItem('courseuser')}
        || @.booking_id == $bookings[*] || @.order_id == $orders[*] || @.id == $orders[*] && exists(@.booker)
        || @ == $whole[*] || @.firstname == $first[*] && @.lastname == $last[*])', own.searched)`;
export const findAnswers = {
  name: 'find_answers_about_erased',
  text: `${searchedSql}
    select own.searched::text, array(select r.key_hash from idempotency_records r
      where r.provider_id = $1 and r.has_course_user and ${isAnswerAbout}) as keys from own`,
};
/**
 * Empties stored answers about the person or the orders; the key stays, so that no repeated request is carried out again. Of
 * those before `$5` the found ones `$6`, if `$4` was searched then.
 */
export const emptyAnswers = {
  name: 'erase_answers',
  text: `${searchedSql}
    update idempotency_records r set answer = 'null' from own where r.provider_id = $1 and r.has_course_user
      and case when own.searched::text is distinct from $4 or r.created_at > $5 then ${isAnswerAbout}
        else r.key_hash in (select unnest($6::text[])) end`,
};
/** The lines of an import that broke off: one in progress has the lock, and deletes its lines at its end. */
export const deleteStagedLines = {
  name: 'erase_staged_lines',
  text: `with lock as materialized (select pg_try_advisory_xact_lock(${importLockSql('$1')}) as is_taken)
    delete from staged_lines using lock where provider_id = $1 and is_taken`,
};
