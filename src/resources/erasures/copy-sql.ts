import { usernameHashSql } from '../../database/tables/access.ts';
import { aboutItem } from '../../database/tables/idempotency.ts';
import { importLockSql } from '../../database/tables/imports.ts';

// `$1` is the provider, `$2` the course user.

export const deleteSignOnFailures = {
  name: 'erase_sign_on_failures',
  text: `delete from sign_on_failures where provider_id = $1
    and username_hash = (select ${usernameHashSql('username')} from course_users where provider_id = $1 and id = $2)`,
};
/** SQL: true if a whole text of an answer is equal, without regard to case: "Per" is no part of "Person". */
const isIn = (text: string) => `strpos(lower(r.answer::text), to_jsonb(lower(${text}))::text) > 0`;
/** Stored answers about the person or the orders `$3`, by ids, or with the e-mail or the name; others keep their effect. */
export const deleteAnswers = {
  name: 'erase_answers',
  text: `with person as (select email, nullif(concat_ws(' ', firstname, lastname), '') as name
      from course_users where provider_id = $1 and id = $2),
    own as (select jsonb_build_object('id', $2::bigint, 'orders', to_jsonb($3::bigint[]), 'bookings',
      (select coalesce(jsonb_agg(b.id), '[]') from bookings b where b.provider_id = $1 and b.order_id = any($3))) as ids)
    delete from idempotency_records r using own where r.provider_id = $1 and r.has_course_user
      and (jsonb_path_exists(r.answer, '${aboutItem('courseuser')} || @.booking_id == $bookings[*] || @.order_id == $orders[*]
          || @.id == $orders[*] && exists(@.booker))', own.ids)
        or exists (select from person where email <> '' and ${isIn('email')} or ${isIn('name')}))`,
};
/** The lines of an import that broke off: one in progress has the lock, and deletes its lines at its end. */
export const deleteStagedLines = {
  name: 'erase_staged_lines',
  text: `with lock as materialized (select pg_try_advisory_xact_lock(${importLockSql('$1')}) as is_taken)
    delete from staged_lines using lock where provider_id = $1 and is_taken`,
};
