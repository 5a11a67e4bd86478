import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { readErasures } from '../../../src/plugins/backup/erasures.ts';
import { restoreBackup } from '../../../src/plugins/backup/restore.ts';
import { createTitledProvider } from '../../../src/domains/school/schools/service.ts';
import { importObjects } from '../../support/all-responses.ts';
import { emptyDatabase, runSql } from '../../support/backups.ts';
import { schoolFile } from '../../support/import-file.ts';
import { databaseUrl, runCli, startServer, temporaryFolder } from '../../support/processes.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

async function open() {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  const client = new Client(connectionTo(name));
  await client.connect();
  onTestFinished(() => client.end());
  const env = { DATABASE_URL: databaseUrl(name) };
  return { testApp, client, env, folder: temporaryFolder(), name };
}

const rowsOf = async (client: Client, table: string, providerId: number) =>
  (await client.query(`select from ${table} where provider_id = $1`, [providerId])).rowCount;

test('provider delete asks for the title, writes an export and ends the keys in a running server', async () => {
  const { testApp, client, env, folder, name } = await open();
  const [me, partner, copy] = [
    await testApp.createProvider('Øystese kurs'),
    await testApp.createProvider(),
    await testApp.createProvider(),
  ];
  await importObjects(me, schoolFile(partner.id).slice(1), {}, { name });
  const child = await createTitledProvider(testApp.database, 'Child', me.id);
  const server = await startServer(env);
  const status = async () => (await fetch(`${server.url}/v2/courses`, { headers: { 'x-api-key': me.apiKey } })).status;
  const file = join(folder, 'end.ndjson');
  const args = ['provider', 'delete', String(me.id), '--export', file];
  const parent = await runCli([...args, '--yes'], env);
  expect(parent).toMatchObject({ code: 1, stderr: expect.stringContaining('has sub-schools (1): delete them first') });
  expect((await runCli(['provider', 'delete', String(child.providerId), '--yes', '--no-export'], env)).code).toBe(0);

  for (const title of ['Øystese', '', 'øystese kurs\n']) {
    const refused = await runCli(args, env, title);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ title: \nerror: .* nothing was deleted\n$/),
    });
  }
  expect([await status(), existsSync(file), await rowsOf(client, 'course_users', me.id)]).toEqual([200, false, 3]);

  const { code, stdout, stderr } = await runCli(args, env, ' Øystese kurs \n');
  expect([code, stdout.split('\n')[1], stderr]).toEqual([
    0,
    `The export is ${file}`,
    `All data of provider ${me.id} will be deleted. Its title: \n`,
  ]);
  expect(await status()).toBe(401);
  const { rows } = await client.query('select id::int from providers order by id');
  expect(rows).toEqual([{ id: partner.id }, { id: copy.id }]);
  expect((await runCli(['audit', 'list', '--json'], env)).json<object[]>()[0]).toMatchObject({
    ...{ provider_id: null, actor: 'operator', action: 'provider delete', item_ids: [me.id] },
  });

  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const objects = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(await importObjects(copy, objects, {}, { name })).toMatchObject({ written: lines.length, reasons: [] });
  expect((await copy.get('/v2/participants')).json()).toHaveLength(5);
});

test('writes that wait while the provider is closed are in the export', async () => {
  const { testApp, client, env, folder, name } = await open();
  const me = await testApp.createProvider();
  const waiting = new Client(connectionTo(name));
  await waiting.connect();
  onTestFinished(() => waiting.end());
  const locks = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const areLocked = (count: number) =>
    expect.poll(async () => (await testApp.database.pool.query(locks)).rowCount).toBe(count);
  const lock = `select lock_provider(${me.id}, '{catalog}')`;
  await client.query(`begin; ${lock}`);
  const file = join(folder, 'end.ndjson');
  const deletion = runCli(['provider', 'delete', String(me.id), '--yes', '--export', file], env);
  // First the closing waits, then a write of a request that was accepted before.
  await areLocked(1);
  const writing = waiting.query(`begin; ${lock}`);
  await areLocked(2);
  await client.query('commit');
  await writing;
  // The export waits for it.
  await areLocked(1);
  await waiting.query(
    `insert into tags (provider_id, title, created_at, updated_at) values (${me.id}, 'Late', now(), now()); commit`,
  );
  expect(await deletion).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(file, 'utf8')).toContain('"Late"');
});

