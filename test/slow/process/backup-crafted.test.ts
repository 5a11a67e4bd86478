import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupTable, Manifest } from '../../../src/plugins/backup/format.ts';
import { maxManifestBytes } from '../../../src/plugins/backup/manifest.ts';
import { restoreBackup } from '../../../src/plugins/backup/restore.ts';
import { verifyBackup } from '../../../src/plugins/backup/read.ts';
import { writeBackup } from '../../../src/plugins/backup/write.ts';
import { emptyDatabase, runSql } from '../../support/backups.ts';
import { readContents, withRows, writeArchive, writeContents, type Contents } from '../../support/crafted-backup.ts';
import { databaseUrl, runCli, temporaryFolder } from '../../support/processes.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

let folder: string;
let contents: Contents;
let source: string;

beforeAll(async () => {
  source = await ownDatabase(afterAll);
  const { close, createProvider } = await openTestApp(openTestDatabase(source));
  const me = await createProvider();
  await me.course({ title: 'One' });
  await me.course({ title: 'Two' });
  await close();
  folder = temporaryFolder(afterAll);
  const file = join(folder, 'whole.zip');
  await writeBackup(connectionTo(source), file, { serviceVersion: '1.2.3' });
  contents = await readContents(file);
});

let count = 0;
async function craft(crafted: { manifest: unknown; tables: Contents['tables'] }) {
  const file = join(folder, `${(count += 1)}.zip`);
  await writeContents(file, crafted);
  return file;
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  );

/** Restores into an empty database, which stays empty after a failure. */
async function restore(file: string, options = {}) {
  const target = await emptyDatabase();
  const failure = await failureOf(restoreBackup(file, connectionTo(target), options));
  const tables = await runSql(target, `select from pg_class where relnamespace = 'public'::regnamespace`);
  expect(tables.length > 0, failure).toBe(failure === 'none');
  return { failure, target };
}

test('control: an archive of another program with the right rows is restored', async () => {
  const file = await craft(contents);
  expect((await verifyBackup(file)).tables).toEqual(contents.manifest.tables);
  const { failure, target } = await restore(file);
  expect([failure, await runSql(target, 'select title from courses order by id')]).toEqual([
    'none',
    [{ title: 'One' }, { title: 'Two' }],
  ]);
});

test('a manifest is bounded before it is read', async () => {
  const file = join(folder, 'large.zip');
  const large = (bytes: number) =>
    writeArchive(file, { 'manifest.json': Buffer.from(JSON.stringify({ format: 'x'.repeat(bytes) })) });
  await large(100 * 1_048_576);
  const before = process.memoryUsage.rss();
  expect(await failureOf(verifyBackup(file))).toBe(
    `${file} is no backup of this service: its manifest.json is too large`,
  );
  expect((process.memoryUsage.rss() - before) / 1_048_576).toBeLessThan(64);
  // Control: one below the limit is read.
  await large(maxManifestBytes - 100);
  expect(await failureOf(verifyBackup(file))).toBe(`${file} is no backup of this service`);
});

test('a manifest with wrong values is refused, and names the first', async () => {
  const { manifest, tables } = contents;
  const [table, ...others] = manifest.tables;
  const wrong: [object, string][] = [
    [{ ...manifest, tables: null }, '/tables'],
    [{ ...manifest, migrations: [{ hash: 1, createdAt: 1 }] }, '/migrations/0/hash'],
    [{ ...manifest, tables: [{ ...table, columns: [] }, ...others] }, '/tables/0/columns'],
    [{ ...manifest, sequences: [{ name: 'x', lastValue: 'many', isCalled: true }] }, '/sequences/0/lastValue'],
    [{ ...manifest, createdAt: 'yesterday' }, '/createdAt'],
  ];
  for (const [crafted, path] of wrong)
    expect(await failureOf(craft({ manifest: crafted, tables }).then(verifyBackup))).toContain(
      `its manifest has a wrong value at ${path}`,
    );
});

