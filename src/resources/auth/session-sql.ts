import { spend } from './token-serializer.ts';

/** Those that have ended are cleared away by the way. */
const clearing = `gone as (delete from sessions where hash in
      (select hash from sessions where expires_at < now() limit 100 for update skip locked))`;
const columns = '(provider_id, user_id, hash, created_at, used_at, expires_at)';
/** Twelve hours at most. */
const times = "now(), now(), now() + interval '12 hours'";

export const startSession = {
  name: 'start_session',
  text: `with ${clearing} insert into sessions ${columns} values ($1, $2, $3, ${times})`,
};

/** A token of `$1` and `$2` becomes the session `$3`, and the browser's last, `$4`, ends: all of it or nothing. */
export const startSessionByToken = {
  name: 'start_session_by_token',
  text: `with owner as (${spend}),
    ended as (delete from sessions where hash = $4 and exists (select from owner)),
    ${clearing}
    insert into sessions ${columns} select "providerId", "userId", $3, ${times} from owner
    returning true as started`,
};

/** An hour after its last use it has ended. */
export const findSession = {
  name: 'find_session',
  text: `select provider_id as "providerId", user_id as "userId", used_at < now() - interval '1 minute' as "isStale"
    from sessions where hash = $1 and expires_at > now() and used_at > now() - interval '1 hour'
      and exists (select from providers p where p.id = provider_id and p.closed_at is null)`,
};
export const touchSession = { name: 'touch_session', text: 'update sessions set used_at = now() where hash = $1' };
export const deleteSession = { name: 'drop_session', text: 'delete from sessions where hash = $1' };
export const deleteSessions = {
  name: 'drop_sessions',
  text: 'delete from sessions where provider_id = $1 and user_id = $2',
};
