/** A token by hash ($1) and purpose ($2), not used and not expired, of an open provider. */
export const isUsable = `hash = $1 and purpose = $2 and used_at is null and expires_at > now()
  and exists (select from providers p where p.id = provider_id and p.closed_at is null)`;
export const ownerColumns = 'provider_id as "providerId", user_id as "userId", admin_user_id as "adminUserId"';

/** Marks a token as used; only one of several concurrent requests gets the row. */
export const consumeToken = `update tokens set used_at = now() where ${isUsable} returning ${ownerColumns}`;
