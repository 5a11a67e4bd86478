import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations, isMigrated, migrateDatabase } from '../../../src/database/migrate.ts';
import { databaseIsOlder } from '../../../src/database/migration-differences.ts';
import {
  readAppliedMigrations,
  readBaseline,
  readMigrationNames,
  readMigrations,
} from '../../../src/database/migration-history.ts';
import { releases } from '../../../src/database/releases.ts';
import { setTenantStatistics } from '../../../src/database/tenant-statistics.ts';
import { migrationCheck } from '../../../src/plugins/operations/doctor/ages.ts';
import { emptyDatabase } from '../../support/backups.ts';
import { readConfig } from '../../support/config.ts';
import { createEarlierTables, earlierMigrations } from '../../support/earlier-database.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

async function connect(name: string) {
  const client = new Client(connectionTo(name));
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A database with a course, and the first migrations before the baseline. */
async function createEarlierDatabase(count?: number) {
  const name = await emptyDatabase();
  const client = await connect(name);
  await createEarlierTables(client, count);
  await client.query(`insert into providers (title, slug, created_at, updated_at) values ('One', 'one', now(), now());
    insert into provider_state (provider_id, changed_at) values (1, now());
    insert into courses (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id, created_at, updated_at)
      values (1, 'Yoga', 'yoga', 6, 1, 'no', now(), now())`);
  return { name, client };
}

const own = readMigrations().map(({ hash, folderMillis: createdAt }) => ({ hash, createdAt }));
const later = own.length - readBaseline().length;

/** The rows and the files of all tables; a table that a migration rewrites gets another file. */
/** Without nulls and generated words, since later migrations add columns. */
async function readTables(client: Client) {
  const { rows } = await client.query<{ name: string; file: number }>(
    `select relname as name, relfilenode::int as file from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`,
  );
  const tables = [];
  for (const { name, file } of rows) {
    const { rows: contents } = await client.query(
      `select (jsonb_strip_nulls(to_jsonb(t)) - 'words')::text as row from "${name}" t order by 1`,
    );
    tables.push({ name, file, contents });
  }
  return tables;
}
const functionExists = async (client: Client, name: string) =>
  (await client.query('select from pg_proc where proname = $1', [name])).rowCount === 1;

test('a database at the last migration before the baseline is taken over, and stays as it is', async () => {
  const { name, client } = await createEarlierDatabase();
  await client.query('update service_state set releases = $1', [releases]);
  const before = await readTables(client);
  const names = new Set(before.map((table) => table.name));
  expect([await isMigrated(client), await functionExists(client, 'record_event')]).toEqual([false, true]);
  expect(await migrateDatabase(connectionTo(name))).toEqual({ applied: later });
  expect(await readAppliedMigrations(client)).toEqual([...earlierMigrations, ...own]);
  expect([await isMigrated(client), await functionExists(client, 'record_event')]).toEqual([true, false]);
  // Later migrations add tables, a random value to the one row of service_state, and words, for which they rewrite.
  const rewritten = ['course_dates', 'course_users', 'courses', 'customers', 'orders'];
  const toComparable = (tables: typeof before) =>
    tables
      .filter((table) => names.has(table.name) && table.name !== 'service_state')
      .map(({ file, ...table }) => (rewritten.includes(table.name) ? table : { file, ...table }));
  expect(toComparable(await readTables(client))).toEqual(toComparable(before));
  const { rows } = await client.query<{ secret: string }>('select secret from service_state');
  expect(rows).toEqual([{ secret: expect.stringMatching(/^[0-9a-f-]{72}$/) as string }]);
  expect(before.find((table) => table.name === 'courses')!.contents).toHaveLength(1);
  expect(await migrateDatabase(connectionTo(name))).toEqual({ applied: 0 });
});

test('of servers that start at once one takes a database over', async () => {
  const { name, client } = await createEarlierDatabase();
  const results = await Promise.all(Array.from({ length: 6 }, () => migrateDatabase(connectionTo(name))));
  expect(results.map(({ applied }) => applied).sort()).toEqual([0, 0, 0, 0, 0, later]);
  expect(await readAppliedMigrations(client)).toEqual([...earlierMigrations, ...own]);
});

test('a database whose later migrations fail is not taken over', async () => {
  const { name, client } = await createEarlierDatabase();
  await client.query(`create trigger one after insert on tags for each row execute function record_changed_row('tag')`);
  await expect(migrateDatabase(connectionTo(name))).rejects.toThrow('cannot drop function record_changed_row()');
  expect(await readAppliedMigrations(client)).toEqual(earlierMigrations);
});

test.each([earlierMigrations.length - 1, own.length, 1])(
  'a database with %i migrations before the baseline is refused, and stays as it is',
  async (count) => {
    const { name, client } = await createEarlierDatabase(count);
    const before = await readTables(client);
    expect(await isMigrated(client)).toBe(false);
    await expect(migrateDatabase(connectionTo(name))).rejects.toThrow(databaseIsOlder);
    expect(await readTables(client)).toEqual(before);
    expect(await readAppliedMigrations(client)).toEqual(earlierMigrations.slice(0, count));

    const database = openTestDatabase(name);
    const testApp = await openTestApp(database);
    onTestFinished(testApp.close);
    const ready = await testApp.app.inject('/ready');
    expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'not ready', reason: databaseIsOlder }]);
    const config = readConfig({ DATABASE_URL: 'postgres://booking@localhost/booking', BACKUP_AT: 'off' });
    expect(await migrationCheck.run({ config, pool: database.pool })).toEqual([
      { level: 'error', message: databaseIsOlder },
    ]);
  },
);

test.each([1, 26, earlierMigrations.length])(
  'migration %i of those before the baseline with other contents is refused, and accepted with its own',
  async (id) => {
    const { name, client } = await createEarlierDatabase();
    const setHash = (hash: string) =>
      client.query('update drizzle.__drizzle_migrations set hash = $1 where id = $2', [hash, id]);
    await setHash('a'.repeat(64));
    await expect(migrateDatabase(connectionTo(name))).rejects.toThrow(databaseIsOlder);
    await setHash(earlierMigrations[id - 1]!.hash);
    expect(await migrateDatabase(connectionTo(name))).toEqual({ applied: later });
  },
);

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
      message: expect.stringMatching(/^The migration 0001_functions-and-triggers is missing: .+: a backup/),
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
