/** A token by its hash and its purpose, while it works. */
export const works = `hash = $1 and purpose = $2 and used_at is null and expires_at > now()
  and exists (select from providers p where p.id = provider_id and p.closed_at is null)`;
/** Whose it is. */
export const person = 'provider_id as "providerId", user_id as "userId", admin_user_id as "adminUserId"';

/** Uses it up. Of several who come at once, one gets the row. */
export const spend = `update tokens set used_at = now() where ${works} returning ${person}`;
