import { usernameHashSql } from '../../database/tables/access.ts';
import { caseFoldedSql } from '../../database/tables/columns.ts';
import { aboutItem } from '../../database/tables/idempotency.ts';
import { importLockSql } from '../../database/tables/imports.ts';

// `$1` is the provider, `$2` the course user.

export const deleteSignOnFailures = {
  name: 'erase_sign_on_failures',
  text: `delete from sign_on_failures where provider_id = $1
    and username_hash = (select ${usernameHashSql('username')} from course_users where provider_id = $1 and id = $2)`,
};
/**
 * Empties stored answers about the person or the orders `$3`, by ids, or with the e-mail or the names as whole texts. The
 * key stays, so that no repeated request is carried out again.
 */
export const emptyAnswers = {
  name: 'erase_answers',
  text: `with person as (
      select ${caseFoldedSql("nullif(email, '')")} as email, ${caseFoldedSql("nullif(firstname, '')")} as firstname,
        ${caseFoldedSql("nullif(lastname, '')")} as lastname
      from course_users where provider_id = $1 and id = $2),
    texts as (select array[email, firstname || ' ' || lastname] as whole, array[firstname] as first, array[lastname] as last
      from person union all select '{}', '{}', '{}' limit 1),
    own as (select jsonb_build_object('id', $2::bigint, 'orders', to_jsonb($3::bigint[]), 'bookings',
      (select coalesce(jsonb_agg(b.id), '[]') from bookings b where b.provider_id = $1 and b.order_id = any($3)),
      'whole', array_remove(whole, null), 'first', array_remove(first, null), 'last', array_remove(last, null)) as ids
      from texts)
    update idempotency_records r set answer = 'null' from own where r.provider_id = $1 and r.has_course_user
      and jsonb_path_exists(${caseFoldedSql('r.answer::text')}::jsonb, '${aboutItem('courseuser')}
        || @.booking_id == $bookings[*] || @.order_id == $orders[*] || @.id == $orders[*] && exists(@.booker)
        || @ == $whole[*] || @.firstname == $first[*] && @.lastname == $last[*])', own.ids)`,
};
/** The lines of an import that broke off: one in progress has the lock, and deletes its lines at its end. */
export const deleteStagedLines = {
  name: 'erase_staged_lines',
  text: `with lock as materialized (select pg_try_advisory_xact_lock(${importLockSql('$1')}) as is_taken)
    delete from staged_lines using lock where provider_id = $1 and is_taken`,
};
