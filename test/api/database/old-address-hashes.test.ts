import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations } from '../../../src/database/migrate.ts';
import { readMigrationNames, readMigrations } from '../../../src/database/migration-history.ts';
import { emptyDatabase } from '../../support/backups.ts';
import { connectionTo } from '../../support/test-app.ts';

test('hashes of addresses of before the value of the database go, and the keys of forms stay', async () => {
  const client = new Client(connectionTo(await emptyDatabase()));
  await client.connect();
  onTestFinished(() => client.end());
  const at = readMigrationNames().indexOf('0032_old-address-hashes');
  await applyMigrations(client, readMigrations().slice(0, at));
  await client.query(`set session_replication_role = replica;
    insert into catalog_posts (provider_id, key_hash, booking_id, address_hash, places, recipients, created_at)
      values (1, 'key', 1, 'address', 2, '{one,two}', now())`);
  await applyMigrations(client, readMigrations().slice(at, at + 1));
  const { rows } = await client.query<object>(
    'select key_hash, booking_id::int, address_hash, places, recipients from catalog_posts',
  );
  expect(rows).toEqual([{ key_hash: 'key', booking_id: 1, address_hash: null, places: 2, recipients: [] }]);
});
