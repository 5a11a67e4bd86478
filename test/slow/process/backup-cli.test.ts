import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { writeBackup } from '../../../src/plugins/backup/write.ts';
import { applyMigrations } from '../../../src/database/migrate.ts';
import { emptyDatabase, runSql } from '../../support/backups.ts';
import { createBookableDate } from '../../support/booking.ts';
import { readBaseline } from '../../support/migrations.ts';
import { databaseUrl, runCli, temporaryFolder } from '../../support/processes.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

/** Backs up a database with 30 confirmed participants too many on a course date. */
async function backupWithWrongCounter() {
  const name = await ownDatabase();
  const database = openTestDatabase(name);
  const { close, createProvider } = await openTestApp(database);
  const { dateId } = await createBookableDate(await createProvider());
  await close();
  await runSql(
    name,
    `alter table course_dates disable trigger user; update course_dates set num_confirmed = 30 where id = ${dateId};
      alter table course_dates enable trigger user`,
  );
  const file = join(temporaryFolder(), 'wrong.zip');
  await writeBackup(connectionTo(name), file, { serviceVersion: '1.2.3' });
  writeFileSync(join(file, '../erasures.jsonl'), '');
  return file;
}

test('a database of an older PostgreSQL is replaced by its backup in the three steps that its refusal names', async () => {
  const folder = temporaryFolder();
  const cli = (...args: string[]) => runCli(args, { DATA_DIR: folder });
  await cli('provider', 'create', '--title', 'Kept');
  const { file } = (await cli('backup', '--json')).json<{ file: string }>();
  const data = join(folder, 'postgres/data');
  const version = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  writeFileSync(join(data, 'PG_VERSION'), '17\n');
  const { code, stderr } = await cli('provider', 'list');
  expect([code, stderr]).toEqual([
    1,
    `error: The database in ${data} is one of PostgreSQL 17, and this is ${version}: back it up by \`npm run --silent cli -- backup\` of the version of this service that came with PostgreSQL 17, move it aside by \`mv ${data} ${data}-17\`, and run \`npm run --silent cli -- restore FILE --into embedded\` with this version\n`,
  ]);
  expect((await cli('restore', file, '--into', 'embedded')).code).toBe(1);
  renameSync(data, `${data}-17`);
  expect(await cli('restore', file, '--into', 'embedded')).toMatchObject({ code: 0 });
  expect((await cli('provider', 'list', '--json')).json()).toMatchObject([{ title: 'Kept' }]);
});

test('a restore of a wrong counter fails, after all rows are restored', async () => {
  const wrong = await backupWithWrongCounter();
  const target = databaseUrl(await emptyDatabase());
  const restored = await runCli(['restore', wrong, '--into', target, '--json'], {});
  expect(restored.json()).toMatchObject({ differences: 1 });
  expect([restored.code, restored.stderr]).toEqual([
    1,
    'error: the rows are restored as they were, but 1 stored counter differs from the recount; correct with `doctor --fix`\n',
  ]);
  expect(await runCli(['doctor', '--only', 'data', '--fix'], { DATABASE_URL: target })).toMatchObject({ code: 0 });
});

test('backup, verify and restore', async () => {
  const source = await emptyDatabase();
  const env = { DATABASE_URL: databaseUrl(source), BACKUP_DIR: temporaryFolder() };
  expect(await runCli(['backup'], env)).toMatchObject({
    code: 1,
    stderr: 'error: The database is not migrated yet: run `migrate`\n',
  });
  const client = new Client(connectionTo(source));
  await client.connect();
  onTestFinished(() => client.end());
  await applyMigrations(client, readBaseline());
  const before = await runCli(['backup', '--to', temporaryFolder()], env);
  expect([before.stderr, before.code]).toEqual(['', 0]);
  await runCli(['migrate'], env);
  await runCli(['provider', 'create', '--title', 'Kept'], env);
  await runCli(['backup', '--to', temporaryFolder()], env);
  expect((await client.query('select from backup_runs')).rowCount).toBe(0);
  const made = await runCli(['backup'], env);
  expect([made.code, made.stderr]).toEqual([0, '']);
  expect((await client.query('select from backup_runs')).rowCount).toBe(1);
  const [name] = readdirSync(env.BACKUP_DIR);
  const file = join(env.BACKUP_DIR, name!);
  expect(made.stdout).toMatch(
    /^Wrote and verified .*booking-manual-.*Z\.zip: \d+ rows of \d+ tables, of .*Z, 0\.0 MB\n$/,
  );

  expect((await runCli(['backup', 'verify', file], {})).stdout).toMatch(/ is whole: \d+ rows/);
  const documented = /^test .*echo whole$/m.exec(readFileSync('docs/operate/backups.md', 'utf8'))![0];
  expect(execFileSync('sh', ['-c', documented.replaceAll('FILE', file)]).toString()).toBe('whole\n');
  const bytes = readFileSync(file);
  const damaged = join(env.BACKUP_DIR, 'damaged.zip');
  writeFileSync(damaged, bytes.subarray(0, bytes.length - 10));
  expect(await runCli(['backup', 'verify', damaged], {})).toMatchObject({
    code: 1,
    stderr: `error: ${damaged} is damaged: its bytes differ from its checksum, or its end is missing\n`,
  });
  expect(await runCli(['backup', 'verify', '/nowhere.zip'], {})).toMatchObject({
    code: 1,
    stderr: 'error: /nowhere.zip cannot be read (ENOENT)\n',
  });

  expect(await runCli(['restore', file], {})).toMatchObject({
    code: 2,
    stderr: 'error: restore needs either --into or --database\n',
  });
  expect((await runCli(['restore', file, '--into', 'mysql://x'], {})).code).toBe(2);
  expect(await runCli(['restore', file, '--into', env.DATABASE_URL], {})).toMatchObject({
    code: 1,
    stderr: 'error: The target database is not empty: create a new one, and restore into that\n',
  });
  const empty = await emptyDatabase();
  const target = databaseUrl(empty);
  const restored = await runCli(['restore', file, '--database', empty], env);
  expect([restored.stderr, restored.stdout]).toEqual([
    '',
    expect.stringMatching(/^Restored \d+ rows .*\nErased again: 0\ndoctor finds no/),
  ]);
  expect((await runCli(['provider', 'list', '--json'], { DATABASE_URL: target })).json()).toMatchObject([
    { title: 'Kept' },
  ]);

  const list = join(env.BACKUP_DIR, 'erasures.jsonl');
  expect(readFileSync(list, 'utf8')).toBe('');
  expect(await runCli(['erasures', 'list'], env)).toMatchObject({ code: 0, stdout: '' });
  rmSync(list);
  const other = ['restore', file, '--into', databaseUrl(await emptyDatabase())];
  expect(await runCli(other, {})).toMatchObject({
    ...{ code: 1, stdout: '' },
    stderr: expect.stringMatching(/^error: There is no erasures\.jsonl beside .*--without-erasures/) as string,
  });
  expect(await runCli([...other, '--without-erasures'], {})).toMatchObject({
    stdout: expect.stringMatching(/\nNobody is erased again\n/) as string,
  });
  const next = `select nextval('events_id_seq') > max(id) as continues from events`;
  expect(await runSql(empty, next)).toEqual([{ continues: true }]);
});