test('rows behind an end marker are an error', async () => {
  const rows = contents.tables.get('courses')!;
  const end = rows.indexOf('\n') + 1;
  const marked = Buffer.concat([rows.subarray(0, end), Buffer.from('\\.\n'), rows.subarray(end)]);
  const file = await craft(withRows(contents, 'courses', marked));
  for (const failure of [await failureOf(verifyBackup(file)), (await restore(file)).failure])
    expect(failure).toBe('The table courses has an end marker (\\.) among its rows, which COPY ends at');
});

test('a number of rows that the database does not read is an error', async () => {
  // With carriage returns as ends of rows, PostgreSQL reads two where the manifest has none.
  const rows = Buffer.from(contents.tables.get('courses')!.toString('latin1').replaceAll('\n', '\r'), 'latin1');
  const { failure } = await restore(await craft(withRows(contents, 'courses', rows)));
  expect(failure).toBe('Of 0 rows of the table courses 2 were read');
});

test('a sequence at its end is named', async () => {
  const { manifest, tables } = contents;
  const withLast = (lastValue: string): Manifest => ({
    ...manifest,
    sequences: manifest.sequences.map((one) => (one.name === 'courses_id_seq' ? { ...one, lastValue } : one)),
  });
  const ended = await craft({ manifest: withLast('9223372036854775807'), tables });
  const message = 'The sequence courses_id_seq is at its end: no row could be added';
  expect((await restore(ended)).failure).toBe(message);
  expect(await runCli(['backup', 'verify', ended], {})).toMatchObject({
    ...{ code: 1, stdout: expect.stringContaining('is whole') as string },
    stderr: `error: this version does not restore it: ${message}\n`,
  });
  expect((await restore(await craft({ manifest: withLast('9223372036854775806'), tables }))).failure).toBe('none');
});

test('verify and restore name the same table or sequence that cannot be right', async () => {
  const { manifest, tables } = contents;
  const withTable = (change: (table: BackupTable) => object[]) => ({
    ...manifest,
    tables: manifest.tables.flatMap((one) => (one.name === 'courses' ? change(one) : [one])),
  });
  const last = (name: string, lastValue: string) => ({
    ...manifest,
    sequences: manifest.sequences.map((one) => (one.name === name ? { ...one, lastValue } : one)),
  });
  const without = new Map([...tables].filter(([name]) => name !== 'courses'));
  const columnsDiffer = 'The table courses of the backup has other columns than its migrations make: ';
  const behind = 'The next id is one that a row has already, by the sequence courses_id_seq';
  const wrong: [string, object, Contents['tables']?][] = [
    ['The backup has the table courses twice', withTable((one) => [one, one])],
    ['The backup lacks the table courses', withTable(() => []), without],
    [`${columnsDiffer}color`, withTable((one) => [{ ...one, columns: [...one.columns.slice(0, -1), 'color'] }])],
    [`${columnsDiffer}slug`, withTable((one) => [{ ...one, columns: one.columns.filter((name) => name !== 'slug') }])],
    [
      'The backup lacks the sequence tags_id_seq',
      { ...manifest, sequences: manifest.sequences.filter(({ name }) => name !== 'tags_id_seq') },
    ],
    [behind, last('courses_id_seq', '1')],
  ];
  for (const [message, crafted, rows = tables] of wrong) {
    const file = await craft({ manifest: crafted, tables: rows });
    const failure = (await restore(file)).failure;
    expect(failure).toContain(message.replace(/color$/, ''));
    expect(await runCli(['backup', 'verify', file], {})).toMatchObject({
      ...{ code: 1, stderr: `error: this version does not restore it: ${failure}\n` },
    });
  }
  // Tables of others stay beside those of the service.
  const other = { ...manifest.tables[0]!, name: 'others' };
  const added = await craft({
    manifest: { ...manifest, tables: [...manifest.tables, other] },
    tables: new Map(tables).set('others', tables.get(manifest.tables[0]!.name)!),
  });
  expect((await restore(added)).failure).toBe('none');
});

