import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations } from '../../../src/database/migrate.ts';
import { readMigrationNames, readMigrations } from '../../../src/database/migration-history.ts';
import { emptyDatabase } from '../../support/backups.ts';
import { connectionTo } from '../../support/test-app.ts';

/** A database before the shares of credits were stored, with a line of three at 1000: 1 left on day 1, 2 on day 3. */
async function createBefore() {
  const name = await emptyDatabase();
  const client = new Client(connectionTo(name));
  await client.connect();
  onTestFinished(() => client.end());
  const at = readMigrationNames().indexOf('0029_credit-shares');
  await applyMigrations(client, readMigrations().slice(0, at));
  await client.query(`set session_replication_role = replica;
    insert into orders (provider_id, id, title, created_at, updated_at) overriding system value
      values (1, 1, 'One', '2026-06-01', '2026-06-01');
    insert into order_lines (provider_id, id, order_id, product_id, quantity, price_at_order, created_at, updated_at)
      overriding system value values (1, 1, 1, 1, 3, 1000, '2026-06-01', '2026-06-01')`);
  for (const [id, status, day] of [
    [1, 8, '2026-06-02'],
    [2, 4, '2026-06-04'],
    [3, 1, '2026-06-01'],
  ])
    await client.query(
      `insert into participants (provider_id, id, booking_id, course_id, course_date_id, user_id, status_id,
          status_updated_at, entry_source, created_at, updated_at) overriding system value
        values (1, $1, 1, 1, 1, $1, $2, $3, 'User', $3, $3)`,
      [id, status, day],
    );
  await client.query(`insert into order_line_participants select 1, 1, id from participants`);
  const migrate = () => applyMigrations(client, readMigrations().slice(at, at + 1));
  return { client, migrate };
}

type Before = Awaited<ReturnType<typeof createBefore>>;

/** A credit on a day, of items at 1000 or of an amount, which names these. */
async function addCredit({ client }: Before, id: number, day: string, items: number, price: number, named: number[]) {
  await client.query(
    `insert into orders (provider_id, id, title, kind, first_order_id, created_at, updated_at) overriding system value
      values (1, $1, 'Credit', 'credit', 1, $2, $2)`,
    [id, day],
  );
  await client.query(
    `insert into order_lines (provider_id, id, order_id, product_id, quantity, price_at_order, credits_line_id,
        created_at, updated_at) overriding system value values (1, $1, $1, 1, $2, $3, 1, $4, $4)`,
    [id, -items, price, day],
  );
  for (const participant of named)
    await client.query('insert into order_line_participants values (1, $1, $2)', [id, participant]);
}

async function readShares({ client }: Before) {
  const { rows } = await client.query<{ line: number; share: string }>(
    `select order_line_id::int as line, participant_id || ' ' || coalesce(amount::text, 'equal') ||
        case when is_credited then ' credited' else '' end as share
      from order_line_participants where order_line_id > 1 order by order_line_id, participant_id`,
  );
  return rows.map(({ line, share }) => `${line}: ${share}`);
}

test.each<[string, [day: string, items: number, price: number, named: number[]][], string[]]>([
  ['before anybody left: all', [['2026-06-01', 1, 1000, [1, 2, 3]]], ['2: 1 -333.33', '2: 2 -333.34', '2: 3 -333.33']],
  ['of one who had left', [['2026-06-03', 1, 1000, [1, 2, 3]]], ['2: 1 -1000.00 credited']],
  ['of an item less a fee', [['2026-06-03', 1, 900, [1, 2, 3]]], ['2: 1 -900.00 credited']],
  [
    'of those who had left, in their order',
    [
      ['2026-06-05', 1, 1000, [1, 2, 3]],
      ['2026-06-05', 1, 1000, [1, 2, 3]],
    ],
    ['2: 1 -1000.00 credited', '3: 2 -1000.00 credited'],
  ],
  [
    'of more than those who had left',
    [['2026-06-03', 3, 1000, [1, 2, 3]]],
    ['2: 1 -1000.00 credited', '2: 2 -1000.00', '2: 3 -1000.00'],
  ],
  [
    'of some whom it names, and then of one who had left',
    [
      ['2026-06-01', 1, 200, [3]],
      ['2026-06-05', 1, 1000, [1, 2, 3]],
    ],
    ['2: 3 -200.00', '3: 1 -1000.00 credited'],
  ],
  ['of more than the line has', [['2026-06-03', 1, 4000, [1, 2, 3]]], ['2: 1 equal', '2: 2 equal', '2: 3 equal']],
])('a credit from before shares were stored, %s', async (_name, credits, expected) => {
  const before = await createBefore();
  for (const [n, [day, items, price, named]] of credits.entries())
    await addCredit(before, n + 2, day, items, price, named);
  await before.migrate();
  expect(await readShares(before)).toEqual(expected);
});
