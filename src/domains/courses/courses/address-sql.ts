/** Claims addresses of courses that no other course has; in order, so that two imports cannot wait for each other. */
export const claimAddresses = {
  name: 'claim_addresses',
  text: `insert into catalog_addresses (address, provider_id, course_id)
    select coalesce(k.slug || '/', '') || c.slug, $1, c.id
    from unnest($2::bigint[], $3::text[]) c (id, slug)
      left join categories k on k.id = (
        select min(category_id) from course_categories where provider_id = $1 and course_id = c.id)
    order by 1, c.id
    on conflict (address) do nothing
    returning course_id as id`,
};
