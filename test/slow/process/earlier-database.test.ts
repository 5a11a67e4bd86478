import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { databaseIsOlder } from '../../../src/database/migration-differences.ts';
import {
  lastEarlierBuild,
  lastEarlierCommit,
  readBaseline,
  readMigrations,
} from '../../../src/database/migration-history.ts';
import { emptyDatabase, runSql } from '../../support/backups.ts';
import { createEarlierTables, earlierMigrations } from '../../support/earlier-database.ts';
import { databaseUrl, runCli, startServer, temporaryFolder } from '../../support/processes.ts';
import { connectionTo } from '../../support/test-app.ts';

/** A database with a school, and the first migrations before the baseline. */
async function createEarlierDatabase(count?: number) {
  const name = await emptyDatabase();
  const client = new Client(connectionTo(name));
  await client.connect();
  await createEarlierTables(client, count);
  await client.query(`insert into providers (title, slug, created_at, updated_at) values ('One', 'one', now(), now());
    insert into provider_state (provider_id, changed_at) values (1, now())`);
  await client.end();
  return { name, env: { DATABASE_URL: databaseUrl(name), BACKUP_DIR: temporaryFolder() } };
}

test('a server and the commands refuse a database that lacks migrations before the baseline, but make a backup of it', async () => {
  const { name, env } = await createEarlierDatabase(earlierMigrations.length - 1);
  for (const MIGRATE_ON_START of ['true', 'false']) {
    const server = await startServer({ ...env, MIGRATE_ON_START });
    expect([await server.ended, server.errors()]).toEqual([1, `The server could not start: ${databaseIsOlder}\n`]);
  }
  for (const command of [['migrate'], ['provider', 'list']])
    expect(await runCli(command, env)).toMatchObject({ code: 1, stderr: `error: ${databaseIsOlder}\n` });
  const doctor = await runCli(['doctor'], env);
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(`migrations       ${databaseIsOlder}\n`)]);

  const made = await runCli(['backup', '--json'], env);
  const { file, warning } = made.json<{ file: string; warning: string }>();
  expect([made.code, warning]).toEqual([0, expect.stringContaining(`restore it with ${lastEarlierBuild}`)]);
  const target = await emptyDatabase();
  for (const command of [
    ['backup', 'verify', file],
    ['restore', file, '--into', databaseUrl(target)],
  ])
    expect(await runCli(command, {})).toMatchObject({ code: 1, stderr: expect.stringContaining(warning) as string });
  expect(await runSql(target, 'select from pg_namespace where nspname = $1', ['drizzle'])).toEqual([]);
  expect(await runSql(name, 'select title from providers')).toEqual([{ title: 'One' }]);
});

test('two servers that start at once take over a database at the last migration before the baseline', async () => {
  const { name, env } = await createEarlierDatabase();
  const servers = await Promise.all([startServer(env), startServer(env)]);
  for (const { url } of servers) expect((await fetch(`${url}/ready`)).status).toBe(200);
  const count = 'select count(*)::int as count from drizzle.__drizzle_migrations';
  expect(await runSql(name, count)).toEqual([{ count: earlierMigrations.length + readMigrations().length }]);
  expect((await runCli(['migrate'], env)).stdout).toBe('Already up to date\n');
  expect((await runCli(['provider', 'list', '--json'], env)).json()).toMatchObject([{ title: 'One' }]);
});

test('`migrate` takes over a database at the last migration before the baseline', async () => {
  const { env } = await createEarlierDatabase();
  const later = readMigrations().length - readBaseline().length;
  expect((await runCli(['migrate'], env)).stdout).toBe(`Applied ${later} migrations\n`);
  expect((await runCli(['doctor', '--only', 'data'], env)).code).toBe(0);
});

test('the documented way names the last build that has the migrations before the baseline', () => {
  expect(readFileSync('docs/operate/upgrade.md', 'utf8')).toContain(`git checkout ${lastEarlierCommit}`);
});
