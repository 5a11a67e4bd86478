import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sharedTestApp } from '../support/test-app.ts';

const { database } = await sharedTestApp();
const lines = async (query: string) =>
  (await database.pool.query<{ line: string }>(query)).rows.map(({ line }) => line);

const columns = `select format('%s.%s %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then ' not null' else '' end,
    case when a.attidentity <> '' then ' identity' when a.attgenerated <> '' then ' generated ' || pg_get_expr(d.adbin, d.adrelid)
      when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end) as line
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`;
const indexes = `select pg_get_indexdef(indexrelid) as line from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace = 'public'::regnamespace`;
const constraints = `select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as line
  from pg_constraint where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'f', 'c')`;
const triggers = `select pg_get_triggerdef(oid) as line from pg_trigger where not tgisinternal and tgname not like 'refuse_unlocked%'`;
const functions = `select pg_get_functiondef(oid) as line from pg_proc where pronamespace = 'public'::regnamespace and proname not in ('refuse_unlocked', 'find_unlocked')`;
const options = `select format('%s %s', relname, array_to_string(reloptions, ', ')) as line
  from pg_class where relnamespace = 'public'::regnamespace and reloptions is not null`;

test('the migrated schema matches the reviewed snapshot', async () => {
  const sections = { columns, indexes, constraints, triggers, functions, options };
  const found = await Promise.all(
    Object.entries(sections).map(async ([name, query]) => [`# ${name}`, ...(await lines(query)).sort(), ''].join('\n')),
  );
  await expect(found.join('\n')).toMatchFileSnapshot('../snapshots/database-schema.txt');
});

/** Tables looked up by a credential before the tenant is known, and relation targets without a tenant. */
const outsideTenancy = [
  'admin_memberships_admin_user',
  'admin_memberships_admin_user_fk',
  'course_dates_place_fk',
  'locations_place_fk',
  'outbox_id',
  'booking_links_pk',
  'booking_links_earlier_hashes',
  'booking_links_expires',
  'tokens_pk',
  'tokens_earlier_hashes',
  'tokens_mail',
  'tokens_expires',
  'course_interests_earlier_hashes',
  'sessions_pk',
  'sessions_expires',
  'audit_entries_id',
  'erasures_erased',
  'api_keys_hash',
  'api_keys_id',
  'webhooks_due',
  'partner_connections_partner',
  'partner_connections_partner_fk',
  'course_categories_category',
  'course_categories_category_fk',
  'catalog_addresses_pkey',
  'catalog_names_pkey',
  'outbox_delayed',
];
const tenantTable = `(select attrelid from pg_attribute where attname = 'provider_id' and not attisdropped)`;

/** Each stored word of a search begins with its provider. */
const keyedWords = `select from pg_attrdef d where d.adrelid = a.attrelid and d.adnum = a.attnum
  and pg_get_expr(d.adbin, d.adrelid) like 'search_words(provider_id,%'`;

test('every index of a tenant table begins with its provider', async () => {
  const found = await lines(`select i.indexrelid::regclass::text as line from pg_index i
    join pg_class c on c.oid = i.indrelid and c.relnamespace = 'public'::regnamespace
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid in ${tenantTable} and a.attname <> 'provider_id' and not exists (${keyedWords})`);
  expect(found.filter((name) => !outsideTenancy.includes(name))).toEqual([]);
});

test('every foreign key of a tenant table begins with its provider', async () => {
  const found = await lines(`select k.conname as line from pg_constraint k
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where k.contype = 'f' and k.connamespace = 'public'::regnamespace and k.conrelid in ${tenantTable} and a.attname <> 'provider_id'`);
  expect(found.filter((name) => !outsideTenancy.includes(name))).toEqual([]);
});

test('no foreign key deletes or nulls rows implicitly', async () => {
  expect(await lines("select conname as line from pg_constraint where contype = 'f' and confdeltype <> 'a'")).toEqual(
    [],
  );
});

test('the migration journal is in order', () => {
  const journal = JSON.parse(readFileSync('migrations/meta/_journal.json', 'utf8')) as {
    entries: { idx: number; when: number }[];
  };
  const times = journal.entries.map(({ when }) => when);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(journal.entries.map(({ idx }) => idx)).toEqual(times.map((_, n) => n));
});
