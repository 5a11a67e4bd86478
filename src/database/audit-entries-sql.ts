import { sharedDataProviderId } from './tables/audit.ts';

/** Newest first. */
export const listEntries = {
  name: 'list_audit_entries',
  text: `select id as entry_id, at::text, nullif(provider_id, ${sharedDataProviderId}) as provider_id, actor, actor_id, action, to_json(item_ids) as item_ids
    from audit_entries
    where ($1::bigint is null or provider_id = $1) and ($2::timestamptz is null or at >= $2)
    order by id desc limit $3`,
};
