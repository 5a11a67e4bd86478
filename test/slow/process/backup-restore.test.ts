import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Manifest } from '../../../src/plugins/backup/format.ts';
import { transferTable, verifyBackup, withBackup } from '../../../src/plugins/backup/read.ts';
import { restoreBackup } from '../../../src/plugins/backup/restore.ts';
import { writeBackup } from '../../../src/plugins/backup/write.ts';
import { applyMigrations, migrateDatabase } from '../../../src/database/migrate.ts';
import { readMigrations } from '../../../src/database/migration-history.ts';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { loadDemo } from '../../../src/plugins/transfer/demo/load.ts';
import { newApiKey } from '../../../src/core/api-key.ts';
import { emptyDatabase, runSql } from '../../support/backups.ts';
import { bookOrFail, createBookableDate, persons } from '../../support/booking.ts';
import { readBaseline } from '../../support/migrations.ts';
import { temporaryFolder } from '../../support/processes.ts';
import {
  asAdmin,
  connectionTo,
  createProvider,
  openTestApp,
  openTestDatabase,
  ownDatabase,
  send,
  settings,
  type Provider,
  type TestApp,
} from '../../support/test-app.ts';

const serviceVersion = '1.2.3';

/** A database with the demo data, a school, and its backup; the school is then changed. */
let source: { name: string; testApp: TestApp; me: Provider; demoKey: string };
let backup: { file: string; manifest: Manifest };
let before: { cursor: string; etag: string; dateId: number; courseId: number };
let later: { cursor: string; etag: string };
/** Databases restored from it; the first tests only read the second one. */
let restored: string;
let twin: string;

const readCursor = async (me: Provider, query = '') =>
  (await me.get(`/v2/changes${query}`)).json<{ cursor: string }>().cursor;
const readEtag = async (me: Provider) => String((await me.get('/v2/courses')).headers['etag']);

beforeAll(async () => {
  const name = await ownDatabase(afterAll);
  const testApp = await openTestApp(openTestDatabase(name));
  afterAll(testApp.close);
  const demoKey = newApiKey();
  await loadDemo(testApp.database, settings, () => demoKey);
  const me = await createProvider(testApp.app, testApp.database);
  const { courseId, dateId } = await createBookableDate(me, { capacityMax: 2, capacityWait: 5 });
  await bookOrFail(me, dateId, { participants: persons(3), config: { waiting_list_when_full: true } });
  source = { name, testApp, me, demoKey };
  before = { cursor: await readCursor(me), etag: await readEtag(me), dateId, courseId };
  const folder = temporaryFolder(afterAll);
  const file = join(folder, 'one.zip');
  backup = { file, manifest: await writeBackup(connectionTo(name), file, { serviceVersion }) };
  await me.course();
  later = { cursor: await readCursor(me), etag: await readEtag(me) };
  [restored, twin] = [await emptyDatabase('', afterAll), await emptyDatabase('', afterAll)];
  expect(await restoreBackup(backup.file, connectionTo(restored))).toMatchObject({ unknownTables: [], migrated: 0 });
  await restoreBackup(backup.file, connectionTo(twin));
});

/** Requests of the school through an app on another database, closed after the test. */
async function openRestored(name: string) {
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  const request = (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}, payload?: object) =>
    send(testApp.app, {
      ...{ method, url, headers: { 'x-api-key': source.me.apiKey, ...headers } },
      ...(payload && { payload }),
    });
  return { ...testApp, request };
}

const writeAgain = (name: string) =>
  writeBackup(connectionTo(name), join(temporaryFolder(), 'again.zip'), { serviceVersion });

test('a restored database has the same rows, keys, counters and sequences', async () => {
  const { tables, sequences, migrations } = backup.manifest;
  expect(tables.filter(({ rows }) => rows > 0).length).toBeGreaterThan(30);
  expect(await writeAgain(restored)).toMatchObject({ tables, sequences, migrations });

  const { request, database } = await openRestored(restored);
  expect((await checkCounters(database, {})).differences).toEqual([]);
  const counters = `select num_confirmed, num_waiting from course_dates where id = ${before.dateId}`;
  expect(await runSql(restored, counters)).toEqual([{ num_confirmed: 2, num_waiting: 1 }]);
  const demo = await request('GET', '/v2/courses?limit=1', { 'x-api-key': source.demoKey });
  expect([demo.status, demo.json<unknown[]>().length]).toEqual([200, 1]);

  const created = await request('POST', '/v2/courses', {}, { title: 'After the restore' });
  expect(created.status, created.text).toBe(201);
  expect(created.json<{ course_id: number }>().course_id).toBeGreaterThan(before.courseId);
});

