import type { Database } from '../../database/client.ts';
import { caseFoldedSql, foldedSql } from '../../database/tables/columns.ts';
import type { BadLine } from './staging.ts';

/** A longer series of equal names needs usernames in the file. */
const maxRounds = 100;

const text = (name: string) => `coalesce(r.data->>'${name}', '')`;
const email = caseFoldedSql(text('email'));
const [firstname, lastname] = [foldedSql(text('firstname')), foldedSql(text('lastname'))];

/** Lines of users without a username, and with one. */
const unnamed = `r.provider_id = $1 and r.kind = 'user' and r.part = 0 and r.bad is not true and r.unique_text is null`;
const named = `from staged_lines s
      where s.provider_id = $1 and s.kind = 'user' and s.part = 0 and s.unique_text is not null`;

/** Lines without a username that are of the same person as a user (`first` is null) or an earlier line. */
const samePersons = `
  select r.line, null::int as first from staged_lines r where ${unnamed} and exists (
    select from course_users u where u.provider_id = $1
      and (${caseFoldedSql('u.email')}, ${foldedSql('u.lastname')}, ${foldedSql('u.firstname')})
        = (${email}, ${lastname}, ${firstname}))
  union all
  select line, first from (
    select r.line, r.unique_text, min(r.line) over person as first, row_number() over person as nth
    from staged_lines r where r.provider_id = $1 and r.kind = 'user' and r.part = 0 and r.bad is not true
    window person as (partition by ${email}, ${firstname}, ${lastname} order by r.line)
  ) l where nth > 1 and unique_text is null`;

/** Each line with an e-mail that no user, no username and no line before it has: the e-mail is its username. */
const ownEmails = `
  select line, data->>'email' as username from (
    select r.line, r.data, ${email} as folded, row_number() over (partition by ${email} order by r.line) as nth
    from staged_lines r where ${unnamed}
  ) l where nth = 1
    and not exists (select from course_users u where u.provider_id = $1 and ${caseFoldedSql('u.email')} = l.folded)
    and not exists (select from course_users u where u.provider_id = $1 and ${caseFoldedSql('u.username')} = l.folded)
    and not exists (select ${named} and ${caseFoldedSql('s.unique_text')} = l.folded)
    and not exists (select ${named} and ${caseFoldedSql("s.data->>'email'")} = l.folded and s.line < l.line)`;

/** Names the first of the lines with an equal e-mail and person, with the number of the round from 2 on. */
const numberedNames = `
  select distinct on (candidate) line, candidate as username from (
    select r.line, concat_ws('_', ${foldedSql(text('email'))}, nullif(${firstname}, ''), nullif(${lastname}, ''),
        nullif($2::int, 1)) as candidate
    from staged_lines r where ${unnamed}
  ) l
  where not exists (select from course_users u where u.provider_id = $1 and ${foldedSql('u.username')} = candidate)
    and not exists (select ${named} and ${foldedSql('s.unique_text')} = candidate)
  order by candidate, line`;

const assign = (names: string) => `
  update staged_lines r set unique_text = n.username, data = r.data || jsonb_build_object('username', n.username)
  from (${names}) n where r.provider_id = $1 and r.line = n.line and r.part = 0`;

/**
 * Gives users without a username one by the rule of booking: the e-mail, or if another user has that,
 * `<e-mail>_<first>_<last>` folded, with a number from 2 on if that is taken. Returns the lines without one:
 * booking would take them for another user or line.
 */
export async function assignUsernames({ pool }: Database, providerId: number): Promise<BadLine[]> {
  const same = await pool.query<{ line: number; first: number | null }>(samePersons, [providerId]);
  const bad = new Map(
    same.rows.map(({ line, first }) => [
      line,
      `${first === null ? 'Another user' : `Line ${first}`} has the same email and name; for another person set username`,
    ]),
  );
  await pool.query(assign(ownEmails), [providerId]);
  const findUnnamed = () =>
    pool.query<{ line: number }>(`select line from staged_lines r where ${unnamed}`, [providerId]);
  let left = await findUnnamed();
  for (let round = 1; left.rows.length > 0 && round <= maxRounds; round += 1) {
    await pool.query(assign(numberedNames), [providerId, round]);
    left = await findUnnamed();
  }
  for (const { line } of left.rows)
    if (!bad.has(line)) bad.set(line, `${maxRounds} users have this email and name; set username`);
  return [...bad].map(([line, reason]) => ({ line, reason }));
}
