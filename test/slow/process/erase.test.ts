import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { emptyDatabase } from '../../support/backups.ts';
import { eventually, openMailTestApp } from '../../support/mail.ts';
import { createUser } from '../../support/orders.ts';
import { findPlanted, planted, plantPerson } from '../../support/planted.ts';
import { databaseUrl, runCli, startServer, temporaryFolder } from '../../support/processes.ts';
import { connectionTo } from '../../support/test-app.ts';
import { createWebhook, startReceiver } from '../../support/webhooks.ts';

vi.setConfig({ testTimeout: 180_000 });

function poolOf(name: string) {
  const pool = new Pool({ ...connectionTo(name), max: 1 });
  onTestFinished(() => pool.end());
  return pool;
}

/** True if a dump contains the planted word; undefined without a `pg_dump` of the server's version. */
async function isInDump(name: string) {
  const dump = promisify(execFile)('pg_dump', [databaseUrl(name)], { maxBuffer: 2 ** 28 });
  return dump.then(
    ({ stdout }) => stdout.includes(planted),
    () => undefined,
  );
}

const mailsIn = (folder: string) =>
  readdirSync(join(folder, 'mail')).filter((file) =>
    readFileSync(join(folder, 'mail', file), 'utf8').includes(planted),
  );

async function restore(backup: string, more: string[] = []) {
  const name = await emptyDatabase();
  const restored = await runCli(['restore', backup, '--into', databaseUrl(name), '--json', ...more], {});
  expect([restored.code, restored.stderr]).toEqual([0, '']);
  return { ...restored.json<{ erased: number }>(), name, found: await findPlanted(poolOf(name)) };
}

test('after an erasure a dump, the log, the mail folder and a restored backup have nothing of the person', async () => {
  const { name, createProvider, database } = await openMailTestApp();
  const me = await createProvider();
  const folder = temporaryFolder();
  const receiver = await startReceiver();
  const env = {
    ...{ DATABASE_URL: databaseUrl(name), DATA_DIR: folder, MAIL_TO_FILES: 'true', BACKUP_AT: '03:15' },
    ...{ LOG_LEVEL: 'trace', LOG_REQUESTS: 'all', WEBHOOK_ALLOW: '127.0.0.1/32' },
  };
  const server = await startServer(env);
  await createWebhook(me, { url: receiver.url });
  const { id, dateId } = await plantPerson(me, database.pool);
  const former = await createUser(me, { firstname: planted });
  const line = { kind: 'user', ref: `file-${planted}`, username: `file-${planted}`, firstname: planted };
  const file = join(folder, 'school.ndjson');
  writeFileSync(file, `${JSON.stringify(line)}\n`);
  const importFile = async () =>
    (await runCli(['import', file, '--provider', String(me.id), '--json'], env)).json<{ known: number }>();
  expect(await importFile()).toMatchObject({ written: 1, known: 0 });
  const { rows } = await database.pool.query<{ id: number }>('select id from course_users where username = $1', [
    line.username,
  ]);
  const imported = rows[0]!.id;

  await eventually(() => expect(mailsIn(folder)).toHaveLength(1));
  await eventually(() => expect(JSON.stringify(receiver.received)).toContain(planted));
  const backup = (await runCli(['backup', '--json'], env)).json<{ file: string }>().file;
  expect((await findPlanted(database.pool)).length).toBeGreaterThan(50);
  expect(await isInDump(name)).not.toBe(false);

  expect((await me.post(`/v2/course-users/${former}/merge`, { into: id })).status).toBe(200);
  for (const erased of [id, imported]) {
    const response = await fetch(`${server.url}/v2/course-users/${erased}/erase`, {
      ...{ method: 'POST', headers: { 'x-api-key': me.apiKey } },
    });
    expect([response.status, await response.json()]).toMatchObject([200, { kept: [] }]);
  }
  const list = join(folder, 'backups/erasures.jsonl');
  await eventually(() => {
    expect(existsSync(list) && readFileSync(list, 'utf8').split('\n').filter(Boolean)).toHaveLength(3);
    expect(mailsIn(folder)).toEqual([]);
  });

  expect(await findPlanted(database.pool)).toEqual([]);
  expect(await isInDump(name)).not.toBe(true);
  expect(server.output() + server.errors()).not.toContain(planted);
  expect(readFileSync(list, 'utf8')).not.toContain(planted);
  expect(await importFile()).toMatchObject({ written: 0, known: 1 });
  expect(await findPlanted(database.pool)).toEqual([]);

  const other = temporaryFolder();
  expect((await runCli(['backup', '--to', other], env)).code).toBe(0);
  const { erased_since } = (
    await runCli(['backup', 'verify', backup, '--erasures', join(other, 'erasures.jsonl'), '--json'], {})
  ).json<{ erased_since: number }>();
  expect(erased_since).toBe(3);

  const verified = await runCli(['backup', 'verify', backup, '--json'], {});
  expect(verified.json<object>()).toMatchObject({ erased_since: 3 });
  const restored = await restore(backup);
  expect(restored).toMatchObject({ erased: 3, found: [] });
  expect(await isInDump(restored.name)).not.toBe(true);
  const { rows: places } = await poolOf(restored.name).query(
    'select num_confirmed::int as count from course_dates where id = $1',
    [dateId],
  );
  expect(places).toEqual([{ count: 1 }]);

  // Negative control.
  const none = join(folder, 'none.jsonl');
  writeFileSync(none, '');
  const control = await restore(backup, ['--erasures', none]);
  expect([control.erased, control.found.length > 50]).toEqual([0, true]);

  const cut = join(folder, 'cut.jsonl');
  writeFileSync(cut, readFileSync(list, 'utf8').trimEnd().slice(0, -1));
  const partly = await runCli(['backup', 'verify', backup, '--erasures', cut, '--json'], {});
  expect(partly.json<object>()).toMatchObject({ erased_since: 2 });
  expect(partly.stderr).toMatch(/^warning: Line \d+ of .*cut\.jsonl is cut short: its erasure is not applied\n$/);

  // As after a recovery by other means.
  const applied = await runCli(['erasures', 'apply', list, '--json'], { DATABASE_URL: databaseUrl(control.name) });
  expect(applied.json<object>()).toEqual({ erased: 3 });
  expect(await findPlanted(poolOf(control.name))).toEqual([]);
});
