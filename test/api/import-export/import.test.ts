import { getTableColumns } from 'drizzle-orm';
import { expect, inject, onTestFinished, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { importLines } from '../../../src/plugins/transfer/import.ts';
import { isBulk, tableName, type Item } from '../../../src/plugins/transfer/record-type.ts';
import { recordTypes } from '../../../src/plugins/transfer/record-types/index.ts';
import type { BadLine } from '../../../src/plugins/transfer/staging.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { columnName } from '../../../src/database/tables/columns.ts';
import { differences } from '../../support/compare-responses.ts';
import { fetchAllResponses, exportToLines, importObjects } from '../../support/all-responses.ts';
import { createUser } from '../../support/orders.ts';
import { createGate } from '../../support/gate.ts';
import { importFields } from '../../support/import-fields.ts';
import { schoolFile } from '../../support/import-file.ts';
import { tables as facts } from '../../support/tables.ts';
import {
  openTestDatabase,
  openTestApp,
  ownDatabase,
  settings,
  sharedTestApp,
  type Provider,
  type TestApp,
} from '../../support/test-app.ts';

type Fields = Record<string, unknown>;

const clock = async ({ database }: TestApp, me: Provider) =>
  (
    await database.pool.query<{ at: string }>(
      'select changed_at::text as at from provider_state where provider_id = $1',
      [me.id],
    )
  ).rows[0]!.at;

test('an imported export gives the same responses on every endpoint', async () => {
  const testApp = await sharedTestApp();
  const [first, second, third, partner] = [
    await testApp.createProvider(),
    await testApp.createProvider(),
    await testApp.createProvider(),
    await testApp.createProvider(),
  ];
  await partner.course({ title: 'A course of the partner' });
  expect(await importObjects(first, schoolFile(partner.id))).toMatchObject({ written: 47, reasons: [] });
  const lines = await exportToLines(testApp, first);
  // Different ids from the first provider in every table.
  await importObjects(third, schoolFile(partner.id));
  expect(await importObjects(second, lines)).toMatchObject({ read: lines.length, written: lines.length, reasons: [] });

  const responses = await fetchAllResponses(first);
  for (const [url, response] of Object.entries(responses))
    expect([url, JSON.stringify(response).length > 40]).toEqual([url, true]);
  expect(differences(responses, await fetchAllResponses(second))).toEqual([]);
  expect(differences(lines, await exportToLines(testApp, second))).toEqual([]);
  expect((await checkCounters(testApp.database, { providerId: second.id })).differences).toEqual([]);
});

test('the response comparison detects a difference in any field', async () => {
  const testApp = await sharedTestApp();
  const [first, partner] = [await testApp.createProvider(), await testApp.createProvider()];
  await importObjects(first, schoolFile(partner.id));
  const responses = await fetchAllResponses(first);
  const changed = structuredClone(responses) as Record<string, Fields[]>;
  changed['/v2/orders?exported=1']![0]!['exported_at'] = null;
  (changed['/v2/participants?include=attendance,attendance_summary']![0]!['status'] as Fields)['title'] = 'Another';
  changed['/v2/instructors']![1]!['id'] = changed['/v2/instructors']![0]!['id'];
  expect(differences(responses, changed)).toEqual([
    expect.stringMatching(/exported_at: "2026-10-25T02:30:00\+01:00" and null/),
    expect.stringMatching(/status.title: "Confirmed" and "Another"/),
    expect.stringMatching(/instructors\[1\].id: id/),
  ]);
});

test('every field of every record type survives', async () => {
  const testApp = await sharedTestApp();
  const [me, partner] = [await testApp.createProvider(), await testApp.createProvider()];
  const file = schoolFile(partner.id);
  await importObjects(me, file);
  const written = new Map<string, Set<string>>();
  for (const { kind, ...fields } of await exportToLines(testApp, me)) {
    const names = written.get(kind as string) ?? new Set();
    Object.keys(fields).forEach((name) => names.add(name));
    written.set(kind as string, names);
  }
  const lost = file.flatMap(({ kind, ...fields }) =>
    Object.keys(fields)
      .filter((name) => name !== 'password' && !written.get(kind as string)?.has(name))
      .map((name) => `${kind as string}.${name}`),
  );
  expect(lost).toEqual([]);
});

test('the test file has every field of every record type', () => {
  const missing = importFields.flatMap(([path, fields]) => {
    const [kind, ...members] = path.replaceAll('[]', '').split('.');
    const lines = schoolFile(1).filter((line) => line['kind'] === kind);
    const found = members.reduce<Fields[]>(
      (all, member) =>
        all.flatMap((one) => (member === '{language}' ? Object.values(one) : [one[member] ?? []].flat()) as Fields[]),
      lines,
    );
    if (fields.startsWith('a list')) return found.length > 0 ? [] : [path];
    const names = [...fields.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
    return names.filter((name) => !found.some((one) => name in one)).map((name) => `${path}.${name}`);
  });
  // An exported password hash.
  expect(missing).toEqual(['user.password_hash']);
});

test('every column is imported and exported, except derived ones', () => {
  const written = new Map<string, Set<string>>();
  const all = new Map<string, string[]>();
  const visit = (item: Item, more: string[]) => {
    const names = [...Object.values(item.fields).map(({ column }) => column), ...Object.values(item.derived ?? {})];
    written.set(tableName(item), new Set([...names.map(columnName), ...more]));
    all.set(tableName(item), Object.values(getTableColumns(item.table)).map(columnName));
    for (const part of Object.values(item.parts ?? {})) {
      if (part.form === 'links') continue;
      visit(part.item, [columnName(part.owner), ...(part.form === 'by-key' ? [columnName(part.key)] : [])]);
    }
  };
  for (const kind of recordTypes) if (isBulk(kind)) visit(kind, []);
  const own = ['provider_id', 'id', 'created_at', 'updated_at'];
  const left = [...all].flatMap(([table, columns]) =>
    columns.filter((name) => !own.includes(name) && !written.get(table)!.has(name)).map((name) => `${table}.${name}`),
  );
  // Generated, counted by a trigger, or decided by the addresses of other courses.
  expect(left.sort()).toEqual([
    'campaigns.uses',
    'course_dates.ends_at',
    'course_dates.has_participants',
    'course_dates.num_confirmed',
    'course_dates.num_overbooked',
    'course_dates.num_unconfirmed',
    'course_dates.num_waiting',
    'course_dates.starts_at',
    'course_dates.words',
    'course_users.words',
    'courses.slug_has_id',
    'courses.words',
    'customers.words',
    'gatherings.starts_at',
    'orders.is_use_returned',
    'orders.kept_user_id',
    'orders.words',
  ]);
});

test('every table is exported, or listed with a reason, and has the same number of rows after an import', async () => {
  const testApp = await sharedTestApp();
  const { pool } = testApp.database;
  const exported = new Set<string>();
  const visit = (item: Item) => {
    exported.add(tableName(item));
    for (const part of Object.values(item.parts ?? {}))
      if (part.form === 'links') exported.add(tableName({ table: part.other.table }));
      else visit(part.item);
  };
  for (const kind of recordTypes) if (isBulk(kind)) visit(kind);
  const { rows } = await pool.query<{ name: string; owned: boolean }>(
    `select c.relname as name, a.attnum is not null as owned from pg_class c
       left join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`,
  );
  const tables = rows.map(({ name }) => name);
  const explained = Object.keys(facts).filter((name) => facts[name]!.kind ?? facts[name]!.kept);
  const words = 'give each in test/support/tables.ts its `kind` or why it is `kept`, unless it has a record type';
  expect(
    tables.filter((name) => exported.has(name) === explained.includes(name)),
    words,
  ).toEqual([]);
  expect(Object.keys(facts).toSorted()).toEqual(tables.toSorted());
  const kinds = recordTypes.map(({ kind }) => kind);
  expect(Object.values(facts).filter(({ kind }) => kind && !kinds.includes(kind))).toEqual([]);

  const create = () => testApp.createProvider();
  const [first, second, partner] = [await create(), await create(), await create()];
  await importObjects(first, schoolFile(partner.id));
  await importObjects(second, await exportToLines(testApp, first));
  const compared = rows.filter(({ name, owned }) => owned && !facts[name]!.kept);
  for (const { name } of compared) {
    const count = async ({ id }: Provider) =>
      (await pool.query<{ count: number }>(`select count(*)::int as count from ${name} where provider_id = $1`, [id]))
        .rows[0]!.count;
    const before = await count(first);
    expect([name, before > 0, await count(second)]).toEqual([name, true, before]);
  }
});

test('redemptions of vouchers are imported with their orders, and what a voucher had spent before is the rest', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const line = { ref: 'l', product_id: 'c/products/1', quantity: 1, price_at_order_per_item_vat_excluded: 400 };
  const order = (ref: string, redemptions: Fields[]) => ({
    ...{ kind: 'order', ref, title: 'C', booking: { ref: `b-${ref}`, coursedate_id: 'd' } },
    ...{ lines: [{ ...line, ref: `l-${ref}` }], redemptions },
  });
  const voucher = { kind: 'voucher', ref: 'v', code: 'V', amount: 500, balance: 120 };
  const of = (amount: number | string, ref = 'v') => ({ voucher_id: ref, amount });
  const lines = [course('c'), date('d'), voucher];
  const wrong = [
    order('none', [of(0)]),
    order('twice', [of(1), of(2)]),
    order('fits', [of(300)]),
    order('much', [of('80.01')]),
    order('lost', [of(1, 'w')]),
  ];
  const { reasons } = await importObjects(me, [...lines, ...wrong]);
  expect(reasons).toEqual([
    '4: Field(s) not valid: redemptions[0].amount',
    '5: Field(s) not valid: redemptions',
    '7: Field(s) not valid: redemptions',
    '8: No voucher has the ref w before this line',
  ]);
  expect((await importObjects(me, [...lines, order('first', [of(300)])])).reasons).toEqual([]);
  // The voucher is of an earlier import here.
  expect((await importObjects(me, [order('much', [of('80.01')])])).reasons).toEqual([
    '1: Field(s) not valid: redemptions',
  ]);
  expect((await importObjects(me, [order('second', [of(50)])])).reasons).toEqual([]);

  const { rows } = await testApp.database.pool.query<{ spent: string; balance: string; booking: number }>(
    `select v.spent_before as spent, v.balance, min(b.id) as booking from vouchers v join bookings b using (provider_id)
     where v.provider_id = $1 group by 1, 2`,
    [me.id],
  );
  expect(rows).toMatchObject([{ spent: '30.00', balance: '120.00' }]);
  const booked = (await me.get(`/v2/booking/${rows[0]!.booking}`)).json<{ summary: Fields }>().summary;
  expect(booked).toMatchObject({ paid_by_voucher: 300, to_pay: 100 });
  expect((await checkCounters(testApp.database, { providerId: me.id })).differences).toEqual([]);
});

test('payments are imported with their orders, and a paid order without any gets one', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const line = { product_id: 'c/products/1', quantity: 1, price_at_order_per_item_vat_excluded: 400 };
  const order = (ref: string, fields: Fields) => ({
    ...{ kind: 'order', ref, title: 'C', lines: [line] },
    ...{ redemptions: [{ voucher_id: 'v', amount: 100 }], ...fields },
  });
  const of = (amount: number, fields: Fields = {}) => ({ amount, ...fields });
  const [named, reversed] = [{ reference: 'R' }, { reversed_at: '2026-01-02' }];
  const lines = [course('c'), { kind: 'voucher', ref: 'v', code: 'V', amount: 500, balance: 0 }];
  const { reasons } = await importObjects(me, [
    ...lines,
    order('none', { payments: [of(0)] }),
    order('late', { payments: [of(1, { paid_at: '2999-01-01' })] }),
    order('twice', { payments: [of(1, named), of(2, { reference: 'r ', method: 'card' })] }),
  ]);
  expect(reasons).toEqual([
    '3: Field(s) not valid: payments[0].amount',
    '5: Field(s) not valid: payments',
    '4: Field(s) not valid: payments',
  ]);
  const imported = await importObjects(me, [
    ...lines,
    order('paid', { is_paid: true }),
    order('open', {}),
    order('named', { payments: [of(900, reversed), of(299, { ...named, ...reversed }), of(299, named), of(1)] }),
    order('partly', { is_paid: true, payments: [of(299, { method: 'bank', paid_at: '2026-02-03' })] }),
    order('much', { payments: [of(350.01), of(-20, named), of(-10, { ...named, method: 'card' })] }),
  ]);
  expect(imported.reasons).toEqual([]);
  const orders = (await me.get('/v2/orders')).json<Fields[]>();
  expect(orders.map(({ is_paid }) => is_paid)).toEqual([true, false, true, false, true]);
  const { balance } = (await me.get(`/v2/orders/${Number(orders[4]!['id'])}?include=balance`)).json<Fields>();
  expect(balance).toMatchObject({ paid: 320.01, due: 0, owed: 20.01 });
  const payments = (await me.get('/v2/payments?reversed=0')).json<Fields[]>();
  const paidOf = (n: number) => payments.filter(({ order_id }) => order_id === orders[n]!['id']);
  expect(paidOf(0)).toMatchObject([{ amount: 300, method: 'other', paid_at: orders[0]!['created_at'] }]);
  expect(paidOf(1)).toEqual([]);
  expect(paidOf(2)).toMatchObject([{ amount: 299, reference: 'R' }, { amount: 1 }]);
  expect(paidOf(3)).toMatchObject([{ amount: 299, method: 'bank', paid_at: '2026-02-03T00:00:00+01:00' }]);
  expect((await checkCounters(testApp.database, { providerId: me.id })).differences).toEqual([]);
});

