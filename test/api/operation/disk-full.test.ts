import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { Client } from 'pg';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { findDatabaseDiskSpace, readDiskSpace } from '../../../src/database/disk.ts';
import { assessDisk } from '../../../src/plugins/operations/doctor/disks.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { asAdmin, openTestApp, openTestDatabase, ownDatabase, type TestApp } from '../../support/test-app.ts';
import { createMeasured } from '../../support/metrics.ts';

const folder = temporaryFolder(afterAll);

async function openObserved(connection?: object) {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const database = openTestDatabase(await ownDatabase(), connection && { connection });
  const { metrics, parts } = await createMeasured({ database, folders: { data: folder, backups: folder } });
  const testApp = await openTestApp(database, { logger, parts });
  onTestFinished(testApp.close);
  return { ...testApp, lines, scrape: () => metrics.render() };
}

const readReady = async ({ app }: Pick<TestApp, 'app'>) => {
  const response = await app.inject({ url: '/ready' });
  return [response.statusCode, response.json<object>()];
};

test('a write that fails since the disk is full is told by /ready, the log and the metrics, and reads continue', async () => {
  const observed = await openObserved();
  const { database, lines, scrape } = observed;
  const me = await observed.createProvider();
  expect(await readReady(observed)).toEqual([200, { status: 'ready' }]);
  const before = await scrape();
  expect(before).toContain('booking_database_disk_full 0\n');
  expect(before).toContain('booking_http_unavailable_total{reason="disk_full"} 0\n');

  // As PostgreSQL fails where it cannot extend a file.
  await database.pool.query(`create function fail() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
  await database.pool.query('create trigger fail before insert on courses execute function fail()');
  const refused = await me.post('/v2/courses', { title: 'One' });
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);

  expect(await readReady(observed)).toEqual([200, { status: 'ready', writes: 'disk_full' }]);
  expect((await me.get('/v2/courses')).status).toBe(200);
  const after = await scrape();
  expect(after).toContain('booking_database_disk_full 1\n');
  expect(after).toContain('booking_http_unavailable_total{reason="disk_full"} 1\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({
      ...{ msg: 'POST /v2/courses is unavailable', reason: 'disk_full', provider: me.id },
      hint: 'the disk of the database is full: free space or enlarge it; reads continue',
    }),
  );
});

test('a failed write of another reason is no full disk', async () => {
  const observed = await openObserved();
  const me = await observed.createProvider();
  await observed.database.pool.query(`create function fail() returns trigger language plpgsql as
    $$ begin raise exception 'no' using errcode = 'read_only_sql_transaction'; end $$`);
  await observed.database.pool.query('create trigger fail before insert on courses execute function fail()');
  expect((await me.post('/v2/courses', { title: 'One' })).status).toBe(503);
  expect(await readReady(observed)).toEqual([200, { status: 'ready' }]);
});

test('a database without free connections is told', async () => {
  const role = `limited_${process.pid}`;
  await asAdmin(`create role ${role} login password 'pw' connection limit 1`);
  onTestFinished(() => asAdmin(`drop role ${role}`));
  const connection = { ...inject('server'), database: inject('shared'), user: role, password: 'pw' };
  const only = new Client(connection);
  await only.connect();
  onTestFinished(() => only.end());
  const observed = await openObserved(connection);
  expect(await readReady(observed)).toEqual([503, { status: 'not ready', reason: 'too_many_connections' }]);
  expect(observed.lines.join('')).toContain('the database accepts no more connections: raise max_connections');
});

test('the space of a folder is that of its file system, also before the folder exists', async () => {
  const { blocks, bsize } = statfsSync(folder);
  for (const path of [folder, join(folder, 'not/made/yet')])
    expect(await readDiskSpace(path)).toEqual({ free: expect.any(Number) as number, size: blocks * bsize });
});

test('the space of the database is read where the role may know its folder', async () => {
  const database = openTestDatabase(inject('shared'));
  onTestFinished(() => database.close());
  const { rows } = await database.pool.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  const { blocks, bsize } = statfsSync(rows[0]!.folder);
  expect(await findDatabaseDiskSpace(database.pool)).toMatchObject({ size: blocks * bsize });

  const role = `blind_${process.pid}`;
  await asAdmin(`create role ${role} login password 'pw'`);
  onTestFinished(() => asAdmin(`drop role ${role}`));
  const connection = { ...inject('server'), database: inject('shared'), user: role, password: 'pw' };
  const blind = openTestDatabase(inject('shared'), { connection });
  onTestFinished(() => blind.close());
  expect(await findDatabaseDiskSpace(blind.pool)).toBeUndefined();
});

test.each([
  ['ok', 500, 4_000],
  ['ok', 20, 100],
  ['warning', 9, 100],
  ['ok', 0.9, 4],
  ['warning', 0.05, 1],
  ['error', 0.5, 100],
  ['error', 0, 0.06],
])('%s: %d of %d GB are free', (level, free, size) => {
  expect(assessDisk('database', { free: free * 2 ** 30, size: size * 2 ** 30 }).level).toBe(level);
});
