import { consumeToken } from './token-serializer.ts';

const columns = '(provider_id, user_id, hash, created_at, used_at, expires_at)';
const times = "now(), now(), now() + interval '12 hours'";

export const startSession = {
  name: 'start_session',
  text: `insert into sessions ${columns} values ($1, $2, $3, ${times})`,
};

/** Consumes a token ($1, $2, $3) and starts a session with the hash $4. */
export const startSessionByToken = {
  name: 'start_session_by_token',
  text: `with owner as (${consumeToken})
    insert into sessions ${columns} select "providerId", "userId", $4, ${times} from owner
    returning true as started`,
};

/** For a session that does not name its provider. */
export const findProviderOfSession = {
  name: 'find_provider_of_session',
  text: 'select provider_id as "providerId" from sessions where hash = $1',
};
/** A session ends an hour after its last use. */
export const findSession = {
  name: 'find_session',
  text: `select provider_id as "providerId", user_id as "userId", used_at < now() - interval '1 minute' as "isStale"
    from sessions where provider_id = $1 and hash = $2 and expires_at > now() and used_at > now() - interval '1 hour'
      and exists (select from providers p where p.id = $1 and p.closed_at is null)`,
};
export const touchSession = {
  name: 'touch_session',
  text: 'update sessions set used_at = now() where provider_id = $1 and hash = $2',
};
export const deleteSession = {
  name: 'delete_session',
  text: 'delete from sessions where provider_id = $1 and hash = $2',
};
export const deleteSessions = {
  name: 'delete_sessions',
  text: 'delete from sessions where provider_id = $1 and user_id = $2',
};
