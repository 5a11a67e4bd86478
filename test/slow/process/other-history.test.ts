import { Client } from 'pg';
import { expect, test } from 'vitest';
import { emptyDatabase, runSql } from '../../support/backups.ts';
import { createOtherHistory, otherHistory } from '../../support/migrations.ts';
import { databaseUrl, runCli, startServer, temporaryFolder } from '../../support/processes.ts';
import { connectionTo } from '../../support/test-app.ts';

async function createDatabase() {
  const name = await emptyDatabase();
  const client = new Client(connectionTo(name));
  await client.connect();
  await createOtherHistory(client);
  await client.query(`insert into providers (title, slug, created_at, updated_at) values ('One', 'one', now(), now())`);
  await client.end();
  return { name, env: { DATABASE_URL: databaseUrl(name), BACKUP_DIR: temporaryFolder() } };
}

test('a server and the commands refuse a database with another first migration, but make a backup of it', async () => {
  const { name, env } = await createDatabase();
  const refusal = otherHistory;
  const applied = 'select id, hash from drizzle.__drizzle_migrations order by id';
  const before = await runSql(name, applied);
  for (const MIGRATE_ON_START of ['true', 'false']) {
    const server = await startServer({ ...env, MIGRATE_ON_START });
    expect([await server.ended, server.errors()]).toEqual([1, `The server could not start: ${refusal}\n`]);
  }
  for (const command of [['migrate'], ['provider', 'list']])
    expect(await runCli(command, env)).toMatchObject({ code: 1, stderr: `error: ${refusal}\n` });
  const doctor = await runCli(['doctor'], env);
  expect([doctor.code, doctor.stdout]).toEqual([
    1,
    expect.stringContaining(`migrations       ${refusal}: this version`),
  ]);
  expect(await runSql(name, applied)).toEqual(before);
  expect(await runSql(name, 'select title from providers')).toEqual([{ title: 'One' }]);

  const made = await runCli(['backup', '--json'], env);
  const { file, warning } = made.json<{ file: string; warning: string }>();
  expect([made.code, warning]).toEqual([0, expect.stringContaining('one of them in the place of 0000_tables')]);
  const target = await emptyDatabase();
  for (const command of [
    ['backup', 'verify', file],
    ['restore', file, '--into', databaseUrl(target)],
    ['restore', file, '--into', databaseUrl(target), '--accept-migrations'],
  ])
    expect(await runCli(command, {})).toMatchObject({ code: 1, stderr: expect.stringContaining(warning) as string });
  expect(await runSql(target, 'select from pg_namespace where nspname = $1', ['drizzle'])).toEqual([]);
});
