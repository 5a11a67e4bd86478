import { caseFoldedSql } from '../../database/tables/columns.ts';

/**
 * Joins the course user with these values, case ignored, as the first one at or after them in index order: without
 * statistics the planner would scan all rows for an equality.
 */
function joinUser(alias: string, columns: string[], values: string[]) {
  const indexed = columns.map((column) => caseFoldedSql(`u.${column}`)).join(', ');
  const expected = values.map(caseFoldedSql).join(', ');
  return `left join lateral (select u.id, (${indexed}) = (${expected}) as found from course_users u
        where u.provider_id = $1 and (${indexed}) >= (${expected}) order by ${indexed} limit 1) ${alias} on ${alias}.found`;
}

const persons = 'json_to_recordset($2) p (place int, email text, firstname text, lastname text)';

/** For each person, in their order, the course user with that e-mail and name, and whether the e-mail is taken. */
export const findPersons = {
  name: 'find_persons',
  text: `select known.id, coalesce(owner.id, namesake.id) is not null as taken
    from ${persons}
      ${joinUser('known', ['email', 'lastname', 'firstname'], ['p.email', 'p.lastname', 'p.firstname'])}
      ${joinUser('owner', ['email'], ['p.email'])}
      ${joinUser('namesake', ['username'], ['p.email'])}
    order by p.place`,
};
export type PersonFound = { id: number | null; taken: boolean };

/** For each person the first `candidates` numbers that make a free username of e-mail and name. */
export const findNumbers = {
  name: 'find_numbers',
  // A series in a select list stops at the limit; the planner takes it for short, not knowing its end.
  text: `select array(select n.number from (select generate_series(1, (select 2147483647)) as number) n
        ${joinUser('holder', ['username'], ["concat_ws('_', p.email, p.firstname, p.lastname, nullif(n.number, 1))"])}
        where holder.id is null limit p.candidates) as numbers
    from json_to_recordset($2) p (place int, email text, firstname text, lastname text, candidates int) order by p.place`,
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