test('the restored rows are analyzed with the statistics of tenants', async () => {
  const distinct = `select n_distinct from pg_stats where schemaname = 'public' and tablename = 'courses' and attname = 'provider_id'`;
  expect(await runSql(restored, distinct)).toEqual([{ n_distinct: 20 }]);
});

test('triggers, foreign keys and everything else of the schema are as a migration makes them', async () => {
  const migrated = await emptyDatabase();
  await migrateDatabase(connectionTo(migrated));
  const schema = `select md5(concat(
    (select string_agg(concat_ws(' ', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid)), ',' order by conrelid::regclass::text, conname)
      from pg_constraint where connamespace = 'public'::regnamespace),
    (select string_agg(indexdef, ',' order by indexdef) from pg_indexes where schemaname = 'public'),
    (select string_agg(concat_ws(' ', tgrelid::regclass, tgenabled, pg_get_triggerdef(oid)), ',' order by tgrelid::regclass::text, tgname)
      from pg_trigger where not tgisinternal))) as schema`;
  expect(await runSql(restored, schema)).toEqual(await runSql(migrated, schema));
});

test('an ETag of one restore matches no other restore on the same server', async () => {
  // The start time of the server and all clocks are the same.
  const read = async (name: string, headers: Record<string, string> = {}) =>
    (await openRestored(name)).request('GET', '/v2/customers', headers);
  const etag = String((await read(restored)).headers['etag']);
  expect((await read(restored, { 'if-none-match': etag })).status).toBe(304);
  expect((await read(twin, { 'if-none-match': etag })).status).toBe(200);
});

test('ETags and cursors of before the restore', async () => {
  const { request } = await openRestored(twin);
  for (const etag of [before.etag, later.etag])
    expect((await request('GET', '/v2/courses', { 'if-none-match': etag })).status).toBe(200);
  // Control: an ETag of now matches.
  const now = await request('GET', '/v2/courses');
  const etag = String(now.headers['etag']);
  expect((await request('GET', '/v2/courses', { 'if-none-match': etag })).status).toBe(304);

  expect((await request('GET', `/v2/changes?since=${before.cursor}`)).json()).toMatchObject({ items: [] });
  expect((await request('GET', `/v2/changes?since=${later.cursor}`)).status).toBe(410);
  // The ids of undone events are given again.
  await request('POST', '/v2/courses', {}, { title: 'One' });
  await request('POST', '/v2/courses', {}, { title: 'Two' });
  expect((await request('GET', `/v2/changes?since=${later.cursor}`)).status).toBe(410);
  const { items } = (await request('GET', `/v2/changes?since=${before.cursor}`)).json<{ items: { type: string }[] }>();
  expect(items.map(({ type }) => type)).toEqual(['course.created', 'course.created']);
});

test('a role that is no superuser can restore into its database', async () => {
  const name = await emptyDatabase();
  const role = `owner_${name}`;
  await asAdmin(`create role ${role} login password 'pw'`);
  onTestFinished(async () => {
    await runSql(name, `reassign owned by ${role} to current_user; drop owned by ${role}`);
    await asAdmin(`drop role ${role}`);
  });
  await asAdmin(`alter database ${name} owner to ${role}`);
  await restoreBackup(backup.file, { ...connectionTo(name), user: role, password: 'pw' });
  expect((await writeAgain(name)).tables).toEqual(backup.manifest.tables);
});

test('every changed, missing or added byte is found', async () => {
  const whole = readFileSync(backup.file);
  const file = join(temporaryFolder(), 'damaged.zip');
  const found = async (bytes: Buffer) => {
    writeFileSync(file, bytes);
    return verifyBackup(file).then(
      () => 'whole',
      (error: unknown) => (error as Error).message,
    );
  };
  expect(await found(whole)).toBe('whole');
  const step = Math.ceil(whole.length / 60);
  for (let at = 0; at < whole.length; at += at < whole.length - 200 ? step : 7) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1 << (at % 8);
    expect(await found(changed), `byte ${at}`).toMatch(/is damaged/);
  }
  for (const size of [0, 1, 64, 65, 1_000, whole.length >> 1, whole.length - 1])
    expect(await found(whole.subarray(0, size)), `${size} bytes`).toMatch(/is damaged/);
  expect(await found(Buffer.concat([whole, Buffer.from('a')]))).toMatch(/is damaged/);

  const target = await emptyDatabase();
  writeFileSync(file, whole.subarray(0, -1));
  await expect(restoreBackup(file, connectionTo(target))).rejects.toThrow(/is damaged/);
});

