import { expect, test } from 'vitest';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { migrateUntil } from '../../support/older-database.ts';
import { connectionTo } from '../../support/test-app.ts';

test('the migration gives each course an address of its own; the oldest keeps it', async () => {
  const name = `booking_addresses_${process.pid}`;
  const client = await migrateUntil(name, '_catalog-addresses');
  await client.query(`
    insert into courses (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id, deleted_at, created_at, updated_at)
    select provider_id, slug || ' ' || row_number() over (), slug, 6, 1, 'no', deleted_at, created_at, '2026-05-01' from (values
      (1, 'yoga', null::timestamptz, '2026-02-01'::timestamptz), (2, 'yoga', null, '2026-01-01'),
      (2, 'chess', null, '2026-01-02'), (1, 'yoga-1', null, '2025-01-01'), (1, 'chess', '2026-03-01', '2025-01-01'),
      (2, 'judo', null, '2026-01-01'), (1, 'judo', null, '2026-01-01'), (1, 'judo', null, '2026-02-01')
    ) v (provider_id, slug, deleted_at, created_at);
    insert into categories (title, slug, created_at, updated_at) values ('A', 'a', now(), now()), ('B', 'b', now(), now());
    insert into course_categories (provider_id, course_id, category_id) values (2, 6, 1), (2, 6, 2), (1, 7, 2), (1, 8, 2)`);
  await migrateDatabase(connectionTo(name));
  const { rows } = await client.query<{ line: string }>(
    `select c.id || ' ' || c.slug || ' ' || c.slug_has_id || ' ' || coalesce(a.address, '-') as line
      from courses c left join catalog_addresses a on a.provider_id = c.provider_id and a.course_id = c.id order by c.id`,
  );
  expect(rows.map(({ line }) => line)).toEqual([
    '1 yoga-1-1 true yoga-1-1',
    '2 yoga false yoga',
    '3 chess false chess',
    '4 yoga-1 false yoga-1',
    '5 chess false -',
    '6 judo false a/judo',
    '7 judo false b/judo',
    '8 judo-8 true b/judo-8',
  ]);
  const moved = await client.query("select from courses where updated_at <> '2026-05-01'");
  expect(moved.rowCount).toBe(0);
});
