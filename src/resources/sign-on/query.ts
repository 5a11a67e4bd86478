import { foldedSql } from '../../database/tables/columns.ts';

/** Of one spelling, as usernames are compared. */
const name = foldedSql('$2');
const hashed = `encode(sha256(convert_to(${name}, 'UTF8')), 'hex')`;
const window = "interval '15 minutes'";

/**
 * Counts an attempt, unless ten of the window have failed: no row then. Windows that are over, of whatever names, are
 * cleared away by the way.
 */
export const countAttempt = {
  name: 'count_sign_on',
  text: `with gone as (delete from sign_on_failures where (provider_id, username_hash) in
      (select provider_id, username_hash from sign_on_failures
        where provider_id = $1 and window_started_at <= now() - ${window} and username_hash <> ${hashed}
        limit 100 for update skip locked))
    insert into sign_on_failures as f (provider_id, username_hash, window_started_at, failures) values ($1, ${hashed}, now(), 1)
    on conflict (provider_id, username_hash) do update set
      window_started_at = case when f.window_started_at <= now() - ${window} then now() else f.window_started_at end,
      failures = case when f.window_started_at <= now() - ${window} then 1 else f.failures + 1 end
    where f.failures < 10 or f.window_started_at <= now() - ${window}
    returning window_started_at::text as "windowStartedAt"`,
};

/** How long the window lasts yet. */
export const readWindow = {
  name: 'read_sign_on_window',
  text: `select greatest(1, ceil(extract(epoch from window_started_at + ${window} - now())))::int as seconds
    from sign_on_failures where provider_id = $1 and username_hash = ${hashed}`,
};

/** It was no failure. */
export const takeBack = {
  name: 'take_back_sign_on',
  text: `update sign_on_failures set failures = failures - 1
    where provider_id = $1 and username_hash = ${hashed} and window_started_at = $3`,
};

export const findByUsername = {
  name: 'find_user_by_username',
  text: `select id, password_hash as "passwordHash", firstname, lastname, email from course_users
    where provider_id = $1 and ${foldedSql('username')} = ${name}`,
};