test('seats, totals, capacities and titles are derived from the lines', async () => {
  const testApp = await sharedTestApp();
  const [me, partner] = [await testApp.createProvider(), await testApp.createProvider()];
  await importObjects(me, schoolFile(partner.id));
  const [june, child] = (await me.get('/v2/coursedates')).json<{ items: Fields[] }>().items;
  expect(june).toMatchObject({
    seats: {
      allocated_capacity: { num: 4, num_overbooked: 1, num_waiting: 3 },
      booking_status: { num: 3, num_confirmed: 2, num_unconfirmed: 1, num_waiting: 0 },
    },
  });
  expect(child).toMatchObject({ title: 'Knitting for all', teaching_language_id: 'en', deadline_at: '2030-06-10' });
  const [order] = (await me.get('/v2/orders?exported=1')).json<Fields[]>();
  expect(order).toMatchObject({
    title: `Knitting for all #${String(order!['id'])}`,
    // 2 × 1500 − 25 at 25 %, and 99.50 at 15 %.
    calculated_totals: {
      total_amount_before_discounts: 3099.5,
      total_amount_of_discounts: 25,
      total_amount_of_vat: 758.68,
      total_amount_incl_discounts_and_vat: 3833.18,
    },
  });
});

test('accounting fields of a product are imported', async () => {
  const testApp = await sharedTestApp();
  const [me, partner] = [await testApp.createProvider(), await testApp.createProvider()];
  await importObjects(me, schoolFile(partner.id));
  const products = (await me.get('/v2/orders/products')).json<Fields[]>();
  expect(products.find(({ title }) => title === 'Lunch')).toMatchObject({
    account_number: '3010',
    cost_unit: 'Kitchen',
    id_external_system: 'X-7',
  });
});