test('control characters of a manifest are refused, and do not reach the terminal', async () => {
  const { manifest, tables } = contents;
  const [table, ...others] = manifest.tables;
  const escape = '\u001b[2J';
  for (const [path, crafted] of [
    ['/serviceVersion', { ...manifest, serviceVersion: `1.0${escape}` }],
    ['/serverVersion', { ...manifest, serverVersion: '18\u009b2J' }],
    ['/tables/0/name', { ...manifest, tables: [{ ...table, name: `x${escape}` }, ...others] }],
    ['/tables/0/columns/0', { ...manifest, tables: [{ ...table, columns: ['x\u0007'] }, ...others] }],
    ['/sequences/0/name', { ...manifest, sequences: [{ name: 'x\n', lastValue: '1', isCalled: true }] }],
  ] as const) {
    const file = await craft({ manifest: crafted, tables });
    const { code, stdout, stderr } = await runCli(['backup', 'verify', file], {});
    expect([code, stdout, stderr]).toEqual([
      ...[1, '', `error: ${file} is no backup of this service: its manifest has a wrong value at ${path}\n`],
    ]);
  }
});

test('a migration of other contents is named by doctor, migrate, backup, verify and restore, and accepted by an option', async () => {
  await runSql(
    source,
    `update drizzle.__drizzle_migrations set hash = repeat('a', 64)
      where id = (select id from drizzle.__drizzle_migrations order by id offset 1 limit 1)`,
  );
  const named = 'The migration 0001_functions-and-triggers was applied with other contents than this version has';
  const env = { DATABASE_URL: databaseUrl(source) };
  expect((await runCli(['doctor', '--only', 'system'], env)).stdout).toContain(`error    migrations       ${named}`);
  expect(await runCli(['migrate'], env)).toMatchObject({ code: 1, stderr: `error: ${named}\n` });
  const made = await runCli(['backup', '--to', folder, '--json'], env);
  const { file, warning } = made.json<{ file: string; warning: string }>();
  expect([made.code, warning]).toEqual([0, expect.stringMatching(named)]);

  const refusal = new RegExp(`^error: .*${named}: restore with version .*, or with \`--accept-migrations\`\n$`);
  expect(await runCli(['backup', 'verify', file], {})).toMatchObject({
    ...{ code: 1, stderr: expect.stringMatching(refusal) as string },
  });
  const target = await emptyDatabase();
  const into = ['restore', file, '--into', databaseUrl(target)];
  expect(await runCli(into, {})).toMatchObject({ code: 1, stderr: expect.stringMatching(refusal) as string });
  expect((await runCli([...into, '--accept-migrations'], {})).code).toBe(0);
  expect(await runSql(target, 'select title from courses order by id')).toEqual([{ title: 'One' }, { title: 'Two' }]);
  expect((await runCli(['doctor', '--only', 'system'], { DATABASE_URL: databaseUrl(target) })).stdout).not.toContain(
    named,
  );

  // Names that do not match are not accepted.
  const { manifest, tables } = contents;
  const replaced = manifest.migrations.with(3, { hash: 'b'.repeat(64), createdAt: 1 });
  const { failure } = await restore(await craft({ manifest: { ...manifest, migrations: replaced }, tables }), {
    acceptMigrations: true,
  });
  expect(failure).toMatch(
    / one of them in the place of 0003_drop-distributed-change-feed: use that version or a newer one$/,
  );
});

test('a folder that cannot be made ends a backup with an error', async () => {
  const { code, stdout, stderr } = await runCli(['backup', '--to', '/proc/x'], { DATABASE_URL: databaseUrl(source) });
  expect([code, stdout, stderr]).toEqual([1, '', 'error: The folder /proc/x cannot be made (ENOENT)\n']);
});
