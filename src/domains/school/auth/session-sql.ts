import { consumeToken } from './token-sql.ts';

const columns = '(provider_id, user_id, hash, created_at, used_at, expires_at)';
const auditColumns = '(provider_id, at, actor, actor_id, action, item_ids)';
const times = "now(), now(), now() + interval '12 hours'";

export const startSession = {
  name: 'start_session',
  text: `insert into sessions ${columns} values ($1, $2, $3, ${times})`,
};

/** Consumes a token ($1, $2, $3), starts a session with the hash $4 and records the action $5. */
export const startSessionByToken = {
  name: 'start_session_by_token',
  text: `with owner as (${consumeToken}),
    started as (insert into sessions ${columns} select "providerId", "userId", $4, ${times} from owner)
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
