/** Deletes up to `$2` of the oldest events that are older than `$1` days, but never the newest one of a provider. */
export const deleteOldEvents = {
  name: 'delete_old_events',
  text: `with old as (
      select e.provider_id, e.id
      from providers p
        cross join lateral (
          select coalesce(
            (select min(id) from events where provider_id = p.id and at >= now() - $1 * interval '1 day'),
            (select max(id) from events where provider_id = p.id)) as id) oldest_left
        cross join lateral (
          select provider_id, id from events where provider_id = p.id and id < oldest_left.id order by id limit $2) e
      limit $2)
    delete from events e using old where e.provider_id = old.provider_id and e.id = old.id returning e.id`,
};
