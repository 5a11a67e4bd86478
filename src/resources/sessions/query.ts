/** Twelve hours at most; those that have ended are cleared away by the way. */
export const startSession = {
  name: 'start_session',
  text: `with gone as (delete from sessions where hash in
      (select hash from sessions where expires_at < now() limit 100 for update skip locked))
    insert into sessions (provider_id, user_id, hash, created_at, used_at, expires_at)
    values ($1, $2, $3, now(), now(), now() + interval '12 hours')`,
};

/** An hour after its last use it has ended. */
export const findSession = {
  name: 'find_session',
  text: `select provider_id as "providerId", user_id as "userId", used_at < now() - interval '1 minute' as "isStale"
    from sessions where hash = $1 and expires_at > now() and used_at > now() - interval '1 hour'`,
};
export const touchSession = { name: 'touch_session', text: 'update sessions set used_at = now() where hash = $1' };
export const dropSession = { name: 'drop_session', text: 'delete from sessions where hash = $1' };
export const dropSessions = {
  name: 'drop_sessions',
  text: 'delete from sessions where provider_id = $1 and user_id = $2',
};
