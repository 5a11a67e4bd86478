import { consumeToken } from './token-serializer.ts';

const columns = '(provider_id, user_id, hash, created_at, used_at, expires_at)';
const times = "now(), now(), now() + interval '12 hours'";

export const startSession = {
  name: 'start_session',
  text: `insert into sessions ${columns} values ($1, $2, $3, ${times})`,
};

/** Replaces the browser's last session ($4) by a new one ($3) of a token's owner ($1, $2). */
export const startSessionByToken = {
  name: 'start_session_by_token',
  text: `with owner as (${consumeToken}),
    ended as (delete from sessions where hash = $4 and exists (select from owner))
    insert into sessions ${columns} select "providerId", "userId", $3, ${times} from owner
    returning true as started`,
};

/** A session ends an hour after its last use. */
export const findSession = {
  name: 'find_session',
  text: `select provider_id as "providerId", user_id as "userId", used_at < now() - interval '1 minute' as "isStale"
    from sessions where hash = $1 and expires_at > now() and used_at > now() - interval '1 hour'
      and exists (select from providers p where p.id = provider_id and p.closed_at is null)`,
};
export const touchSession = {
  name: 'touch_session',
  text: 'update sessions set used_at = now() where provider_id = $1 and hash = $2',
};
export const deleteSession = { name: 'delete_session', text: 'delete from sessions where hash = $1' };
export const deleteSessions = {
  name: 'delete_sessions',
  text: 'delete from sessions where provider_id = $1 and user_id = $2',
};