test('importing the same file twice changes nothing', async () => {
  const testApp = await sharedTestApp();
  const [me, partner] = [await testApp.createProvider(), await testApp.createProvider()];
  const file = schoolFile(partner.id);
  await importObjects(me, file);
  const before = [await clock(testApp, me), await exportToLines(testApp, me)];
  expect(await importObjects(me, file)).toMatchObject({ read: 47, known: 47, written: 0, reasons: [] });
  expect([await clock(testApp, me), await exportToLines(testApp, me)]).toEqual(before);
});

/** Default of a missing field that depends on the clock. */
const when = ({ kind }: Fields) => (kind === 'participant' ? { status_updated_at: '2026-01-01' } : {});

test('a second run continues after an aborted one', async () => {
  const testApp = await sharedTestApp();
  const [me, whole, partner] = [
    await testApp.createProvider(),
    await testApp.createProvider(),
    await testApp.createProvider(),
  ];
  const file = schoolFile(partner.id).map((line) => ({ ...line, password: undefined, ...when(line) }));
  const breaking = importObjects(me, file, {
    onProgress: ({ written }) => {
      if (written > 20) throw new Error('pulled the plug');
    },
  });
  await expect(breaking).rejects.toThrow('pulled the plug');
  const rest = await importObjects(me, file);
  expect(rest.known).toBeGreaterThan(20);
  expect(rest).toMatchObject({ written: 47 - rest.known, reasons: [] });
  await importObjects(whole, file);
  expect(differences(await exportToLines(testApp, whole), await exportToLines(testApp, me))).toEqual([]);
});

