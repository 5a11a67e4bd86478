import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { openDatabase } from '../../../src/database/client.ts';
import { deleteOld, housekeepingJob } from '../../../src/database/housekeeping.ts';
import { startJobs } from '../../../src/database/periodic.ts';
import { declarations, readConfig } from '../../support/config.ts';
import { connectionTo, openTestDatabase, ownDatabase } from '../../support/test-app.ts';
import { bundleWithoutGuards } from '../../support/unguarded.ts';
import { tasks } from '../../support/housekeeping.ts';

type OpenDatabase = typeof openDatabase;

/** Rows whose age is `n` hours, as the task of their table counts it. */
const inserts: Record<string, string> = {
  audit_entries: `(provider_id, at, actor, action, item_ids) select 0, now() - n * interval '1 hour', 'server', 'x', '{}'`,
  events: `(provider_id, at, resource, change, resource_id) select 1, now() - n * interval '1 hour', 'tag', 'created', 1`,
  outbox: `(provider_id, purpose, user_id, created_at, due_at, sent_at, failed_at)
    select 1, 'account_created', 1, now(), now(), case when n < 60 then now() - n * interval '1 hour' end,
      case when n >= 60 then now() - n * interval '1 hour' end`,
  tokens: `(provider_id, hash, purpose, user_id, created_at, expires_at)
    select 1, n::text, 'sign_in', 1, now(), now() - n * interval '1 hour'`,
  booking_links: `(provider_id, hash, booking_id, created_at, expires_at)
    select 1, n::text, 1, now(), now() - n * interval '1 hour'`,
  sessions: `(provider_id, hash, user_id, created_at, used_at, expires_at)
    select 1, n::text, 1, now(), now(), now() - n * interval '1 hour'`,
  sign_on_failures: `(provider_id, username_hash, window_started_at, failures, attempted_at)
    select 1, n::text, now() - n * interval '1 hour' - interval '15 minutes', 1, now() - n * interval '1 hour'`,
  idempotency_records: `(provider_id, key_hash, fingerprint, booking_id, answer, created_at, expires_at)
    select 1, n::text, 'x', 1, '{}', now(), now() - n * interval '1 hour'`,
  catalog_posts: `(provider_id, key_hash, booking_id, address_hash, recipients, places, created_at)
    select 1, n::text, 1, 'x', '{}', 1, now() - n * interval '1 hour' - interval '1 day'`,
  course_interests: `(provider_id, course_id, email, created_at, confirmed_at, notified_at, course_date_id)
    select 1, 1, 'x', now(), now(), now() - n * interval '1 hour', 1`,
  backup_runs: `(is_nightly, started_at, finished_at, file) select true, now() - n * interval '1 hour', now(), 'x'`,
  provider_usage: `(provider_id, hour, requests, refused, failed, milliseconds, peak_per_minute)
    select 1, now() - n * interval '1 hour', 1, 0, 0, 1, 1`,
  staged_lines: `(provider_id, line, part, kind, "table", data, refs, staged_at)
    select 1, n * 2, 0, 'x', 'x', '{}', '{}', now() - n * interval '1 hour'`,
};

async function openOwnDatabase(openDatabase?: OpenDatabase) {
  const name = await ownDatabase();
  const open = () => {
    const database = openTestDatabase(name, {}, openDatabase);
    onTestFinished(() => database.close());
    return database;
  };
  const admin = new Client(connectionTo(name));
  await admin.connect();
  onTestFinished(() => admin.end());
  // Without foreign keys and triggers.
  await admin.query('set session_replication_role = replica');
  await admin.query(
    `insert into providers (id, title, slug, created_at, updated_at) overriding system value values (1, 'A', 'a', now(), now())`,
  );
  const fill = (table: string, hours: string) => {
    if (!(table in inserts)) throw new Error(`name a row of ${table} in inserts of this file`);
    return admin.query(`insert into ${table} ${inserts[table]} from generate_series(${hours}) n`);
  };
  const count = async (table: string) => {
    const { rows } = await admin.query<{ count: number }>(`select count(*)::int as count from ${table}`);
    return rows[0]!.count;
  };
  const insert = (statement: string) => admin.query(statement);
  return { open, fill, insert, count };
}

test.each(tasks)('$table: rows older than the days are deleted, and no others', async (task) => {
  const { open, fill, count } = await openOwnDatabase();
  const database = open();
  const before = await count(task.table);
  await fill(task.table, '77.5, -12.5, -1');
  // The last event before the limit stays.
  const expected = task.table === 'events' ? 29 : 30;
  expect(await deleteOld(database, task, 2)).toBe(expected);
  expect(await count(task.table)).toBe(before + 91 - expected);
  expect(await deleteOld(database, task, 0)).toBeGreaterThan(40);
});

