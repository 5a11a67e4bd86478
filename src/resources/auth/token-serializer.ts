/** A token of a provider ($1) by hash ($2) and purpose ($3), not used and not expired; the provider is open. */
export const isUsable = `provider_id = $1 and hash = $2 and purpose = $3 and used_at is null and expires_at > now()
  and exists (select from providers p where p.id = $1 and p.closed_at is null)`;
export const ownerColumns = 'provider_id as "providerId", user_id as "userId", admin_user_id as "adminUserId"';

/** Marks a token as used; only one of several concurrent requests gets the row. */
export const consumeToken = `update tokens set used_at = now() where ${isUsable} returning ${ownerColumns}`;
