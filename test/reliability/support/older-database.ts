import { createHash } from 'node:crypto';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Client } from 'pg';
import type { Cleanup } from '../scenario.ts';
import { temporaryFolder } from './folder.ts';

/** A copy of the build that has more migrations. Returns its folder. */
export function buildWithMigrations(run: Cleanup, statements: Record<string, string>) {
  const folder = temporaryFolder(run);
  for (const name of ['dist', 'migrations', 'package.json']) cpSync(name, join(folder, name), { recursive: true });
  for (const name of ['node_modules', 'docs']) symlinkSync(resolve(name), join(folder, name));
  const file = join(folder, 'migrations/meta/_journal.json');
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { idx: number; when: number; tag: string }[] };
  for (const [tag, sql] of Object.entries(statements)) {
    const last = journal.entries.at(-1)!;
    journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1_000, tag });
    writeFileSync(join(folder, 'migrations', `${tag}.sql`), sql);
  }
  writeFileSync(file, JSON.stringify(journal));
  return folder;
}

/** The key of the school in an older database. */
export const olderKey = 'older-key-of-the-run-0123456789-0123456789-0123456789';
const hash = createHash('sha256').update(olderKey).digest('hex');

/** Rows of a school. */
const rows = [
  `insert into providers (title, slug, created_at, updated_at) values ('Older school', 'older', now(), now())`,
  `insert into provider_state (provider_id, changed_at) values (1, now()) on conflict do nothing`,
  `insert into api_keys (provider_id, hash, created_at) values (1, '${hash}', now())`,
  `insert into courses (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id, created_at, updated_at)
    select 1, 'Course ' || n, 'course-' || n, 1, 1, 'no', now(), now() from generate_series(1, 50) n`,
  `insert into tags (provider_id, title, created_at, updated_at) values (1, 'Weekend', now(), now())`,
  `insert into course_tags (provider_id, tag_id, course_id) select 1, 1, id from courses`,
  `insert into products (provider_id, course_id, title, created_at, updated_at)
    select 1, id, 'Book', now(), now() from courses`,
  `insert into customers (provider_id, title, created_at, updated_at) values (1, 'Company', now(), now())`,
  `insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone,
      teaching_language_id, created_at, updated_at)
    select 1, id, '2035-06-10', '2035-06-11', '2035-06-10', 'Europe/Oslo', 'no',
      now(), now() from courses`,
  `insert into course_users (provider_id, username, created_at, updated_at)
    select 1, 'user-' || n, now(), now() from generate_series(1, 50) n`,
  `insert into orders (provider_id, title, created_at, updated_at)
    select 1, 'Order ' || n, now(), now() from generate_series(1, 50) n`,
  `insert into bookings (provider_id, order_id, course_date_id, created_at, updated_at)
    select 1, n, n, now(), now() from generate_series(1, 50) n`,
  `insert into order_lines (provider_id, order_id, product_id, quantity, price_at_order, created_at, updated_at)
    select 1, n, n, 1, 0, now(), now() from generate_series(1, 50) n`,
  `insert into participants (provider_id, booking_id, course_id, course_date_id, user_id, status_updated_at,
      entry_source, created_at, updated_at)
    select 1, n, n, n, n, now(), 'User', now(), now() from generate_series(1, 50) n`,
  `insert into vouchers (provider_id, code, amount, balance, created_at, updated_at)
    select 1, 'code-' || n, 1000, 1000, now(), now() from generate_series(1, 50) n`,
  `insert into admin_users (email, firstname, lastname, created_at) values ('kari@school.example', 'Kari', 'Nordmann', now())`,
  `insert into admin_memberships (provider_id, admin_user_id, created_at, updated_at) values (1, 1, now(), now())`,
  `insert into roles (provider_id, id, title, created_at, updated_at) values (1, 1, 'Administrator', now(), now())`,
  `insert into admin_membership_roles (provider_id, admin_user_id, role_id) values (1, 1, 1)`,
  `insert into instructors (provider_id, firstname, lastname, created_at, updated_at) values (1, 'Ola', 'Hansen', now(), now())`,
  `insert into locations (provider_id, created_at, updated_at) values (1, now(), now())`,
];

export async function insertOlderRows(client: Client) {
  for (const row of rows) await client.query(row);
}