test('a wrong row in a file with a valid checksum is found by the digest of its table, and nothing is restored', async () => {
  // As another program would write it: with a checksum, and a manifest that does not belong to the rows.
  const name = await emptyDatabase();
  const { manifest } = backup;
  const courses = manifest.tables.find((table) => table.name === 'courses')!;
  await expect(
    withBackup(backup.file, (open) => {
      const wrong = { ...courses, sha256: courses.sha256.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) };
      return transferTable(open, wrong, new Writable({ write: (_chunk, _encoding, done) => done() }));
    }),
  ).rejects.toThrow('The table courses differs');
  expect(await runSql(name, `select from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([]);
});

test('wrong targets are refused and stay as they are', async () => {
  const used = await ownDatabase();
  await expect(restoreBackup(backup.file, connectionTo(used))).rejects.toThrow('The target database is not empty');
  const foreign = await emptyDatabase();
  await runSql(foreign, 'create table something (id int)');
  await expect(restoreBackup(backup.file, connectionTo(foreign))).rejects.toThrow('The target database is not empty');
  const ascii = await emptyDatabase(`encoding 'SQL_ASCII' locale_provider libc locale 'C'`);
  await expect(restoreBackup(backup.file, connectionTo(ascii))).rejects.toThrow('the encoding SQL_ASCII');
  expect(await runSql(ascii, `select from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([]);
});

const laterMigrations = readMigrations().length - readBaseline().length;

test('a backup of an older state is migrated, and one of a newer state or of another history is refused', async () => {
  const older = await emptyDatabase();
  const client = new Client(connectionTo(older));
  await client.connect();
  await applyMigrations(client, readBaseline());
  await client.query(
    `insert into providers (title, slug, created_at, updated_at) values ('Older', 'older', now(), now())`,
  );
  await client.end();
  // A table of another role in the schema is not of the service.
  const role = `other_${older}`;
  await runSql(older, `create role ${role}; create table others (id int); alter table others owner to ${role}`);
  const file = join(temporaryFolder(), 'older.zip');
  const { tables } = await writeBackup(connectionTo(older), file, { serviceVersion });
  expect(tables.map(({ name }) => name)).not.toContain('others');
  await runSql(older, `drop owned by ${role}; drop role ${role}`);
  const target = await emptyDatabase();
  expect(await restoreBackup(file, connectionTo(target))).toMatchObject({ migrated: laterMigrations });
  expect(await runSql(target, 'select title from providers')).toEqual([{ title: 'Older' }]);

  await runSql(older, `insert into drizzle.__drizzle_migrations (hash, created_at) values ('of later', 1)`);
  const newer = join(temporaryFolder(), 'newer.zip');
  await writeBackup(connectionTo(older), newer, { serviceVersion });
  await expect(restoreBackup(newer, connectionTo(await emptyDatabase()))).rejects.toThrow(
    'made by version 1.2.3 with migrations that this version does not have',
  );

  await runSql(older, `update drizzle.__drizzle_migrations set (hash, created_at) = ('other', 1) where id = 1`);
  const other = join(temporaryFolder(), 'other.zip');
  await writeBackup(connectionTo(older), other, { serviceVersion });
  const empty = await emptyDatabase();
  for (const acceptMigrations of [false, true])
    await expect(restoreBackup(other, connectionTo(empty), { acceptMigrations })).rejects.toThrow(
      'with migrations that this version does not have, one of them in the place of 0000_tables',
    );
  expect(await runSql(empty, 'select from pg_namespace where nspname = $1', ['drizzle'])).toEqual([]);
});

test('a failed backup leaves no file, and an existing one is not overwritten', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'one.zip');
  const abort = new AbortController();
  abort.abort(new Error('stopped'));
  await expect(writeBackup(connectionTo(source.name), file, { serviceVersion, signal: abort.signal })).rejects.toThrow(
    'stopped',
  );
  await expect(writeBackup(connectionTo('no_such_database'), file, { serviceVersion })).rejects.toThrow();
  expect(readdirSync(folder)).toEqual([]);
  // At the same moment, as by two commands.
  await Promise.all([1, 2].map(async () => writeBackup(connectionTo(source.name), file, { serviceVersion })));
  await verifyBackup(file);
  expect(readdirSync(folder)).toEqual(['one.zip']);
  copyFileSync(backup.file, file);
  await expect(writeBackup(connectionTo(source.name), file, { serviceVersion })).rejects.toThrow('already exists');
  expect(readFileSync(file)).toEqual(readFileSync(backup.file));
  expect(statSync(backup.file).mode & 0o777).toBe(0o600);
});
