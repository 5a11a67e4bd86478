/**
 * Deletes up to `$2` of the oldest events whose next one is older than `$1` days too. The last event before that stays,
 * so that a client that has read everything can continue from it. Events from the position of an active webhook on stay
 * 5 days longer: one that fails is disabled within these.
 */
export const deleteOldEvents = {
  name: 'delete_old_events',
  text: `with old as (
      select p.id as provider_id, e.id
      from providers p
        cross join lateral (
          select id, lead(at) over (order by id) as next_at
          from (select id, at from events where provider_id = p.id order by id limit $2 + 1) oldest) e
      where (select at from events where provider_id = p.id order by id offset 1 limit 1) < now() - $1 * interval '1 day'
        and e.next_at < now() - $1 * interval '1 day'
        and e.id < (select coalesce(min(position), e.id + 1) from webhooks where provider_id = p.id and is_active
          and position_clock > extract(epoch from now() - ($1 + 5) * interval '1 day') * 1000000)
      limit $2)
    delete from events e using old where e.provider_id = old.provider_id and e.id = old.id returning e.id`,
};
