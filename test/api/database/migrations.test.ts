import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations, isMigrated, migrateDatabase, setTenantStatistics } from '../../../src/database/migrate.ts';
import {
  readAppliedMigrations,
  readMigrationNames,
  readMigrations,
  findMigrationDifferences,
} from '../../../src/database/migration-history.ts';
import { releases } from '../../../src/database/releases.ts';
import { migrationCheck } from '../../../src/plugins/operations/doctor/system.ts';
import { emptyDatabase } from '../../support/backups.ts';
import { createOtherHistory, otherHistory, readBaseline, recordOlder } from '../../support/migrations.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

async function connect(name: string) {
  const client = new Client(connectionTo(name));
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const own = readMigrations().map(({ hash, folderMillis: createdAt }) => ({ hash, createdAt }));
const later = own.length - readBaseline().length;

test('a database with another first migration is refused, and stays as it is', async () => {
  const name = await emptyDatabase();
  const client = await connect(name);
  await createOtherHistory(client);
  const applied = await readAppliedMigrations(client);
  expect(await isMigrated(client)).toBe(false);
  await expect(migrateDatabase(connectionTo(name))).rejects.toThrow(otherHistory);
  expect(await readAppliedMigrations(client)).toEqual(applied);

  const database = openTestDatabase(name);
  const testApp = await openTestApp(database);
  onTestFinished(testApp.close);
  const ready = await testApp.app.inject('/ready');
  expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'not ready', reason: otherHistory }]);
  expect(await migrationCheck.run({ pool: database.pool } as never)).toEqual([
    {
      level: 'error',
      message: expect.stringMatching(
        `^${otherHistory}: this version neither migrates it nor restores a backup of it`,
      ) as string,
    },
  ]);
});

test('a database that an older build took over is upgraded: its record has older migrations before those of this build', async () => {
  const name = await emptyDatabase();
  const client = await connect(name);
  await applyMigrations(client, readBaseline());
  await recordOlder(client);
  expect(await migrateDatabase(connectionTo(name))).toEqual({ applied: later });
  expect([await isMigrated(client), await readAppliedMigrations(client)]).toEqual([true, own]);
  expect(await findMigrationDifferences(client)).toEqual([]);
});

test('a database is migrated if it has the hash of each migration, and may have more', async () => {
  const name = await ownDatabase();
  const client = await connect(name);
  expect(await isMigrated(client)).toBe(true);
  await client.query(`insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', 9999999999999)`);
  expect(await isMigrated(client)).toBe(true);
  const { app, close } = await openTestApp(openTestDatabase(name));
  onTestFinished(close);
  expect((await app.inject('/ready')).statusCode).toBe(200);

  await client.query(`update drizzle.__drizzle_migrations set hash = repeat('a', 64) where id = 2`);
  expect((await readAppliedMigrations(client)).length).toBeGreaterThan(own.length);
  expect(await isMigrated(client)).toBe(false);
  expect((await app.inject('/ready')).json()).toEqual({
    status: 'not ready',
    reason: 'The migration 0001_functions-and-triggers was applied with other contents than this version has',
  });
});

test('a migration that waits for a lock holds none of the migrations before it', async () => {
  const name = await emptyDatabase();
  const [client, holder] = [await connect(name), await connect(name)];
  await applyMigrations(client, readBaseline());
  await holder.query('begin; select from campaigns');
  const migrating = migrateDatabase(connectionTo(name));
  const before = readMigrationNames().indexOf('0006_campaign-uses');
  await expect.poll(async () => (await readAppliedMigrations(client)).length).toBe(before);
  await client.query("set lock_timeout = '1s'; begin; lock table tags in exclusive mode; rollback");
  await holder.query('rollback');
  expect(await migrating).toEqual({ applied: later });
  const { rows } = await client.query('select releases from service_state');
  expect(rows).toEqual([{ releases }]);
});

test('doctor does not say to migrate a database that `migrate` refuses', async () => {
  const client = await connect(await ownDatabase());
  await client.query('delete from drizzle.__drizzle_migrations where id = 2');
  expect(await migrationCheck.run({ pool: client } as never)).toEqual([
    {
      level: 'error',
      message: expect.stringMatching(
        /^The migration 0001_functions-and-triggers is missing: .+: this version neither migrates/,
      ),
    },
  ]);
});

/** Tenant tables whose plans assume the true number of providers. */
const withoutStatistics = `select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id' and not a.attisdropped
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    and not coalesce(a.attoptions @> '{n_distinct=20}', false) order by 1`;

test('each run of migrations sets the statistics of new tenant tables, and locks no other one', async () => {
  const name = await emptyDatabase();
  await migrateDatabase(connectionTo(name));
  const client = await connect(name);
  const few = [{ name: 'api_keys' }, { name: 'provider_limits' }, { name: 'provider_state' }];
  expect((await client.query(withoutStatistics)).rows).toEqual(few);

  const role = `other_${name}`;
  await client.query(`create table news (provider_id bigint, id bigint);
    create role ${role}; create table others (provider_id bigint); alter table others owner to ${role}`);
  onTestFinished(async () => {
    await client.query(`drop owned by ${role}; drop role ${role}`);
  });
  // Its lock conflicts with that of a change.
  const holder = await connect(name);
  await holder.query('begin; lock table courses in share update exclusive mode');
  await client.query("begin; set local lock_timeout = '50ms'");
  await setTenantStatistics(client);
  await client.query('commit');
  await holder.query('rollback');
  expect((await client.query(withoutStatistics)).rows).toEqual([few[0], { name: 'others' }, ...few.slice(1)]);

  await client.query('alter table courses alter column provider_id reset (n_distinct)');
  await holder.query('begin; lock table courses in share update exclusive mode');
  await client.query("begin; set local lock_timeout = '50ms'");
  await expect(setTenantStatistics(client), 'control: a change waits').rejects.toThrow('lock timeout');
  await client.query('rollback');
  await holder.query('rollback');
});
