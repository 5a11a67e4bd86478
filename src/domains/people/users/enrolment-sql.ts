import { caseFoldedSql, foldedSql } from '../../../database/tables/columns.ts';

/**
 * Joins the course user with these values in the columns of an index, among the first ones at or after them in its
 * order, the school included: without statistics the planner would read all rows of the school for an equality of any
 * column. Of several equal ones, the first by `rank`.
 */
function joinUser(alias: string, columns: string[], values: string[], rank?: string) {
  const [indexed, expected] = [columns.join(', '), values.join(', ')];
  return `left join lateral (select n.id from (
          select u.id, (u.provider_id, ${indexed}) = ($1, ${expected}) as found, ${rank ?? 'true'} as rank
          from course_users u where (u.provider_id, ${indexed}) >= ($1, ${expected})
          order by u.provider_id, ${indexed} limit ${rank ? maxEqual : 1}) n
        where n.found order by n.rank, n.id limit 1) ${alias} on true`;
}
/** Persons with equal names, which an import with usernames may store. */
const maxEqual = 20;

/** Values that select a person. */
const toPerson = (alias: string) => [
  caseFoldedSql(`${alias}.email`),
  foldedSql(`${alias}.lastname`),
  foldedSql(`${alias}.firstname`),
];
const names = (alias: string) => `(${caseFoldedSql(`${alias}.lastname`)}, ${caseFoldedSql(`${alias}.firstname`)})`;

const persons = 'json_to_recordset($2) p (place int, email text, firstname text, lastname text)';

/** For each person, in their order, the course user with that e-mail and name, and whether the e-mail is taken. */
export const findPersons = {
  name: 'find_persons',
  text: `select known.id, coalesce(owner.id, namesake.id) is not null as taken
    from ${persons}
      ${joinUser('known', toPerson('u'), toPerson('p'), `${names('u')} <> ${names('p')}`)}
      ${joinUser('owner', [caseFoldedSql('u.email')], [caseFoldedSql('p.email')])}
      ${joinUser('namesake', [caseFoldedSql('u.username')], [caseFoldedSql('p.email')])}
    order by p.place`,
};
export type PersonFound = { id: number | null; taken: boolean };

const foldedUsername = foldedSql('u.username');
/** For each person the first `candidates` numbers that make a free username of e-mail and name. */
export const findNumbers = {
  name: 'find_numbers',
  // In the C collation `:` follows the digits.
  text: `select array(select generate_series(1, p.candidates + cardinality(taken.numbers))
          except select unnest(taken.numbers) order by 1 limit p.candidates) as numbers
    from json_to_recordset($2) p (place int, email text, firstname text, lastname text, candidates int)
      cross join lateral (select ${foldedSql("concat_ws('_', p.email, p.firstname, p.lastname)")} as name) base
      cross join lateral (select array(
        select coalesce(substr(used.ending, 2), '1')::int from (
          select nullif(substr(${foldedUsername}, length(base.name) + 1), '') as ending from course_users u
          where u.provider_id = $1 and ${foldedUsername} >= base.name and ${foldedUsername} < base.name || '_:') used
        where used.ending is null or used.ending ~ '^_([2-9]|[1-9][0-9]{1,8})$') as numbers) taken
    order by p.place`,
};

/** Inserts course users in the order of their places, so that their ids are in it, too. */
export const createUsers = {
  name: 'create_users',
  text: `insert into course_users (provider_id, created_at, updated_at, customer_id,
      username, email, firstname, lastname, phone, company, orgnr, position, date_of_birth)
    select $1, $2, $2, $3, username, email, firstname, lastname, phone, company, "companyNumber", position, "dateOfBirth"
    from json_to_recordset($4) u (place int, username text, email text, firstname text, lastname text, phone text,
      company text, "companyNumber" text, position text, "dateOfBirth" date)
    order by place
    returning id`,
};

/** Course users without a name; the random usernames cannot be guessed. */
export const createPlaceholders = {
  name: 'create_placeholders',
  text: `insert into course_users (provider_id, created_at, updated_at, username, is_placeholder)
    select $1, $2, $2, gen_random_uuid(), true from generate_series(1, $3) returning id as "userId"`,
};

/** Of a place that got a name. An import that continues finds the person. */
export const deletePlaceholder = {
  name: 'delete_placeholder',
  text: `with gone as (
      delete from course_users u where provider_id = $1 and id = $2 and is_placeholder
        and not exists (select from participants p where p.provider_id = $1 and p.user_id = $2)
        and not exists (select from outbox o where o.provider_id = $1 and o.user_id = $2)
      returning id),
    refs as (
      update import_refs r set item_id = $3 from gone where r.provider_id = $1 and r.kind = 'user' and r.item_id = gone.id)
    select id from gone`,
};

/** The interface does not show placeholders, so their events go. */
export const dropEvents = {
  name: 'drop_placeholder_events',
  text: `delete from events where provider_id = $1 and id >= first_event_id()
    and resource = 'courseuser' and resource_id = any($2::bigint[])`,
};
