import { usernameHashSql } from '../../../database/tables/access.ts';
import { caseFoldedSql, foldedSql } from '../../../database/tables/columns.ts';

const hashed = usernameHashSql('$2');
/** Also in the functions begin_sign_on and fail_sign_on, with the limits of 10 failures and 30 seconds. */
const window = "interval '15 minutes'";
const isExpired = `f.window_started_at <= now() - ${window}`;
const failed = `(case when ${isExpired} then 0 else f.failures end)`;
const isUser = `provider_id = $1 and username_hash = ${hashed}`;

/** Begins an attempt; no row if ten have failed in the window or are pending. */
export const beginAttempt = {
  name: 'begin_sign_on',
  text: `select begun from begin_sign_on($1, ${hashed}) begun where begun`,
};

/** The seconds until the window ends if ten have failed; 1 if other attempts are pending. */
export const readWait = {
  name: 'read_sign_on_wait',
  text: `select ${failed} >= 10 as "haveFailed", case when ${failed} < 10 then 1
      else greatest(1, ceil(extract(epoch from window_started_at + ${window} - now())))::int end as seconds
    from sign_on_failures f where ${isUser}`,
};

export const endAttempt = {
  name: 'end_sign_on',
  text: `update sign_on_failures set pending = greatest(0, pending - 1) where ${isUser}`,
};

/** The first failure starts the window. */
export const failAttempt = { name: 'fail_sign_on', text: `select fail_sign_on($1, ${hashed})` };

/** Several usernames may be equal when folded: the case-equal one comes first. */
export const findByUsername = {
  name: 'find_user_by_username',
  text: `select id, password_hash as "passwordHash", firstname, lastname, email from course_users
    where provider_id = $1 and ${foldedSql('username')} = ${foldedSql('$2')} and erased_at is null
    order by ${caseFoldedSql('username')} <> ${caseFoldedSql('$2')}, id limit 1`,
};

/** Lifts the limit on a username, so that its user can sign in with the new password. */
export const forgetFailures = {
  name: 'delete_sign_on_failures',
  text: `delete from sign_on_failures where provider_id = $1
    and username_hash = (select ${usernameHashSql('username')} from course_users where provider_id = $1 and id = $2)`,
};
