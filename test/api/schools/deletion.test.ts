import { expect, onTestFinished, test } from 'vitest';
import { allAreas } from '../../../src/database/areas.ts';
import type { Database } from '../../../src/database/client.ts';
import { createUsageRecorder } from '../../../src/plugins/operations/usage/recorder.ts';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { eraseExpired } from '../../../src/domains/records/erasures/service.ts';
import { deleteSchool } from '../../../src/domains/records/school-deletion/service.ts';
import { approvePartner, listPartners, requestPartner } from '../../../src/domains/school/schools/partner-service.ts';
import { createTitledProvider, openProvider } from '../../../src/domains/school/schools/service.ts';
import { createOwner, dumpRows, marker, type Owner } from '../../support/isolation.ts';
import { createUser, write } from '../../support/orders.ts';
import { emptyTestApp, openTestApp, openTestDatabase, ownDatabase, type TestApp } from '../../support/test-app.ts';

/** Rows of the tables that `createOwner` leaves empty; `$1` is the provider, the others are ids of its items. */
const otherRows = [
  `insert into tokens (provider_id, hash, purpose, user_id, created_at, expires_at)
     values ($1, 'token ' || $1, 'sign_in', $2, now(), now() + interval '1 day')`,
  `insert into sessions (provider_id, hash, user_id, created_at, used_at, expires_at)
     values ($1, 'session ' || $1, $2, now(), now(), now() + interval '1 day')`,
  `insert into sign_on_failures (provider_id, username_hash, window_started_at, failures) values ($1, 'x', now(), 1)`,
  `insert into outbox (provider_id, purpose, user_id, created_at, due_at) values ($1, 'account_created', $2, now(), now())`,
  `insert into idempotency_records (provider_id, key_hash, fingerprint, booking_id, answer, created_at, expires_at)
     values ($1, 'x', 'x', $3, '{}', now(), now() + interval '1 day')`,
  `insert into catalog_posts (provider_id, key_hash, booking_id, address_hash, recipients, places, created_at)
     values ($1, 'x', $3, 'x', '{x}', 1, now())`,
  `insert into import_refs (provider_id, kind, ref, item_id) values ($1, 'tag', 'OWNED-7f3a', 1)`,
  `insert into staged_lines (provider_id, line, part, kind, "table", data, refs, staged_at)
     values ($1, 1, 0, 'tag', 'tags', '{"title":"OWNED-7f3a"}', '{}', now())`,
  `insert into provider_limits (provider_id, per_second, burst) values ($1, 1000, 2000)`,
  `insert into provider_usage (provider_id, hour, requests, refused, failed, milliseconds, peak_per_minute)
     values ($1, now(), 1, 0, 0, 1, 1)`,
  `insert into webhook_tests (provider_id, token, started_at, expires_at) values ($1, 'x', now(), now())`,
  `insert into webhook_wakeups (provider_id) values ($1)`,
  `insert into api_key_uses (provider_id, key_id, last_used_at)
     select provider_id, id, now() from api_keys where provider_id = $1 on conflict do nothing`,
  `insert into voucher_redemptions (provider_id, voucher_id, order_id, amount, created_at) values ($1, $4, $5, 25, now())`,
  `insert into payments (provider_id, order_id, amount, paid_at, created_at, updated_at) values ($1, $5, 1, now(), now(), now())`,
  `insert into booking_links (provider_id, hash, booking_id, created_at, expires_at)
     values ($1, 'link ' || $1, $3, now(), now() + interval '1 day')`,
  `insert into calendar_feeds (provider_id, user_id, hash, created_at) values ($1, $2, 'feed ' || $1, now())`,
  `insert into refused_addresses (provider_id, email, reason, refused_at) values ($1, 'x@y.example', 'x', now())`,
  `insert into date_notices (provider_id, course_date_id, kind, created_at)
     select provider_id, id, 'reminder', now() from course_dates where provider_id = $1`,
  `insert into attendance_marks (provider_id, participant_id, gathering_id, attended, marked_at, nonce, created_at)
     select $1, participant_id, gathering_id, true, now(), 'x', now() from attendances where provider_id = $1`,
  `insert into cancellations (provider_id, course_date_id, credit, send_mail, last_booking_id, num_participants, num_moved,
       num_credits, num_mails, created_at)
     select provider_id, id, false, false, 0, 0, 0, 0, 0, now() from course_dates where provider_id = $1`,
  `insert into erasures (provider_id, user_id, created_at, erased_at) values ($1, $2, now(), now())`,
  `insert into merged_users (provider_id, user_id, created_at, into_id) values ($1, 1, now(), $2)`,
  `update vouchers set balance = balance - 25 where provider_id = $1 and id = $4`,
];

