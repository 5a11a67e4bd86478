/** The providers with buyers that are kept no longer, without those that are being deleted. */
export const findDue = {
  name: 'providers_of_due_erasures',
  text: `select p.provider_id as id from provider_state p
    where exists (select from orders o where o.provider_id = p.provider_id and o.kept_until <= now())
      or exists (select from customers c where c.provider_id = p.provider_id and c.kept_until <= now())
    order by 1`,
};

const findKeptOf = (table: string) =>
  `to_json(array(select id from ${table} where provider_id = $1 and kept_until <= now() order by kept_until limit 1000))`;
/** Buyers that are kept no longer, and the version of the school. */
export const findKept = {
  name: 'find_kept_no_longer',
  text: `select ${findKeptOf('orders')} as orders, ${findKeptOf('customers')} as customers, changed_at::text as since
    from provider_state where provider_id = $1`,
};

const listed = `jsonb_to_recordset($1) l (provider bigint, "user" bigint, created_at timestamptz, erased_at timestamptz,
    orders_kept boolean)`;
/** The persons of a list that are not erased since; those of a provider that is being deleted go with it. */
export const findListed = {
  name: 'find_listed_persons',
  text: `select u.provider_id as "providerId", u.id as "userId" from ${listed}
      join course_users u on u.provider_id = l.provider and u.id = l."user" and u.created_at = l.created_at
      join provider_state s on s.provider_id = u.provider_id
    where u.erased_at is null or u.erased_at < l.erased_at group by 1, 2 order by 1, 2`,
};
export const rememberListed = {
  name: 'remember_listed_erasures',
  text: `insert into erasures (provider_id, user_id, created_at, erased_at, orders_kept)
    select distinct l.provider, l."user", l.created_at, l.erased_at, coalesce(l.orders_kept, false) from ${listed}
    where not exists (select from erasures e where e.provider_id = l.provider
      and e.user_id is not distinct from l."user" and e.created_at = l.created_at and e.erased_at = l.erased_at)`,
};