test('a deletion that is killed in the middle is continued by a second run, without another export', async () => {
  const { testApp, client, env, folder, name } = await open();
  const [me, partner] = [await testApp.createProvider('Mine'), await testApp.createProvider()];
  await importObjects(me, schoolFile(partner.id).slice(1), {}, { name });
  await client.query('begin');
  await client.query('select from customers where provider_id = $1 for update', [me.id]);
  const file = join(folder, 'end.ndjson');
  const args = ['provider', 'delete', String(me.id), '--yes', '--export', file];
  const child = spawn(process.execPath, ['dist/cli.js', ...args], { env: { ...process.env, ...env }, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(async () => (await testApp.database.pool.query(waiting)).rowCount).toBe(1);
  child.kill('SIGKILL');
  await ended;
  await testApp.database.pool.query(`select pg_terminate_backend(pid) from (${waiting}) one`);
  await client.query('rollback');

  expect([await rowsOf(client, 'participants', me.id), await rowsOf(client, 'customers', me.id)]).toEqual([0, 2]);
  expect((await me.get('/v2/courses')).status).toBe(401);
  const listed = (await runCli(['provider', 'list', '--json'], env)).json<object[]>();
  expect(listed).toMatchObject([
    { provider_id: me.id, is_deleted: true },
    { provider_id: partner.id, is_deleted: false },
  ]);
  expect(await runCli(['provider', 'open', String(me.id)], env)).toMatchObject({
    code: 1,
    stderr: `error: Provider ${me.id} not found\n`,
  });
  expect(readFileSync(file, 'utf8')).toContain('"kind":"participant"');

  const again = await runCli([...args, '--json'], env);
  expect([again.code, again.json()]).toMatchObject([0, { provider_id: me.id, export: null, orders_kept: false }]);
  expect((await client.query('select from providers where id = $1', [me.id])).rowCount).toBe(0);
});

test('provider delete --keep-orders keeps the orders, and is refused if the export cannot be a new file', async () => {
  const { testApp, client, env, folder, name } = await open();
  const [me, partner] = [await testApp.createProvider(), await testApp.createProvider()];
  await importObjects(me, schoolFile(partner.id).slice(1), {}, { name });
  const args = ['provider', 'delete', String(me.id), '--yes', '--keep-orders'];
  const existing = join(folder, 'one.ndjson');
  expect((await runCli(['export', existing, '--provider', String(partner.id)], env)).code).toBe(0);
  const read = async () => ({
    provider: (await client.query('select * from providers where id = $1', [me.id])).rows,
    state: (await client.query('select * from provider_state where provider_id = $1', [me.id])).rows,
    participants: await rowsOf(client, 'participants', me.id),
  });
  const before = await read();
  for (const [target, reason] of [
    [existing, 'already exists and is not overwritten'],
    [join(folder, 'missing', 'one.ndjson'), 'cannot be written (ENOENT)'],
  ] as const)
    expect(await runCli([...args, '--export', target], env)).toMatchObject({
      ...{ code: 1, stderr: `error: ${target} ${reason}\n` },
    });
  expect(await read(), 'the provider was never closed').toEqual(before);

  const { code, stdout } = await runCli([...args, '--no-export'], env);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Deleted \d+ rows of provider \d+; its orders stay\n$/)]);
  expect([await rowsOf(client, 'orders', me.id), await rowsOf(client, 'participants', me.id)]).toEqual([4, 0]);
  expect((await runCli(['provider', 'delete', String(me.id), '--yes'], env)).code).toBe(0);
  expect(await rowsOf(client, 'orders', me.id)).toBe(0);
});

test('a restored backup has nothing of schools that were deleted since, but for the orders that were kept', async () => {
  const { testApp, env: own, folder, name } = await open();
  const env = { ...own, DATA_DIR: folder, BACKUP_AT: '03:15' };
  const [gone, reduced, partner] = [
    await testApp.createProvider(),
    await testApp.createProvider(),
    await testApp.createProvider(),
  ];
  for (const me of [gone, reduced]) await importObjects(me, schoolFile(partner.id).slice(1), {}, { name });
  const backup = (await runCli(['backup', '--json'], env)).json<{ file: string }>().file;
  await startServer(env);
  const remove = (...args: string[]) => runCli(['provider', 'delete', ...args, '--yes', '--no-export'], env);
  expect((await remove(String(gone.id))).code).toBe(0);
  expect((await remove(String(reduced.id), '--keep-orders')).code).toBe(0);
  const list = join(folder, 'backups/erasures.jsonl');
  const read = () => (existsSync(list) ? readFileSync(list, 'utf8').split('\n').filter(Boolean) : []);
  await expect.poll(read).toHaveLength(2);
  const moments = { created_at: expect.any(String) as string, erased_at: expect.any(String) as string };
  expect(read().map((line) => JSON.parse(line) as object)).toEqual([
    { provider: gone.id, ...moments },
    { provider: reduced.id, ...moments, orders_kept: true },
  ]);

  const count = (database: string) =>
    runSql(
      database,
      `select p.id::int, (select count(*)::int from orders o where o.provider_id = p.id) as orders,
         (select count(*)::int from participants o where o.provider_id = p.id) as participants
       from providers p order by p.id`,
    );
  const restore = async (...more: string[]) => {
    const target = await emptyDatabase();
    const restored = await runCli(['restore', backup, '--into', databaseUrl(target), '--json', ...more], {});
    return { code: restored.code, erased: restored.json<{ erased: number }>().erased, counts: await count(target) };
  };
  const left = { id: partner.id, orders: 0, participants: 0 };
  const deleted = [{ id: reduced.id, orders: 4, participants: 0 }, left];
  expect(await restore()).toEqual({ code: 0, erased: 2, counts: deleted });

  const target = await emptyDatabase();
  const retention = { timezone: 'Europe/Oslo', invoiceRetentionYears: 5 };
  await restoreBackup(backup, connectionTo(target), { erasing: { list: (await readErasures(list))!, retention } });
  expect(await count(target), 'at the end of the transaction').toEqual(deleted);
  const readKeys = 'select conname from pg_constraint order by 1';
  expect(await runSql(target, readKeys)).toEqual(await runSql(name, readKeys));
  // Negative control.
  const none = join(folder, 'none.jsonl');
  writeFileSync(none, '');
  const whole = (id: number) => ({ id, orders: 4, participants: 5 });
  expect(await restore('--erasures', none)).toEqual({
    ...{ code: 0, erased: 0 },
    counts: [whole(gone.id), whole(reduced.id), left],
  });
});