/** A school with rows in every table. All such schools have equal titles, codes and e-mail addresses. */
async function createSchool(testApp: TestApp): Promise<Owner> {
  const owner = await createOwner(testApp);
  const { user, booking, voucher, order } = owner.ids;
  await write(owner.me, async (tx) => {
    for (const text of otherRows) {
      const values = [owner.me.id, user, booking, voucher, order];
      const used = values.slice(0, Math.max(...[...text.matchAll(/\$(\d)/g)].map(([, n]) => Number(n))));
      // A parameter that no text names has no type.
      const named = used.map((_, n) => `$${n + 1}::bigint`).join(', ');
      await tx.$client.query(`with ids as (select ${named}) ${text}`, used);
    }
  });
  expect((await owner.me.post(`/v2/orders/${order}/credit`, {})).status).toBe(201);
  return owner;
}

const countRows = (rows: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(rows).map(([table, list]) => [table, (list as unknown[]).length]));

/** The tables that hold a text, as a dump of the database would. */
async function findText({ pool }: Pick<Database, 'pool'>, text: string) {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select oid::regclass::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query(`select from ${name} t where t::text ilike $1 limit 1`, [`%${text}%`]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

/** Rows of every table that names a provider by any column, but for the list of erasures, which outlives it. */
async function findRows({ pool }: Pick<Database, 'pool'>, providerId: number) {
  const { rows: columns } = await pool.query<{ table: string; column: string }>(
    `select c.oid::regclass::text as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and (
       a.attname in ('provider_id', 'partner_id', 'parent_id', 'root_id') and a.attname <> 'parent_id'
       or c.relname = 'providers' and a.attname in ('id', 'parent_id'))`,
  );
  const found: string[] = [];
  for (const { table, column } of columns) {
    const { rows } = await pool.query(`select from ${table} where ${column} = $1 limit 1`, [providerId]);
    if (rows.length > 0 && table !== 'erasures') found.push(`${table}.${column}`);
  }
  return found;
}

test('a deleted school has no row in any table, and one with equal names, codes and e-mails stays as it is', async () => {
  const testApp = await emptyTestApp();
  const [gone, equal, friend] = [
    await createSchool(testApp),
    await createSchool(testApp),
    await testApp.createProvider(),
  ];
  const { database } = testApp;
  await approvePartner(database, friend.id, gone.me.id);
  await requestPartner(database, gone.me.id, equal.me.id);
  const empty = Object.entries(countRows(await dumpRows(testApp, gone.me.id))).filter(([, count]) => count === 0);
  expect(empty, 'add a row to createOwner in test/support/isolation.ts, or to otherRows here').toEqual([]);
  await equal.me.get('/v2/courses');
  const before = await dumpRows(testApp, equal.me.id);

  const audited = database.withAudit({ actor: 'operator', actorId: null, action: 'provider delete' });
  expect(await deleteSchool(audited, gone.me.id)).toBeGreaterThan(100);

  expect(await findRows(database, gone.me.id)).toEqual([]);
  const { rows: erased } = await database.pool.query(
    'select user_id, orders_kept from erasures where provider_id = $1 order by id desc limit 1',
    [gone.me.id],
  );
  expect(erased).toEqual([{ user_id: null, orders_kept: false }]);
  expect(await listPartners(database)).toEqual([]);
  const after = await dumpRows(testApp, equal.me.id);
  // The end of the connection leaves an entry.
  const [entries, earlier] = [after, before].map((rows) => (rows['audit_entries'] as unknown[]).length);
  expect(entries).toBe(earlier! + 1);
  expect({ ...after, audit_entries: null }).toEqual({ ...before, audit_entries: null });
  expect((await equal.me.get('/v2/courses')).status).toBe(200);
  expect((await checkCounters(database, {})).differences).toEqual([]);
});

test('nothing of a deleted school is found in the database, nor of people that no other school has', async () => {
  const testApp = await emptyTestApp();
  const { database } = testApp;
  const { me } = await createSchool(testApp);
  await testApp.createProvider();
  const tables = await findText(database, marker);
  expect(tables, 'control').toEqual(expect.arrayContaining(['admin_users', 'course_users', 'orders', 'providers']));
  expect(tables.length).toBeGreaterThan(20);
  await deleteSchool(database, me.id);
  expect(await findText(database, marker)).toEqual([]);
  expect(await findText(database, 'HASHED-7f3a')).toEqual([]);
});

test('keys, partners and writes of a school end with its deletion in a running server, and its usage is not stored', async () => {
  const usage = createUsageRecorder();
  const testApp = await openTestApp(openTestDatabase(await ownDatabase()), { parts: [{ observe: usage.observe }] });
  onTestFinished(testApp.close);
  const { database } = testApp;
  const [me, friend] = [await testApp.createProvider(), await testApp.createProvider()];
  await approvePartner(database, friend.id, me.id);
  await me.course();
  const ctx = await me.ctx();
  const statuses = async () => [
    (await me.get('/v2/courses')).status,
    (await friend.get(`/v2/courses?partner_id=${me.id}`)).status,
  ];
  expect(await statuses()).toEqual([200, 200]);
  await deleteSchool(database, me.id);
  expect(await statuses()).toEqual([401, 403]);
  expect((await friend.get('/v2/courses?include_partners=1')).json()).toEqual([]);
  await expect(ctx.write(allAreas, async () => undefined)).rejects.toThrow('School not found');
  await usage.store(database);
  const { rows } = await database.pool.query('select distinct provider_id from provider_usage');
  expect(rows).toEqual([{ provider_id: friend.id }]);
});

test('a partner that connects while the deletion waits for its locks sees the end of the connection', async () => {
  const testApp = await emptyTestApp();
  const { database } = testApp;
  const [me, ...friends] = [
    await testApp.createProvider(),
    await testApp.createProvider(),
    await testApp.createProvider(),
  ];
  await me.course();
  const list = async (friend: (typeof friends)[number]) => (await friend.get('/v2/courses?include_partners=1')).json();
  const late = [...friends];
  const deleter: Database = {
    ...database,
    async write(...task) {
      const friend = late.shift();
      if (friend) {
        await approvePartner(database, friend.id, me.id);
        expect(await list(friend)).toHaveLength(1);
      }
      return database.write(...task);
    },
  };
  await deleteSchool(deleter, me.id);
  expect(late).toEqual([]);
  for (const friend of friends) expect(await list(friend)).toEqual([]);
  expect(await findRows(database, me.id)).toEqual([]);
});

test('a write in progress ends before the deletion, which deletes its rows', async () => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  // As of another process, since a process queues the writes of a school.
  const deleter = openTestDatabase(name);
  onTestFinished(deleter.close);
  const me = await testApp.createProvider();
  let deletion: Promise<number> | undefined;
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await write(me, async (tx, now) => {
    deletion = deleteSchool(deleter, me.id);
    await expect.poll(async () => (await testApp.database.pool.query(waiting)).rows.length).toBe(1);
    const values = [me.id, now];
    await tx.$client.query(
      `insert into tags (provider_id, title, created_at, updated_at) values ($1, 'Late', $2, $2)`,
      values,
    );
  });
  await deletion;
  expect(await findRows(testApp.database, me.id)).toEqual([]);
});

/** Fails at a transaction of a deletion, as a crash would. */
function crashAt(database: Database, count: number): Database {
  let left = count;
  return {
    ...database,
    exclusively: (name, work) => {
      if ((left -= 1) < 0) throw new Error('crashed');
      return database.exclusively(name, work);
    },
  };
}

test('a deletion that crashed at any step is continued by a second one, and rejects all keys meanwhile', async () => {
  const testApp = await emptyTestApp();
  const { database } = testApp;
  for (const step of [0, 7, 30]) {
    const { me } = await createSchool(testApp);
    await expect(deleteSchool(crashAt(database, step), me.id)).rejects.toThrow('crashed');
    expect((await findRows(database, me.id)).length).toBeGreaterThan(5);
    expect((await me.get('/v2/courses')).status).toBe(401);
    await expect(openProvider(database, me.id)).rejects.toThrow(`Provider ${me.id} not found`);
    await deleteSchool(database, me.id);
    expect(await findRows(database, me.id)).toEqual([]);
  }
  expect(await findText(database, marker)).toEqual([]);
});

test('a deletion that crashed does not delay the erasures of other schools', async () => {
  const testApp = await emptyTestApp();
  const { database } = testApp;
  const [gone, other] = [await createSchool(testApp), await createSchool(testApp)];
  for (const { me } of [gone, other])
    await write(me, (tx, now) =>
      tx.$client.query('update orders set kept_until = $2 where provider_id = $1', [me.id, now]),
    );
  await expect(deleteSchool(crashAt(database, 0), gone.me.id)).rejects.toThrow('crashed');
  await eraseExpired(database);
  const { rows } = await database.pool.query('select distinct provider_id from orders where kept_until is not null');
  expect(rows).toEqual([{ provider_id: gone.me.id }]);
});

test('more rows than a transaction deletes go in several, and two deletions do not run at once', async () => {
  const testApp = await emptyTestApp();
  const { database } = testApp;
  const me = await testApp.createProvider();
  await write(me, (tx, now) =>
    tx.$client.query(
      `insert into tags (provider_id, title, created_at, updated_at) select $1, 'Tag ' || n, $2, $2 from generate_series(1, 2500) n`,
      [me.id, now],
    ),
  );
  // In a ring, so that rows of each batch refer to those of others.
  await write(me, async (tx, now) => {
    await tx.$client.query(
      `insert into customers (provider_id, title, created_at, updated_at)
       select $1, 'One of a ring', $2, $2 from generate_series(1, 1200)`,
      [me.id, now],
    );
    await tx.$client.query(
      `update customers c set parent_customer_id = ring.parent from (
         select a.id, b.id as parent from (select id, row_number() over (order by id) as n from customers) a
           join (select id, row_number() over (order by id) as n from customers) b on b.n = (a.n + 601) % 1200 + 1
       ) ring where c.provider_id = $1 and c.id = ring.id`,
      [me.id],
    );
  });
  const counts: number[] = [];
  const counting: Database = {
    ...database,
    exclusively: async (name, work) => {
      const result = await database.exclusively(name, work);
      const { rowCount, command } = result as { rowCount: number; command: string };
      if (command === 'DELETE') counts.push(rowCount);
      return result;
    },
  };
  expect(await deleteSchool(counting, me.id)).toBeGreaterThan(3_700);
  expect(counts.filter((count) => count > 100)).toEqual([1_000, 1_000, 500, 1_000, 200]);

  const other = await testApp.createProvider();
  await database.exclusively(`deletion of provider ${other.id}`, async () => {
    await expect(deleteSchool(database, other.id)).rejects.toThrow('is being deleted by another process');
  });
});

test('a school with sub-schools is not deleted before them', async () => {
  const testApp = await emptyTestApp();
  const { database } = testApp;
  const me = await testApp.createProvider();
  const child = await createTitledProvider(database, 'Child', me.id);
  await expect(deleteSchool(database, me.id)).rejects.toThrow('has sub-schools (1): delete them first');
  expect((await me.get('/v2/courses')).status).toBe(200);
  await deleteSchool(database, child.providerId);
  await deleteSchool(database, me.id);
  expect(await findRows(database, me.id)).toEqual([]);
  await expect(deleteSchool(database, me.id)).rejects.toThrow(`Provider ${me.id} not found`);
});

test('with its orders kept, a deleted school keeps what invoices need, until they are deleted too', async () => {
  const testApp = await emptyTestApp();
  const { database } = testApp;
  const { me, ids } = await createSchool(testApp);
  await createUser(me, { username: 'without orders' });
  const query = `select o.id, o.title, o.booker, o.total_vat, c.title as customer, l.quantity, l.price_at_order, p.title as product
    from orders o left join customers c on c.provider_id = o.provider_id and c.id = o.customer_id
      join order_lines l on l.provider_id = o.provider_id and l.order_id = o.id
      join products p on p.provider_id = o.provider_id and p.id = l.product_id
    where o.provider_id = $1 order by o.id`;
  const { rows: before } = await database.pool.query(query, [me.id]);
  expect(before.length).toBeGreaterThan(1);
  const [seller] = (await database.pool.query('select title, org_nr from providers where id = $1', [me.id])).rows;

  await deleteSchool(database, me.id, { keepOrders: true });

  expect((await database.pool.query(query, [me.id])).rows).toEqual(before);
  expect((await database.pool.query('select title, org_nr from providers where id = $1', [me.id])).rows).toEqual([
    seller,
  ]);
  const counts = Object.entries(countRows(await dumpRows(testApp, me.id)));
  expect(counts.flatMap(([table, count]) => (count > 0 ? [table] : []))).toEqual([
    'courses',
    'customers',
    'erasures',
    'order_lines',
    'orders',
    'payments',
    'products',
    'voucher_redemptions',
    'vouchers',
    'providers',
  ]);
  const { rows: columns } = await database.pool.query<{ column: string }>(
    ['providers', 'orders', 'customers', 'courses', 'products', 'vouchers']
      .map(
        (table) => `select distinct '${table}.' || key as column from ${table} t, jsonb_each_text(to_jsonb(t))
          where t.${table === 'providers' ? 'id' : 'provider_id'} = $1 and value ilike '%${marker}%'`,
      )
      .join(' union ') + ' order by 1',
    [me.id],
  );
  expect(columns.map(({ column }) => column)).toEqual([
    ...['courses.slug', 'courses.title', 'customers.customer_reference', 'customers.customer_reference_id'],
    ...['customers.department', 'customers.invoice_address', 'customers.invoice_address_2'],
    ...['customers.invoice_address_3', 'customers.invoice_city', 'customers.invoice_zipcode', 'customers.orgnr'],
    ...['customers.title', 'orders.booker', 'orders.gln_number', 'orders.invoice_address', 'orders.invoice_address_2'],
    ...['orders.invoice_address_3', 'orders.invoice_city', 'orders.invoice_zipcode', 'orders.payment_method'],
    ...['orders.title', 'orders.title_detailed', 'orders.your_reference', 'products.account_number'],
    ...['products.cost_unit', 'products.external_id', 'products.item_number', 'products.title'],
    ...['products.title_label', 'providers.org_nr', 'providers.post_address', 'providers.post_city'],
    ...['providers.post_zip', 'providers.slug', 'providers.title', 'providers.visit_address', 'providers.visit_city'],
    ...['providers.visit_zip', 'vouchers.code'],
  ]);
  expect((await me.get('/v2/orders')).status).toBe(401);
  expect((await checkCounters(database, {})).differences).toEqual([]);
  expect(ids.order).toBeGreaterThan(0);

  await deleteSchool(database, me.id, { keepOrders: true });
  expect((await database.pool.query(query, [me.id])).rows).toEqual(before);
  await deleteSchool(database, me.id);
  expect(await findRows(database, me.id)).toEqual([]);
  const { rows: erased } = await database.pool.query(
    'select orders_kept from erasures where provider_id = $1 and user_id is null order by id',
    [me.id],
  );
  expect(erased).toEqual([{ orders_kept: true }, { orders_kept: false }]);
});
