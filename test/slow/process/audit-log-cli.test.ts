import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { retryMails } from '../../../src/plugins/delivery/mail/service.ts';
import { listAuditEntries } from '../../../src/database/audit-log.ts';
import { addDate } from '../../support/dates.ts';
import { invite } from '../../support/mail.ts';
import { createUser } from '../../support/orders.ts';
import { runCli, startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { schoolFile } from '../../support/import-file.ts';
import {
  connectionTo,
  openTestDatabase,
  openTestApp,
  ownDatabase,
  sharedTestApp,
  type Provider,
} from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const env = { DATABASE_URL: databaseUrl(inject('shared')) };
const run = (...args: string[]) => runCli(args, env);

type Entry = {
  entry_id: number;
  at: string;
  provider_id: number | null;
  actor: string;
  action: string;
  item_ids: number[];
};
const listed = async ({ id }: { id: number }, ...more: string[]) =>
  (await run('audit', 'list', '--provider', String(id), '--json', ...more)).json<Entry[]>();
const reported = (entries: Entry[]) => entries.map(({ actor, action, item_ids }) => [actor, action, ...item_ids]);

test('each command that changes data writes one audit entry for the operator', async () => {
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const [mine, theirs] = [String(me.id), String(other.id)];
  const userId = await createUser(me, { email: 'kari@x.example' });
  const courseId = await me.course();
  const category = (await run('category', 'add', '--title', `Category ${process.pid}-${Date.now()}`, '--json')).json<{
    category_id: number;
  }>();
  const keyId = (await run('key', 'create', '--provider', mine, '--json')).json<{ key_id: number }>().key_id;
  const commands = [
    ['key', 'rotate', String(keyId)],
    ['key', 'revoke', String(keyId)],
    // Nothing is left to revoke.
    ['key', 'revoke', String(keyId)],
    ['partner', 'approve', '--provider', mine, '--partner', theirs],
    ['partner', 'revoke', '--provider', mine, '--partner', theirs],
    ['course', 'categorize', '--provider', mine, '--course', `${courseId}`, '--category', `${category.category_id}`],
    ['user', 'invite', '--provider', mine, '--user', String(userId)],
    ['doctor', '--provider', mine, '--fix'],
    ['key', 'list', '--provider', mine],
  ];
  for (const command of commands) expect((await run(...command)).code, command.join(' ')).toBe(0);
  const set = ['user', 'set-password', '--provider', mine, '--user', String(userId)];
  expect((await runCli(set, env, 'short\n')).code).toBe(1);
  expect((await runCli(set, env, 'fjord and forest\n')).code).toBe(0);
  expect((await run('user', 'set-password', '--provider', theirs, '--user', String(userId))).code).toBe(1);

  const partners = (action: string) => ['operator', `partner ${action}`, me.id, other.id];
  expect(reported(await listed(me))).toEqual([
    ['operator', 'user set-password', userId],
    ['operator', 'user invite', userId],
    ['operator', 'course categorize', courseId],
    partners('revoke'),
    partners('approve'),
    ['operator', 'key revoke', keyId],
    ['operator', 'key rotate', keyId, expect.any(Number)],
    ['operator', 'key create', keyId],
    ['key', 'POST /v2/courses', courseId],
  ]);
  expect(reported(await listed(other))).toEqual([partners('revoke'), partners('approve')]);
  const all = await listAuditEntries(testApp.database, { providerId: null, since: null, limit: 10_000 });
  const shared = all.filter(({ action }) => action === 'category add');
  expect(shared).toMatchObject([{ provider_id: null, actor: 'operator', item_ids: [category.category_id] }]);
});

test('an import writes one audit entry; a dry run, an invalid file and a repeated run write none', async () => {
  const [me, partner] = [await testApp.createProvider(), await testApp.createProvider()];
  const file = join(temporaryFolder(), 'school.ndjson');
  const write = (objects: object[]) => writeFileSync(file, objects.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const importFile = (...more: string[]) =>
    run('import', file, '--provider', String(me.id), '--allow', 'partners,categories', ...more);
  write([{ kind: 'tag', ref: 'a', title: 'Tag' }, { kind: 'nonsense' }]);
  expect((await importFile()).code).toBe(1);
  write(schoolFile(partner.id));
  expect((await importFile('--dry-run')).code).toBe(0);
  expect(await listed(me)).toEqual([]);
  for (let turn = 0; turn < 2; turn += 1) expect((await importFile()).code).toBe(0);
  expect(reported(await listed(me))).toEqual([['operator', 'import']]);
});

test('a new provider and its parent each get an audit entry', async () => {
  const parent = await testApp.createProvider();
  const create = async (...more: string[]) =>
    (await run('provider', 'create', '--title', 'New', '--json', ...more)).json<{ provider_id: number }>().provider_id;
  const [alone, child] = [await create(), await create('--parent', String(parent.id))];
  expect(reported(await listed({ id: alone }))).toEqual([['operator', 'provider create', alone]]);
  expect(reported(await listed({ id: child }))).toEqual([['operator', 'provider create', child]]);
  expect(reported(await listed(parent))).toEqual([['operator', 'provider create', child]]);
});

test('retried mails and corrected counters are logged; commands without effect are not', async () => {
  const name = await ownDatabase();
  const own = await openTestApp(openTestDatabase(name));
  onTestFinished(() => own.close());
  const [me, other] = [await own.createProvider(), await own.createProvider()];
  for (const email of ['a@x.example', 'b@x.example']) await invite(me, email);
  const { rows } = await own.database.pool.query<{ id: number }>(
    `update outbox set attempts = 1, last_error = 'no', failed_at = now() returning id`,
  );
  const dateId = await addDate(me, await me.course());
  await own.database.pool.query(`alter table course_dates disable trigger user;
    update course_dates set num_waiting = 5 where id = ${dateId}; alter table course_dates enable trigger user`);
  for (const [code, ...command] of [
    [0, 'mail', 'retry', String(rows[0]!.id)],
    [1, 'mail', 'retry', '999999'],
    [0, 'mail', 'retry', '--all-failed'],
    [0, 'mail', 'retry', '--all-failed'],
    [1, 'doctor', '--only', 'data'],
    [0, 'doctor', '--only', 'data', '--fix'],
    [0, 'doctor', '--only', 'data', '--fix'],
  ] as const)
    expect((await runCli([...command], { DATABASE_URL: databaseUrl(name) })).code, command.join(' ')).toBe(code);

  const entries = await listAuditEntries(own.database, { providerId: me.id, since: null, limit: 10 });
  expect(reported(entries.filter(({ actor }) => actor === 'operator'))).toEqual([
    ['operator', 'doctor'],
    ['operator', 'mail retry'],
    ['operator', 'mail retry', rows[0]!.id],
  ]);
  expect(await listAuditEntries(own.database, { providerId: other.id, since: null, limit: 10 })).toEqual([]);
});

/** A provider whose entries are two days apart, oldest first. */
async function withOldEntries(me: Provider, count: number) {
  for (let turn = 0; turn < count; turn += 1) await me.course();
  await testApp.database.pool.query(
    `update audit_entries set at = timestamptz '2026-01-31 12:00:00+00' - interval '2 days' * place
      from (select id, row_number() over (order by id desc) - 1 as place from audit_entries where provider_id = $1) o
      where audit_entries.id = o.id`,
    [me.id],
  );
}

test('audit list returns entries newest first, filtered by time, limit and provider', async () => {
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  await withOldEntries(me, 4);
  await other.course();
  const days = (entries: Entry[]) => entries.map(({ at }) => at.slice(0, 10));
  expect(days(await listed(me))).toEqual(['2026-01-31', '2026-01-29', '2026-01-27', '2026-01-25']);
  expect(days(await listed(me, '--since', '2026-01-27 13:00:00'))).toEqual(['2026-01-31', '2026-01-29', '2026-01-27']);
  expect(days(await listed(me, '--since', '2026-01-27 13:00:01'))).toEqual(['2026-01-31', '2026-01-29']);
  expect(days(await listed(me, '--limit', '1'))).toEqual(['2026-01-31']);
  const all = (await run('audit', 'list', '--json')).json<Entry[]>();
  expect(new Set(all.map(({ provider_id }) => provider_id)).size).toBeGreaterThan(1);

  const { stdout } = await run('audit', 'list', '--provider', String(me.id), '--limit', '1');
  expect(stdout.split('\n')[0]!.split(/ +/)).toEqual([
    'entry_id',
    'at',
    'provider_id',
    'actor',
    'actor_id',
    'action',
    'item_ids',
  ]);
  expect(stdout).toMatch(/2026-01-31T13:00:00\+01:00 +\d+ +key +\d+ +POST \/v2\/courses +\d+\n$/);
  const none = await testApp.createProvider();
  expect((await run('audit', 'list', '--provider', String(none.id))).stdout).toBe('No entries\n');
  for (const wrong of [
    ['--since', 'yesterday'],
    ['--limit', '0'],
    ['--provider', 'x'],
  ])
    expect((await run('audit', 'list', ...wrong)).code).toBe(2);
  expect((await run('audit', 'list', '--provider', '999999999')).code).toBe(1);
});

test('the server logs its own start and deletes old entries', async () => {
  const name = await ownDatabase();
  const own = openTestDatabase(name);
  onTestFinished(() => own.close());
  await own.pool.query(`insert into audit_entries (at, actor, action, item_ids)
    values (now() - interval '400 days', 'server', 'old', '{}')`);
  await startServer({
    DATABASE_URL: databaseUrl(name),
    BOOTSTRAP_API_KEY: 'k'.repeat(40),
    BOOTSTRAP_PROVIDER: 'First',
    DATA_DIR: temporaryFolder(),
  });
  const entries = () => listAuditEntries(own, { providerId: null, since: null, limit: 10 });
  await expect.poll(async () => (await entries()).map(({ action }) => action)).toEqual(['first provider']);
  expect(await entries()).toMatchObject([{ actor: 'server', actor_id: null }]);
});

test('loading the demo data writes one entry per provider', async () => {
  const name = await ownDatabase();
  const server = await startServer({
    DATABASE_URL: databaseUrl(name),
    DATA_DIR: temporaryFolder(),
    DEMO_DATA: 'true',
  });
  onTestFinished(() => void server.child.kill('SIGTERM'));
  const own = openTestDatabase(name);
  onTestFinished(() => own.close());
  const entries = await listAuditEntries(own, { providerId: null, since: null, limit: 100 });
  expect(new Set(entries.map(({ actor, action }) => `${actor} ${action}`))).toEqual(new Set(['server demo']));
  const providers = entries.flatMap(({ provider_id }) => provider_id ?? []);
  const { rows } = await own.pool.query<{ id: number }>('select id from providers order by id');
  expect([...providers].sort((a, b) => a - b)).toEqual(rows.map(({ id }) => id));
});

test('a busy school does not block the mail retries of other schools', async () => {
  const name = await ownDatabase();
  const own = await openTestApp(openTestDatabase(name, { writeMs: 2_000 }));
  const lock = new Client(connectionTo(name));
  await lock.connect();
  onTestFinished(async () => {
    await lock.end();
    await own.close();
  });
  const [busy, other] = [await own.createProvider(), await own.createProvider()];
  await invite(busy, 'a@x.example');
  await invite(other, 'b@x.example');
  await own.database.pool.query(`update outbox set attempts = 1, last_error = 'no', failed_at = now()`);
  await lock.query('begin');
  await lock.query('select from provider_state where provider_id = $1 for update', [busy.id]);
  expect(await retryMails(own.database, 'failed')).toEqual({ retried: 1, failure: expect.any(Error) });
  await lock.query('rollback');
  expect(await retryMails(own.database, 'failed')).toEqual({ retried: 1, failure: undefined });
});
