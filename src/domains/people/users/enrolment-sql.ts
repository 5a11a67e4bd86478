import { statement, typed } from '../../../database/statement.ts';
import { caseFoldedSql, foldedSql } from '../../../database/tables/columns.ts';

// Text: the look-ups and inserts of bookings, with lateral joins and many rows.

/**
 * Joins the course user with these values in the columns of an index, among the first ones at or after them in its
 * order, the school included: without statistics the planner would read all rows of the school for an equality of any
 * column. Of several equal ones, the first by `rank`.
 */
function joinUser(alias: string, columns: string[], values: string[], rank?: string) {
  const [indexed, expected] = [columns.join(', '), values.join(', ')];
  return `left join lateral (select n.id from (
          select u.id, (u.provider_id, ${indexed}) = (:providerId, ${expected}) as found, ${rank ?? 'true'} as rank
          from course_users u where (u.provider_id, ${indexed}) >= (:providerId, ${expected})
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

/** Finds the course user with the e-mail and name of each person, in their order, and whether the e-mail is taken. */
export const findPersons = statement(
  'find_persons',
  {
    takes: { providerId: 'int', persons: { rows: { email: 'text', firstname: 'text', lastname: 'text' } } },
    returns: { id: 'int?', taken: 'bool' },
  },
  `select known.id, coalesce(owner.id, namesake.id) is not null as taken
    from :persons
      ${joinUser('known', toPerson('u'), toPerson('persons'), `${names('u')} <> ${names('persons')}`)}
      ${joinUser('owner', [caseFoldedSql('u.email')], [caseFoldedSql('persons.email')])}
      ${joinUser('namesake', [caseFoldedSql('u.username')], [caseFoldedSql('persons.email')])}
    order by persons.place`,
);

const foldedUsername = foldedSql('u.username');
/** Finds the first `candidates` numbers that make a free username of the e-mail and name of each person. */
export const findNumbers = statement(
  'find_numbers',
  {
    takes: {
      providerId: 'int',
      persons: { rows: { email: 'text', firstname: 'text', lastname: 'text', candidates: 'int' } },
    },
    returns: { numbers: typed<number[]>('json') },
  },
  // In the C collation `:` follows the digits.
  `select to_json(array(select generate_series(1, persons.candidates + cardinality(taken.numbers))
          except select unnest(taken.numbers) order by 1 limit persons.candidates)) as numbers
    from :persons
      cross join lateral (
        select ${foldedSql("concat_ws('_', persons.email, persons.firstname, persons.lastname)")} as name) base
      cross join lateral (select array(
        select coalesce(substr(used.ending, 2), '1')::int from (
          select nullif(substr(${foldedUsername}, length(base.name) + 1), '') as ending from course_users u
          where u.provider_id = :providerId and ${foldedUsername} >= base.name and ${foldedUsername} < base.name || '_:') used
        where used.ending is null or used.ending ~ '^_([2-9]|[1-9][0-9]{1,8})$') as numbers) taken
    order by persons.place`,
);

/** Inserts course users in the order of their places, so that their ids are in it, too. */
export const createUsers = statement(
  'create_users',
  {
    takes: {
      providerId: 'int',
      now: 'moment',
      customerId: 'int?',
      users: {
        rows: {
          username: 'text',
          email: 'text',
          firstname: 'text',
          lastname: 'text',
          phone: 'text?',
          company: 'text?',
          companyNumber: 'text?',
          position: 'text?',
          dateOfBirth: 'day?',
        },
      },
    },
    returns: { id: 'int' },
  },
  `insert into course_users (provider_id, created_at, updated_at, customer_id,
      username, email, firstname, lastname, phone, company, orgnr, position, date_of_birth)
    select :providerId, :now, :now, :customerId, username, email, firstname, lastname, phone, company, "companyNumber",
      position, "dateOfBirth"
    from :users
    order by place
    returning id`,
);

/** Inserts course users without a name; the random usernames cannot be guessed. */
export const createPlaceholders = statement(
  'create_placeholders',
  { takes: { providerId: 'int', now: 'moment', count: 'int' }, returns: { userId: 'int' } },
  `insert into course_users (provider_id, created_at, updated_at, username, is_placeholder)
    select :providerId, :now, :now, gen_random_uuid(), true from generate_series(1, :count) returning id as "userId"`,
);
