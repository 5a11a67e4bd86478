import { getTableName, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { columnName, markedColumns } from '../../../src/database/tables/columns.ts';
import { findPurchases, findUser } from '../../../src/domains/records/erasures/person-service.ts';
import { entries } from '../../../src/domains/records/register/schema.ts';
import { personalKeys, rowsOf } from '../../../src/lists/personal-data.ts';
import { addGathering } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { createLinkToken } from '../../support/pages.ts';
import { findPlanted, person, planted, plantPerson } from '../../support/planted.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();
const { pool } = database;

/** Values by the type of a column; those that have the word of the planted person already stay. */
const values: Record<string, (column: string) => string> = {
  text: (column) => `case when ${column} ilike '%${planted}%' then ${column} else concat(${column}, '${planted}') end`,
  jsonb: () => `'{"a": "${planted}"}'`,
  'text[]': () => `'{${planted}}'`,
  date: () => `'1980-02-03'`,
};
/** By these the rows are found: the mail has another recipient. */
const identifying = ['outbox.address', 'sign_on_failures.username_hash'];

const findPerson = async (me: Provider, id: number) =>
  findPurchases(database.unlocked, (await findUser(database.unlocked, { providerId: me.id }, id))!, {
    ...{ timezone: 'Europe/Oslo', invoiceRetentionYears: 5 },
  });

/** A person with a row in each table of the register. */
async function plantRows() {
  const me = await createProvider();
  const { id, dateId, summary } = await plantPerson(me, pool);
  const [bookingId, place] = [Number(summary.booking_id), summary.participants[0]!.id];
  const gathering = await addGathering(me, dateId);
  await createLinkToken(me, { bookingId });
  expect((await me.post(`/v2/orders/${summary.order_id}/payments`, { amount: 10 })).status).toBe(201);
  await write(me, (tx) =>
    tx.execute(`
      insert into attendance_marks (provider_id, participant_id, gathering_id, attended, marked_at, nonce, created_at)
        values (${me.id}, ${place}, ${gathering}, true, now(), 'x', now());
      insert into calendar_feeds (provider_id, user_id, hash, created_at) values (${me.id}, ${id}, 'x', now());
      insert into refused_addresses (provider_id, email, reason, refused_at)
        values (${me.id}, '${person.email}', 'x', now());
      insert into outbox (provider_id, purpose, address, interest_id, created_at, due_at)
        select provider_id, 'interest_confirmation', email, id, now(), '2999-01-01' from course_interests
        where provider_id = ${me.id};
      insert into staged_lines (provider_id, line, part, kind, "table", data, refs, staged_at)
        values (${me.id}, 1, 0, 'user', 'course_users', '{}', '{}', now())`),
  );
  return { me, id };
}

test('a value in each personal column of the register is gone after an erasure', async () => {
  const { me, id } = await plantRows();
  const { person: found } = await findPerson(me, id);
  const columns: string[] = [];
  for (const entry of entries) {
    const [table, keys] = [entry.table, personalKeys(entry.table)];
    columns.push(...markedColumns(table, 'personal').map((column) => `${getTableName(table)}.${column}`));
    const set = keys.flatMap((key) => {
      const column = (table as unknown as Record<string, Parameters<typeof columnName>[0]>)[key]!;
      const name = columnName(column);
      if (identifying.includes(`${getTableName(table)}.${name}`)) return [];
      return `${name} = ${values[column.getSQLType()]!(`${getTableName(table)}.${name}`)}`;
    });
    if (set.length === 0) continue;
    const statement = sql`update ${table} set ${sql.raw(set.join(', '))} where ${rowsOf(entry, found)}`;
    const { rowCount } = await write(me, (tx) => tx.execute(statement));
    expect([getTableName(table), rowCount]).not.toEqual([getTableName(table), 0]);
  }
  const notText = ['course_users.date_of_birth', 'sign_on_failures.username_hash'];
  const texts = columns.filter((column) => !notText.includes(column));
  expect(texts.length).toBeGreaterThan(100);
  expect(await findPlanted(pool, me.id)).toEqual(expect.arrayContaining(texts));
  const readOthers = async () =>
    (
      await pool.query(
        `select date_of_birth::text, (select count(*)::int from sign_on_failures where provider_id = $1) as failures
          from course_users where provider_id = $1 and id = $2`,
        [me.id, id],
      )
    ).rows as object[];
  expect(await readOthers()).toEqual([{ date_of_birth: '1980-02-03', failures: 1 }]);

  const erased = await me.post(`/v2/course-users/${id}/erase`, {});
  expect([erased.status, erased.json<object>()]).toMatchObject([200, { kept: [] }]);
  expect(await findPlanted(pool, me.id)).toEqual([]);
  expect(await readOthers()).toEqual([{ date_of_birth: null, failures: 0 }]);
});
