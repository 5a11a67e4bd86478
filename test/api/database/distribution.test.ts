import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { distribute, findObstacles, localTables, referenceTables } from '../../../src/database/distribution.ts';
import { readConfig } from '../../../src/config.ts';
import { distributionCheck } from '../../../src/doctor/system/distribution.ts';
import { coordinatorOf, stubs } from '../../support/citus-stubs.ts';
import { asAdmin, connectionTo, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

async function connect(name?: string) {
  const client = new Client(connectionTo(name ?? (await ownDatabase())));
  await client.connect();
  onTestFinished(() => client.end());
  const list = async (query: string) => (await client.query<{ line: string }>(query)).rows.map(({ line }) => line);
  return { client, list };
}

const calls = 'select name as line from citus_stubs.calls order by position';
const triggers = `select pg_get_triggerdef(oid) as line from pg_trigger
  where not tgisinternal and tgname <> 'audit_entries_shared_data' order by 1`;

test('without the extension nothing is distributed', async () => {
  const { client } = await connect();
  expect(await findObstacles(client, 'Europe/Oslo')).toEqual([
    'The extension citus is not available on this PostgreSQL server: install it first',
  ]);
});

test('every table is distributed, after those that it refers to, and the triggers and functions that it needs', async () => {
  const { client, list } = await connect();
  const before = await list(triggers);
  await client.query(stubs);
  const { copied, distributed } = await distribute(client);
  expect(copied).toEqual(referenceTables);
  expect(distributed[0]).toBe('provider_state');
  const all = await list(`select relname as line from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`);
  expect([...copied, ...distributed, ...localTables].sort()).toEqual(all.sort());
  const done = await list(calls);
  expect(done).toEqual([...copied, ...distributed]);
  const references = await list(`select conrelid::regclass || ' ' || confrelid::regclass as line from pg_constraint
    where contype = 'f' and conrelid <> confrelid and connamespace = 'public'::regnamespace`);
  const early = references.filter((one) => {
    const [from, to] = one.split(' ') as [string, string];
    return done.includes(from) && done.indexOf(to) > done.indexOf(from);
  });
  expect(early).toEqual([]);
  const now = await list(triggers);
  const isOfFeed = (line: string) => /TRIGGER \w+_record\w* /.test(line);
  expect(now.filter((line) => !isOfFeed(line))).toEqual(before.filter((line) => !isOfFeed(line)));
  // One per row stands for three per statement; none of the reference table `providers`.
  const resources = before.filter((line) => line.includes('record_created('));
  expect(now.filter(isOfFeed)).toHaveLength(resources.length);
  expect(resources).toHaveLength(11);
  const functions = `select oid::regprocedure::text as line from pg_proc
    where pronamespace = 'public'::regnamespace order by 1`;
  expect((await list('select name as line from citus_stubs.functions')).sort()).toEqual((await list(functions)).sort());
  // What is for servers of version 0.2 alone is gone, and the table of imports is logged.
  expect(
    await list(`select relname as line from pg_class where relname = 'tokens_mail' or relpersistence = 'u'`),
  ).toEqual([]);
  expect(await distribute(client)).toEqual({ copied: [], distributed: [] });
  // A later migration adds a table, and triggers of the change feed to one that is distributed.
  await client.query(`create table extras (provider_id bigint not null, primary key (provider_id));
    create trigger tags_record_deleted after delete on tags referencing old table as gone
      for each statement execute function record_deleted('tag')`);
  expect(await distribute(client)).toEqual({ copied: [], distributed: ['extras'] });
  expect(await list(triggers)).toEqual(now);
});

test('a table that loses or gains a row is found, and nothing is distributed', async () => {
  const { client, list } = await connect();
  const before = await list(triggers);
  await client.query(`${stubs.replace('create function create_distributed_table', 'create function unused')};
    create function create_distributed_table(name regclass, key text, colocate_with text) returns void language sql
      as $$ insert into sign_on_failures (provider_id, username_hash, window_started_at, failures)
        select id, name::text, now(), 1 from providers $$`);
  await client.query(`insert into providers (title, slug, created_at, updated_at) values ('A', 'a', now(), now())`);
  await expect(distribute(client)).rejects.toThrow(
    /^sign_on_failures has \d+ rows instead of 0: nothing was distributed/,
  );
  expect(await list(calls)).toEqual([]);
  expect(await list(triggers)).toEqual(before);
});

test('doctor finds a server without a setting, and a configuration that does not fit the database', async () => {
  const name = await ownDatabase();
  const examine = async (isSet: boolean) => {
    const { pool, close } = openTestDatabase(name);
    onTestFinished(close);
    const config = { ...readConfig({}), DATABASE_DISTRIBUTED: isSet };
    return (await distributionCheck.run({ pool, config })).map(({ level, message }) => `${level}: ${message}`);
  };
  const onOneServer = /^warning: DATABASE_DISTRIBUTED is true, but the tables are on one server/;
  expect(await examine(false)).toEqual(['ok: The tables are on one server']);
  expect(await examine(true)).toEqual([expect.stringMatching(onOneServer)]);

  const { settings, functions } = coordinatorOf(name, 'Europe/Oslo');
  const { client: admin } = await connect(name);
  await admin.query(functions);
  for (const statement of settings) await asAdmin(statement);
  const { client } = await connect(name);
  expect(await findObstacles(client, 'Europe/Oslo')).toHaveLength(0);
  await distribute(client);
  expect(await examine(true)).toEqual([expect.stringMatching(/^ok: The tables are distributed/)]);
  expect(await examine(false)).toEqual([expect.stringMatching(/^error: .* DATABASE_DISTRIBUTED is false/)]);
  await client.query('create table extras (provider_id bigint not null, primary key (provider_id))');
  expect(await examine(true)).toEqual(['error: The table extras is not distributed: run `distribute`']);
  await client.query('drop table extras');

  await asAdmin(`alter database ${name} set citus.propagate_set_commands = 'none'`);
  const setting = 'citus.propagate_set_commands is none on';
  expect(await examine(true)).toEqual(
    [0, 1, 2].map((n) => `error: ${setting} server${n}:5432: set it to local for the database`),
  );
});
