import { hasLinkSql } from '../../../database/tables/columns.ts';

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
export const consumeToken = `update tokens set used_at = now() where ${isUsable} returning ${ownerColumns}`;

const columns = '(provider_id, hash, purpose, user_id, admin_user_id, mail_id, created_at, expires_at)';

/** The tokens of all attempts of a mail are one row; none once one of them is used. */
export const storeToken = {
  name: 'store_token',
  text: `insert into tokens as t ${columns}
    values ($1, $2, $3, $4, $5, $6, now(), now() + $7::interval)
    on conflict (provider_id, mail_id) do update set hash = excluded.hash, earlier_hashes = t.earlier_hashes || t.hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at where t.used_at is null
    returning true as stored`,
};

/** For a user whose password was just verified; no row if it has changed. `for share` blocks a concurrent change. */
export const storeSignInToken = {
  name: 'store_sign_in_token',
  text: `insert into tokens ${columns}
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
