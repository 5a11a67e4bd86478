import { usernameHashSql } from '../../database/tables/access.ts';
import { caseFoldedSql } from '../../database/tables/columns.ts';

const foldedName = caseFoldedSql('$2');
const hashed = usernameHashSql('$2');
const window = "interval '15 minutes'";
/** Longer than any attempt; an older pending one is of a process that died. */
const maxDuration = "interval '30 seconds'";

const isExpired = `f.window_started_at <= now() - ${window}`;
const failed = `(case when ${isExpired} then 0 else f.failures end)`;
const pending = `(case when f.attempted_at <= now() - ${maxDuration} then 0 else f.pending end)`;
const isUser = `provider_id = $1 and username_hash = ${hashed}`;

/** Begins an attempt; no row if ten have failed in the window or are pending. */
export const beginAttempt = {
  name: 'begin_sign_on',
  text: `insert into sign_on_failures as f (provider_id, username_hash, window_started_at, failures, pending, attempted_at)
    values ($1, ${hashed}, now(), 0, 1, now())
    on conflict (provider_id, username_hash) do update set
      window_started_at = case when ${isExpired} then now() else f.window_started_at end,
      failures = ${failed}, pending = ${pending} + 1, attempted_at = now()
    where ${failed} + ${pending} < 10
    returning true as begun`,
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
export const failAttempt = {
  name: 'fail_sign_on',
  text: `update sign_on_failures f set pending = greatest(0, pending - 1), failures = ${failed} + 1,
      window_started_at = case when ${failed} = 0 then now() else window_started_at end
    where ${isUser}`,
};

export const findByUsername = {
  name: 'find_user_by_username',
  text: `select id, password_hash as "passwordHash", firstname, lastname, email from course_users
    where provider_id = $1 and ${caseFoldedSql('username')} = ${foldedName}`,
};
