/** A mail that is sent again replaces its token; those that ended a day ago are cleared away by the way. */
export const keepToken = {
  name: 'keep_token',
  text: `with gone as (delete from tokens where hash in
      (select hash from tokens where expires_at < now() - interval '1 day' limit 100 for update skip locked))
    insert into tokens (provider_id, hash, purpose, user_id, admin_user_id, mail_id, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, now(), now() + $7::interval)
    on conflict (mail_id) do update set hash = excluded.hash, created_at = excluded.created_at,
      expires_at = excluded.expires_at, used_at = null`,
};

const valid = 'hash = $1 and purpose = $2 and used_at is null and expires_at > now()';
const person = 'provider_id as "providerId", user_id as "userId", admin_user_id as "adminUserId"';

export const findToken = { name: 'find_token', text: `select ${person} from tokens where ${valid}` };
/** Of several who come at once, one gets the row. */
export const spendToken = {
  name: 'spend_token',
  text: `update tokens set used_at = now() where ${valid} returning ${person}`,
};

export const voidTokensOfUser = {
  name: 'void_tokens',
  text: 'update tokens set used_at = now() where provider_id = $1 and user_id = $2 and used_at is null',
};
