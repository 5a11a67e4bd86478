/** Newest first. */
export const listEntries = {
  name: 'list_audit_entries',
  text: `select id as entry_id, at::text, provider_id, actor, actor_id, action, to_json(item_ids) as item_ids
    from audit_entries
    where ($1::bigint is null or provider_id = $1) and ($2::timestamptz is null or at >= $2)
    order by id desc limit $3`,
};

/** Deletes those of the oldest `$1` entries that are older than a year, so it is cheap if there are none. */
export const clearEntries = {
  name: 'clear_audit_entries',
  text: `delete from audit_entries where id in (
      select id from (select id, at from audit_entries order by id limit $1) oldest where at < now() - interval '1 year')
    returning id`,
};
