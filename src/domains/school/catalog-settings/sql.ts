/** Names of a list that are other schools'. */
export const findForeignNames = {
  name: 'find_foreign_catalog_names',
  text: 'select name from catalog_names where provider_id <> $1 and name = any($2)',
};

/** No row if the name is another school's. Waits for a transaction that reserves the same name. */
export const reserveName = {
  name: 'reserve_catalog_name',
  text: `insert into catalog_names (name, provider_id, created_at) values ($2, $1, $3)
    on conflict (name) do update set created_at = excluded.created_at where catalog_names.provider_id = $1
    returning true as reserved`,
};

/** Deletes host names but the current one, and slugs but the newest $3. A slug has no dot. */
export const releaseNames = {
  name: 'release_catalog_names',
  text: `delete from catalog_names where provider_id = $1 and name in (
    select name from catalog_names where provider_id = $1 and name like '%.%' and name is distinct from $2
    union all
    (select name from catalog_names where provider_id = $1 and name not like '%.%'
      order by created_at desc, name offset $3))`,
};