test('an interest that is not confirmed is deleted after a week, whatever the days', async () => {
  const { open, insert, count } = await openOwnDatabase();
  await insert(`insert into course_interests (provider_id, course_id, email, created_at, confirmed_at)
    select 1, n, 'x', now() - n * interval '1 day', case when n = 9 then now() end from generate_series(1, 9) n`);
  const interests = tasks.find(({ table }) => table === 'course_interests')!;
  expect([await deleteOld(open(), interests, 30), await count('course_interests')]).toEqual([2, 7]);
});

test('each working table of the data model has a task', () => {
  const [, working = ''] = readFileSync('docs/reference/data-model.md', 'utf8').split('## 5. Working tables');
  const tables = [...working.matchAll(/^- `(\w+)`: /gm)].map(([, table]) => table!);
  expect(tables.length).toBeGreaterThan(7);
  // A school creates a webhook, each one keeps its last 100 attempts, and a school has at most one test.
  const bounded = ['webhooks', 'webhook_deliveries', 'webhook_tests'];
  // Deleted by the claims of servers, and by a job for the case that no server sends messages.
  bounded.push('webhook_wakeups');
  // One row for each erased or merged person, for ever.
  bounded.push('erasures', 'merged_users');
  // One row for each item that was imported, without which an import of the same file would add it again.
  bounded.push('import_refs');
  // One row for each person, for each notice of a date, and for each address that is refused.
  bounded.push('calendar_feeds', 'date_notices', 'refused_addresses');
  const unlimited = tables.filter((table) => !bounded.includes(table));
  expect(unlimited.filter((table) => !tasks.some((task) => task.table === table))).toEqual([]);
});

test('docs/operate/operating.md lists each task with its variable and days', () => {
  const page = readFileSync('docs/operate/operating.md', 'utf8').replaceAll(/ +/g, ' ');
  const rows = tasks.map(
    ({ table, days }) =>
      `| \`${table}\` | ${typeof days === 'number' ? `| ${days}` : `\`${days}\` | ${declarations[days]!.default as number}`} |`,
  );
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});

const sessions = tasks.find(({ table }) => table === 'sessions')!;

test('rows are deleted in batches of a thousand, each in its own transaction', async () => {
  const { open, fill } = await openOwnDatabase();
  const database = open();
  await fill('sessions', '25, 2524');
  const batches: (number | undefined)[] = [];
  const exclusively: typeof database.exclusively = async (name, work) => {
    const result = await database.exclusively(name, work);
    batches.push(result as number | undefined);
    return result;
  };
  expect(await deleteOld({ exclusively }, sessions, 1)).toBe(2500);
  expect(batches).toEqual([1000, 1000, 500]);
});

/** The greatest number of processes that do the same work at one time. */
async function atOnce(openDatabase?: OpenDatabase) {
  const { open } = await openOwnDatabase(openDatabase);
  let [running, greatest, done, refused] = [0, 0, 0, 0];
  const work = async () => {
    running += 1;
    greatest = Math.max(greatest, running);
    // Until each of the three is here or was refused.
    await expect.poll(() => greatest + refused).toBe(3);
    running -= 1;
    done += 1;
    return true;
  };
  const databases = [open(), open(), open()];
  // Connected first, so that they begin at one time.
  await Promise.all(databases.map(({ pool }) => pool.query('select 1')));
  const attempt = async (database: (typeof databases)[number]) => {
    if (!(await database.exclusively('work', work))) refused += 1;
  };
  await Promise.all(databases.map(attempt));
  return { greatest, done };
}

test('one of several processes does the work, and without the lock all of them', async () => {
  expect(await atOnce()).toMatchObject({ greatest: 1, done: 1 });
  const file = await bundleWithoutGuards('src/database/client.ts', ['exclusive']);
  const { openDatabase } = (await import(resolve(file))) as { openDatabase: OpenDatabase };
  expect(await atOnce(openDatabase)).toMatchObject({ greatest: 3, done: 3 });
});

test('several processes together delete every old row once', async () => {
  const { open, fill, count } = await openOwnDatabase();
  await fill('sessions', '25, 5024');
  const deleted = await Promise.all([open(), open()].map((database) => deleteOld(database, sessions, 1)));
  expect(deleted[0]! + deleted[1]!).toBe(5000);
  expect(await count('sessions')).toBe(0);
});

test('housekeeping runs at the start, logs a failure and goes on', async () => {
  const { open, fill, count } = await openOwnDatabase();
  const database = open();
  for (const table of ['sessions', 'idempotency_records']) await fill(table, '25, 30');
  await database.pool.query('alter table outbox rename sent_at to other');
  const warn = vi.fn();
  const log = { warn };
  onTestFinished(startJobs([housekeepingJob({ tasks, config: readConfig({}), database, log })], log));
  await expect.poll(() => count('idempotency_records')).toBe(0);
  expect(await count('sessions')).toBe(0);
  const failure = expect.stringMatching(/^The deletion of old rows of outbox failed: .*42703/) as string;
  await expect.poll(() => warn.mock.calls).toEqual([[failure]]);
});