test('a dry run checks the whole file, takes no lock and writes nothing', async () => {
  const testApp = await sharedTestApp();
  const [me, partner] = [await testApp.createProvider(), await testApp.createProvider()];
  const before = [await clock(testApp, me), await exportToLines(testApp, me)];
  const dry = await (await me.ctx()).write(allAreas, () => importObjects(me, schoolFile(partner.id), { dryRun: true }));
  expect(dry).toMatchObject({ read: 47, written: 0, bad: 0 });
  const after = await exportToLines(testApp, me);
  expect(after).toEqual(before[1]);
  const { rows } = await testApp.database.pool.query('select * from import_refs where provider_id = $1', [me.id]);
  expect(rows).toEqual([]);
});

const course = (ref: string, fields: Fields = {}) => ({ kind: 'course', ref, title: `Title ${ref}`, ...fields });
const date = (ref: string, fields: Fields = {}) => ({
  kind: 'coursedate',
  ref,
  course_id: 'c',
  start_at: '2030-01-01',
  end_at: '2030-01-02',
  ...fields,
});

test.each(['m=65537,t=3,p=1', 'm=65536,t=5,p=1', 'm=110000,t=2,p=1', 'm=19456,t=2,p=9', 'm=999,t=2,p=1'])(
  'a password hash with the cost %s is rejected',
  async (cost) => {
    const me = await (await sharedTestApp()).createProvider();
    const hashOf = (ofCost: string) => `$argon2id$v=19$${ofCost}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const user = (ofCost: string) => ({ kind: 'user', ref: 'u', username: 'u', password_hash: hashOf(ofCost) });
    expect(await importObjects(me, [user(cost)])).toMatchObject({
      written: 0,
      reasons: ['1: Field(s) not valid: password_hash'],
    });
    expect(await importObjects(me, [user('m=65536,t=4,p=1')])).toMatchObject({ written: 1, reasons: [] });
  },
);

test('every invalid line is reported with number and reason, and nothing is written', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  await me.course({ title: 'Taken' });
  const before = await clock(testApp, me);
  const { reasons, written } = await importObjects(me, [
    course('c'),
    { kind: 'novel', ref: 'x' },
    { kind: 'course', title: 'No ref' },
    { kind: 'course', ref: 'empty' },
    course('bad', { level: 99, products: [{ ref: 'bad-product', title: 'x' }] }),
    {
      kind: 'order',
      ref: 'o',
      title: 'x',
      lines: [{ product_id: 'bad-product', quantity: 0, price_at_order_per_item_vat_excluded: 1 }],
    },
    course('c', { title: 'Another title' }),
    course('taken', { title: 'TAKEN' }),
    course('twice', { title: 'title C' }),
    date('lost', { course_id: 'nowhere' }),
    date('backwards', { end_at: '2029-12-31' }),
    date('unreal', { start_at: '2030-02-30' }),
    date('zone', { timezone: 'Europe/Olso' }),
    date('late', { deadline_at: '2030-01-03' }),
    date('meeting', { gatherings: [{ gathering_at: '2030-02-30 09:00', gathering_end_at: '2030-03-01 09:00' }] }),
    { kind: 'user', ref: 'short', username: 'u', password: '1234567' },
    { kind: 'user', ref: 'nameless' },
    { kind: 'user', ref: 'common', username: 'v', password: 'Password1' },
    { kind: 'user', ref: 'names', username: 'w', lastname: 'Nordmann', password: 'nordmann2026' },
    { kind: 'campaign', ref: 'much', discount_type: 'Percent', discount_value: 100.5 },
    { kind: 'voucher', ref: 'v', code: 'V', amount: 10, balance: 11 },
    { kind: 'partner', ref: 'p', partner_id: 9_000_000_000, status: 'approved' },
    { kind: 'admin_user', ref: 'a', email: 'a@b.example', firstname: 'A', lastname: 'B', role_ids: ['none'] },
    course('corporate', { type: 'corporate' }),
    course('poison', { reference: 'a\0b' }),
    date('fine'),
    { kind: 'voucher', ref: 'never', code: 'N', amount: 10, expires_at: '9999-12-31T23:59:59Z' },
  ]);
  expect(reasons).toEqual([
    expect.stringMatching(/^2: Unknown kind; the kinds are school, booking_settings, catalog_settings, place, /),
    '3: Missing field(s): ref',
    '4: Missing field(s): title',
    '5: Field(s) not valid: level',
    '6: Field(s) not valid: lines',
    '11: Field(s) not valid: end_at,deadline_at',
    '12: Field(s) not valid: start_at',
    '13: Field(s) not valid: timezone',
    '14: Field(s) not valid: deadline_at',
    '15: Field(s) not valid: gatherings[0].gathering_at',
    '16: Field(s) not valid: password',
    '17: Missing field(s): username',
    '18: Field(s) not valid: password',
    '19: Field(s) not valid: password',
    '20: Field(s) not valid: discount_value',
    '21: Field(s) not valid: balance',
    '22: There is no provider 9000000000',
    '24: Missing field(s): customer_id',
    '25: Field(s) not valid: reference',
    '27: Field(s) not valid: expires_at',
    '7: The course c is on line 1 already',
    '8: Another course has this title already',
    '9: Line 1 has the same title',
    '10: No course has the ref nowhere before this line',
    '23: No role has the ref none before this line',
  ]);
  expect(written).toBe(0);
  expect(await clock(testApp, me)).toBe(before);
});

test('a line does not take the role of the last administrator', async () => {
  const me = await (await sharedTestApp()).createProvider();
  const kari = { email: `kari-${me.id}@people.example`, firstname: 'Kari', lastname: 'Moen' };
  const { id } = (await me.post('/v2/admin-users', { ...kari, role_ids: [1] })).json<{ id: number }>();
  const roles = [
    { kind: 'role', ref: 'r', title: 'Teacher' },
    { kind: 'role', ref: '1', title: 'Administrator' },
  ];
  for (const [fields, text] of [
    [{ detached: true }, 'keeps the role 1'],
    [{ role_ids: ['r'] }, 'keeps the role 1'],
    [{ role_ids: ['1'], detached: true }, 'cannot be detached'],
  ] as const) {
    const { reasons } = await importObjects(me, [...roles, { kind: 'admin_user', ref: 'k', ...kari, ...fields }]);
    expect(reasons).toEqual([`3: The last administrator of the school ${text}`]);
  }
  expect((await me.get(`/v2/admin-users/${id}`)).json<{ role_ids: number[] }>().role_ids).toEqual([1]);
});

test('a database constraint error is reported with its line, and the import stops', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const order = (ref: string, quantity: number) => ({
    kind: 'order',
    ref,
    title: 'C',
    lines: [{ product_id: 'c/products/1', quantity, price_at_order_per_item_vat_excluded: 9_999_999_999 }],
  });
  const lines = [course('c'), order('o1', 1), order('o2', 2_000), order('o3', 1), order('o4', 1)];
  const { reasons, written } = await importObjects(me, lines);
  expect(reasons).toEqual(['3: A value is out of range']);
  expect(written).toBe(2);
  expect((await exportToLines(testApp, me)).map(({ kind }) => kind)).toEqual(['role', 'course', 'order']);
});

test('a constraint error inside a larger transaction does not abort it', async () => {
  const { database, createProvider } = await sharedTestApp();
  const me = await createProvider();
  const line = { product_id: 'c/products/1', price_at_order_per_item_vat_excluded: 9_999_999_999 };
  const order = { kind: 'order', title: 'C' };
  const fields = [
    course('c'),
    { ...order, ref: 'fine', lines: [{ ...line, quantity: 1 }] },
    { ...order, ref: 'much', lines: [{ ...line, quantity: 2_000 }] },
  ];
  const reasons: string[] = [];
  const left = await database.atomically(async (within) => {
    const lines = fields.map((one, n) => ({ number: n + 1, fields: one }));
    const onBadLine = ({ line, reason }: BadLine) => reasons.push(`${line}: ${reason}`);
    expect(await importLines(within, settings, me.id, lines, { onBadLine })).toMatchObject({ written: 2, bad: 1 });
    return within.pool.query<Fields>("select ref from import_refs where provider_id = $1 and kind = 'order'", [me.id]);
  });
  expect(reasons).toEqual(['3: A value is out of range']);
  expect(left.rows).toEqual([{ ref: 'fine' }]);
});

test('a new date updates only its course', async () => {
  const { database, createProvider } = await sharedTestApp();
  const me = await createProvider();
  await importObjects(me, [course('c'), course('other'), date('before', { course_id: 'other' })]);
  await importObjects(me, [date('d')]);
  const { rows } = await database.pool.query<{ timestamps: string[]; date: string }>(
    `select array[c.updated_at, c.related_items_updated_at]::text[] as timestamps, d.created_at::text as date
     from courses c join course_dates d on d.provider_id = c.provider_id and d.course_id = c.id
     where c.provider_id = $1 order by c.id`,
    [me.id],
  );
  expect(rows.map(({ timestamps }) => timestamps)).toEqual(rows.map(({ date }) => [date, date]));
  expect(rows[0]!.date > rows[1]!.date).toBe(true);
});

test('more lines than a batch keep their order, with ascending ids', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const file = [
    ...Array.from({ length: 1_100 }, (_, n) => course(`c${n}`)),
    ...Array.from({ length: 1_100 }, (_, n) =>
      date(`d${n}`, { course_id: 'c1099', parent_id: n > 0 ? 'd0' : undefined }),
    ),
  ];
  expect(await importObjects(me, file)).toMatchObject({ read: 2_200, written: 2_200, reasons: [] });
  const all = await exportToLines(testApp, me);
  const titles = all.filter(({ kind }) => kind === 'course').map(({ title }) => title);
  expect(titles).toEqual(Array.from({ length: 1_100 }, (_, n) => `Title c${n}`));
  const [first, ...children] = all.filter(({ kind }) => kind === 'coursedate');
  expect(children.map(({ parent_id: parent }) => parent)).toEqual(Array(1_099).fill(first!['ref']));
});

test('table statistics are updated after an import', async () => {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  try {
    const me = await testApp.createProvider();
    const lines = Array.from({ length: 500 }, (_, n) => ({ kind: 'user', ref: `u${n}`, username: `user-${n}` }));
    expect((await importObjects(me, lines, {}, { name })).written).toBe(500);
    const { rows } = await testApp.database.pool.query("select reltuples from pg_class where relname = 'course_users'");
    expect(rows).toEqual([{ reltuples: 500 }]);
  } finally {
    await testApp.close();
  }
});

test('cross-line rules are checked within the file and against earlier imports', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const line = { quantity: 1, price_at_order_per_item_vat_excluded: 1 };
  const order = (n: number) => ({
    kind: 'order',
    ref: `o${n}`,
    title: 'C',
    booking: { ref: `b${n}`, coursedate_id: 'd' },
    lines: [{ ref: `l${n}`, product_id: 'c/products/1', ...line }],
  });
  const meeting = { gathering_at: '2030-01-01T09:00', gathering_end_at: '2030-01-01 10:00' };
  const before = [
    course('c'),
    course('other'),
    date('d', { gatherings: [{ ref: 'g', ...meeting }] }),
    date('child', { parent_id: 'd' }),
    date('d2', { gatherings: [{ ref: 'g2', ...meeting }] }),
    order(1),
    order(2),
    { kind: 'user', ref: 'u', username: 'u' },
  ];
  const seat = { kind: 'participant', idBooking: 'b1', coursedate_id: 'd', user_id: 'u' };
  const wrong = [
    date('of another course', { course_id: 'other', parent_id: 'd' }),
    date('grandchild', { parent_id: 'child' }),
    date('itself', { parent_id: 'itself' }),
    { ...seat, ref: 'p1', order_lines: ['l2'] },
    { ...seat, ref: 'p2', attendance: [{ gathering_id: 'g2' }] },
    { ...seat, ref: 'right', order_lines: ['l1'], attendance: [{ gathering_id: 'g' }] },
    date('again', { gatherings: [{ ref: 'g2', ...meeting }] }),
    course('mistyped', { pirce_value: 5 }),
    {
      kind: 'campaign',
      ref: 'w',
      discount_type: 'Value',
      discount_value: 5,
      starts_at: '2030-01-02',
      ends_at: '2030-01-01',
    },
    // The clock jumps from 02:00 to 03:00, so 02:30 becomes 03:30.
    date('gap', { start_at: '2026-03-29', end_at: '2026-03-29', start_time_at: '02:30', end_time_at: '03:15' }),
  ];
  const errors = (first: number) => [
    `${first + 7}: Unknown field(s): pirce_value`,
    `${first}: Field(s) not valid: parent_id`,
    `${first + 1}: Field(s) not valid: parent_id`,
    `${first + 2}: No coursedate has the ref itself before this line`,
    `${first + 3}: Field(s) not valid: order_lines`,
    `${first + 4}: Field(s) not valid: attendance`,
  ];
  const together = await importObjects(me, [...before, ...wrong]);
  const last = (first: number) => [
    `${first + 8}: Field(s) not valid: ends_at`,
    `${first + 9}: Field(s) not valid: end_time_at`,
  ];
  expect(together.reasons).toEqual([...errors(9), '15: The gathering g2 is on line 5 already', ...last(9)]);
  expect((await importObjects(me, before)).reasons).toEqual([]);
  expect((await importObjects(me, wrong)).reasons).toEqual([
    ...errors(1),
    '7: The gathering g2 was imported before',
    ...last(1),
  ]);
});

test('a status change in the future is rejected', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const order = { kind: 'order', ref: 'o', title: 'C', booking: { ref: 'b', coursedate_id: 'd' } };
  const people = ['u', 'v', 'w', 'x'].map((ref) => ({ kind: 'user', ref, username: ref }));
  const hour = 3_600_000;
  const waiting = (user: string, status_updated_at: string) => ({
    ...{ kind: 'participant', ref: user, idBooking: 'b', coursedate_id: 'd', user_id: user },
    ...{ idStatus: 3, status_updated_at },
  });
  const moment = (ms: number) => new Date(Date.now() + ms).toISOString();
  const lines = [
    ...[course('c'), date('d'), order, ...people],
    waiting('u', '2062-01-01'),
    waiting('v', moment(hour)),
    waiting('w', moment(-hour)),
    waiting('x', `${moment(hour).slice(0, 19)}+14:00`),
  ];
  const refused = ['8: Field(s) not valid: status_updated_at', '9: Field(s) not valid: status_updated_at'];
  expect((await importObjects(me, lines, { dryRun: true })).reasons).toEqual(refused);
  expect(await importObjects(me, lines)).toMatchObject({ written: 0, reasons: refused });
});

test('importing a participant later updates its order', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const order = { kind: 'order', ref: 'o', title: 'C', booking: { ref: 'b', coursedate_id: 'd' } };
  await importObjects(me, [course('c'), date('d'), order, { kind: 'user', ref: 'u', username: 'u', lastname: 'U' }]);
  const readTimestamp = async () =>
    (
      await testApp.database.pool.query<{ at: string }>(
        'select updated_at::text as at from orders where provider_id = $1',
        [me.id],
      )
    ).rows[0]!.at;
  const before = await readTimestamp();
  await importObjects(me, [{ kind: 'participant', ref: 'p', idBooking: 'b', coursedate_id: 'd', user_id: 'u' }]);
  expect((await readTimestamp()) > before).toBe(true);
});

test('a slow input stream does not lose its database connection', async () => {
  const { createProvider, database } = await sharedTestApp();
  const [me, other] = [await createProvider(), await createProvider()];
  const [paused, lost] = [createGate(), createGate()];
  async function* slowly(pause: () => Promise<unknown>) {
    for (let n = 0; n < 1_001; n += 1) yield course(`c${n}`);
    await pause();
    yield course('last');
  }
  const permanent = importObjects(
    me,
    slowly(() => {
      paused.open();
      return lost.opened;
    }),
    {},
    { idleMs: 0 },
  );
  await paused.opened;
  const locked = `select from pg_locks where locktype = 'advisory'
    and (classid::bigint << 32 | objid::bigint) = hashtextextended('import', $1)`;
  const isLocked = async ({ id }: Provider) => (await database.pool.query(locked, [id])).rowCount === 1;
  const untilLost = () => expect.poll(() => isLocked(other)).toBe(false);
  const idle = importObjects(other, slowly(untilLost), {}, { idleMs: 100 });
  await expect(idle).rejects.toThrow('the lock of the import');
  expect(await isLocked(me)).toBe(true);
  lost.open();
  expect(await permanent).toMatchObject({ written: 1_002, reasons: [] });
});

test('an import whose session ends between two writes stops, and the next run continues it', async () => {
  const { createProvider, database } = await sharedTestApp();
  const me = await createProvider();
  const own = openTestDatabase(inject('shared'), { poolSize: 1, idleMs: 0 });
  onTestFinished(() => own.close());
  const endSession = async () => {
    const { rows } = await own.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
    await database.pool.query('select pg_terminate_backend($1, 5000)', [rows[0]!.pid]);
    await expect.poll(() => own.usage().connections.open).toBe(0);
  };
  let writes = 0;
  const queuedAs: typeof own.queuedAs = (key) => {
    const queued = own.queuedAs(key);
    const write: typeof queued.write = async (...values) => {
      const result = await queued.write(...values);
      if ((writes += 1) === 1) await endSession();
      return result;
    };
    return { ...queued, write };
  };
  // Each course has a product.
  const objects = Array.from({ length: 1_001 }, (_, n) => course(`c${n}`));
  const lines = objects.map((fields, n) => ({ number: n + 1, fields }));
  await expect(importLines({ ...own, queuedAs }, settings, me.id, lines)).rejects.toThrow('the lock of the import');
  expect(writes).toBe(1);
  expect(await importObjects(me, objects)).toMatchObject({ known: 750, written: 251, reasons: [] });
});

const countStaged = async ({ database }: TestApp, { id }: Provider) =>
  (await database.pool.query('select from staged_lines where provider_id = $1', [id])).rowCount;
const stage = ({ database }: TestApp, { id }: Provider) =>
  database.pool.query(
    `insert into staged_lines (provider_id, line, part, kind, "table", data, refs, staged_at)
      values ($1, 99, 0, 'course', 'courses', '{"title": "Interrupted"}', '{}', now())`,
    [id],
  );

test('an import leaves no staged lines, and deletes those of an interrupted one', async () => {
  const testApp = await sharedTestApp();
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  await Promise.all([me, other].map((provider) => stage(testApp, provider)));
  expect(await importObjects(me, [course('c')], { dryRun: true })).toMatchObject({ read: 1, written: 0, reasons: [] });
  expect([await countStaged(testApp, me), await countStaged(testApp, other)]).toEqual([0, 1]);
  expect(await importObjects(me, [course('c')])).toMatchObject({ written: 1, reasons: [] });
  expect(await countStaged(testApp, me)).toBe(0);
});

test('an erasure deletes the lines of an interrupted import, but not those of one in progress', async () => {
  const testApp = await sharedTestApp();
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const erase = async () => expect((await me.post(`/v2/course-users/${await createUser(me)}/erase`)).status).toBe(200);
  async function* lines() {
    yield course('c');
    await stage(testApp, me);
    await erase();
    expect(await countStaged(testApp, me)).toBe(1);
  }
  expect(await importObjects(me, lines(), { dryRun: true })).toMatchObject({ read: 1 });
  await Promise.all([me, other].map((provider) => stage(testApp, provider)));
  await erase();
  expect([await countStaged(testApp, me), await countStaged(testApp, other)]).toEqual([0, 1]);
});

test('refs are separate per provider', async () => {
  const testApp = await sharedTestApp();
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  await importObjects(other, [course('c')]);
  expect((await importObjects(me, [date('d')])).reasons).toEqual(['1: No course has the ref c before this line']);
});

test('two imports of one provider cannot run concurrently', async () => {
  const testApp = await sharedTestApp();
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  async function* lines() {
    yield course('c1');
    await expect(importObjects(me, [course('c2')])).rejects.toThrow(`Another import of provider ${me.id} is running`);
    expect(await importObjects(other, [course('c')])).toMatchObject({ written: 1 });
    yield course('c3');
  }
  expect(await importObjects(me, lines())).toMatchObject({ written: 2 });
  expect(await importObjects(me, [course('c2')])).toMatchObject({ written: 1 });
});
