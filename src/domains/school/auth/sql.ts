import { usernameHashSql } from '../../../database/tables/access.ts';
import { hasLinkSql, caseFoldedSql, foldedSql } from '../../../database/tables/columns.ts';

/**
 * A token of a provider ($1) by hash ($2) and purpose ($3), not used and not expired; the provider is open, and its admin
 * user is not detached.
 */
const isUsable = `provider_id = $1 and ${hasLinkSql('hash', '$2')} and purpose = $3 and used_at is null and expires_at > now()
  and exists (select from providers p where p.id = $1 and p.closed_at is null)
  and not exists (select from admin_memberships m
    where m.provider_id = $1 and m.admin_user_id = tokens.admin_user_id and m.detached_at is not null)`;
const ownerColumns = 'provider_id as "providerId", user_id as "userId", admin_user_id as "adminUserId"';

/** Marks a token as used; only one of several concurrent requests gets the row. */
const consumeToken = `update tokens set used_at = now() where ${isUsable} returning ${ownerColumns}`;

const tokenColumns = '(provider_id, hash, purpose, user_id, admin_user_id, mail_id, created_at, expires_at)';

/** The tokens of all attempts of a mail are one row; none once one of them is used. */
export const storeToken = {
  name: 'store_token',
  text: `insert into tokens as t ${tokenColumns}
    values ($1, $2, $3, $4, $5, $6, now(), now() + $7::interval)
    on conflict (provider_id, mail_id) do update set hash = excluded.hash, earlier_hashes = t.earlier_hashes || t.hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at where t.used_at is null
    returning true as stored`,
};

/** For a user whose password was just verified; no row if it has changed. `for share` blocks a concurrent change. */
export const storeSignInToken = {
  name: 'store_sign_in_token',
  text: `insert into tokens ${tokenColumns}
    select provider_id, $3, 'sign_in', id, null, null, now(), now() + $5::interval
    from course_users where provider_id = $1 and id = $2 and password_hash = $4 for share
    returning true as stored`,
};

export const findToken = { name: 'find_token', text: `select ${ownerColumns} from tokens where ${isUsable}` };
export const spendToken = { name: 'spend_token', text: consumeToken };

export const voidTokensOfAdminUser = {
  name: 'invalidate_admin_tokens',
  text: 'update tokens set used_at = now() where provider_id = $1 and admin_user_id = $2 and used_at is null',
};

export const voidTokensOfUser = {
  name: 'invalidate_tokens',
  text: 'update tokens set used_at = now() where provider_id = $1 and user_id = $2 and used_at is null',
};

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

const sessionColumns = '(provider_id, user_id, hash, created_at, used_at, expires_at)';
const auditColumns = '(provider_id, at, actor, actor_id, action, item_ids)';
const times = "now(), now(), now() + interval '12 hours'";

export const startSession = {
  name: 'start_session',
  text: `insert into sessions ${sessionColumns} values ($1, $2, $3, ${times})`,
};

/** Consumes a token ($1, $2, $3), starts a session with the hash $4 and records the action $5. */
export const startSessionByToken = {
  name: 'start_session_by_token',
  text: `with owner as (${consumeToken}),
    started as (insert into sessions ${sessionColumns} select "providerId", "userId", $4, ${times} from owner)
    insert into audit_entries ${auditColumns}
      select "providerId", now(), 'course_user', "userId", $5, array["userId"] from owner
    returning true as started`,
};

/** Records an action $4 with a sign-in token that exists but is not usable. */
export const recordUnusableToken = {
  name: 'record_unusable_token',
  text: `insert into audit_entries ${auditColumns}
    select provider_id, now(), 'course_user', user_id, $4, array[user_id] from tokens
    where provider_id = $1 and hash = $2 and purpose = $3 and user_id is not null`,
};

/** A session ends an hour after its last use. */
const isActive = "expires_at > now() and used_at > now() - interval '1 hour'";
export const findSession = {
  name: 'find_session',
  text: `select provider_id as "providerId", user_id as "userId", used_at < now() - interval '1 minute' as "isStale"
    from sessions where provider_id = $1 and hash = $2 and ${isActive}
      and exists (select from providers p where p.id = $1 and p.closed_at is null)`,
};
export const touchSession = {
  name: 'touch_session',
  text: 'update sessions set used_at = now() where provider_id = $1 and hash = $2',
};
/** The beginning of the hash names a session to its user. */
const shortHash = 'left(hash, 16)';

/** The active sessions of a user ($2); `$3` is the hash of the current one. */
export const listSessions = {
  name: 'list_sessions',
  text: `select ${shortHash} as id, created_at::text as "createdAt", used_at::text as "usedAt", hash = $3 as "isCurrent"
    from sessions where provider_id = $1 and user_id = $2 and ${isActive}
    order by hash = $3 desc, used_at desc, hash limit 100`,
};
/** Deletes sessions of a user ($2) but the current one ($3): those with the ids $4, or all; records the action $5. */
export const deleteOtherSessions = {
  name: 'delete_other_sessions',
  text: `with ended as (
      delete from sessions
      where provider_id = $1 and user_id = $2 and hash <> $3 and ($4::text[] is null or ${shortHash} = any($4))
      returning hash),
    recorded as (
      insert into audit_entries ${auditColumns}
      select $1::bigint, now(), 'course_user', $2::bigint, $5, array[$2::bigint] where exists (select from ended))
    select count(*) as count from ended`,
};
export const deleteSession = {
  name: 'delete_session',
  text: 'delete from sessions where provider_id = $1 and hash = $2',
};
export const deleteSessions = {
  name: 'delete_sessions',
  text: 'delete from sessions where provider_id = $1 and user_id = $2',
};
