import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations } from '../../../src/database/migrate.ts';
import { readMigrationNames, readMigrations } from '../../../src/database/migration-history.ts';
import { emptyDatabase } from '../../support/backups.ts';
import { connectionTo } from '../../support/test-app.ts';

test('a credit from before it had a campaign gets that of its order, uses it once, and stays unchanged else', async () => {
  const client = new Client(connectionTo(await emptyDatabase()));
  await client.connect();
  onTestFinished(() => client.end());
  const at = readMigrationNames().indexOf('0033_credit-campaigns');
  await applyMigrations(client, readMigrations().slice(0, at));
  await client.query(`set session_replication_role = replica;
    insert into campaigns (provider_id, id, type, campaign_code, discount_type, discount_value, uses, created_at, updated_at)
      overriding system value
      select provider, 1, 'Campaign', 'CODE', 'Percent', 10, 1, '2026-06-01', '2026-06-01' from generate_series(1, 2) provider;
    insert into orders (provider_id, id, title, kind, first_order_id, campaign_id, created_at, updated_at)
      overriding system value values
      (1, 1, 'One', 'order', null, 1, '2026-06-01', '2026-06-01'),
      (1, 2, 'Credit', 'credit', 1, null, '2026-06-02', '2026-06-02'),
      (1, 3, 'Difference', 'difference', 1, null, '2026-06-02', '2026-06-02'),
      (1, 4, 'Credit of the difference', 'credit', 3, null, '2026-06-02', '2026-06-02'),
      (2, 5, 'Without a campaign', 'order', null, null, '2026-06-01', '2026-06-01'),
      (2, 6, 'Credit', 'credit', 5, null, '2026-06-02', '2026-06-02');
    set session_replication_role = origin`);
  await applyMigrations(client, readMigrations().slice(at, at + 1));
  const { rows } = await client.query<{ order: string }>(
    `select concat_ws(' ', id, campaign_id, updated_at::date) as "order" from orders order by id`,
  );
  expect(rows.map(({ order }) => order)).toEqual([
    '1 1 2026-06-01',
    '2 1 2026-06-02',
    '3 2026-06-02',
    '4 2026-06-02',
    '5 2026-06-01',
    '6 2026-06-02',
  ]);
  const { rows: uses } = await client.query('select uses from campaigns union all select id::int from events');
  expect(uses).toEqual([{ uses: 1 }, { uses: 1 }]);
});
