import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../../src/database/client.ts';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { addDate, addParticipants } from '../../support/dates.ts';
import { mainProduct, createOrder, createProduct, createUser, write } from '../../support/orders.ts';
import { runCli, databaseUrl, temporaryFolder } from '../../support/processes.ts';
import { asAdmin, openTestDatabase, openTestApp, ownDatabase, type Provider } from '../../support/test-app.ts';

/** A separate database, since the doctor checks all providers. */
async function openOwnTestApp() {
  const name = await ownDatabase();
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(() => testApp.close());
  const doctor = (...args: string[]) =>
    runCli(['doctor', '--only', 'data', ...args], { DATABASE_URL: databaseUrl(name) });
  return { ...testApp, doctor };
}

/** Runs SQL without triggers, bypassing counters and lock checks. */
async function executeWithoutTriggers({ pool }: Database, table: string, statement: string) {
  await pool.query(`alter table ${table} disable trigger user`);
  await pool.query(statement);
  await pool.query(`alter table ${table} enable trigger user`);
}

/** A date with participants of every status, and an order with two lines, a discount and VAT. */
async function school(me: Provider) {
  const courseId = await me.course();
  const dateId = await addDate(me, courseId);
  await addParticipants(me, courseId, dateId, [1, 1, 1, 2, 7, 7, 3, 4, 8]);
  const line = { quantity: 3, priceAtOrder: '33.33', discountCalculatedAtOrder: '10.10', vatPercentage: '25' };
  const { orderId } = await createOrder(me, {
    courseId,
    dateId: await addDate(me, courseId),
    users: [],
    lines: [
      { productId: await mainProduct(me, courseId), ...line },
      { productId: await createProduct(me, courseId), ...line, vatPercentage: '12.5' },
    ],
  });
  return { courseId, dateId, orderId };
}

const readRows = async ({ pool }: Database, table: string) =>
  (await pool.query<{ id: number; updated_at: string }>(`select * from ${table} order by id`)).rows;

test('doctor finds no difference in a sound database and prints how much it checked', async () => {
  const { createProvider, doctor } = await openOwnTestApp();
  expect(await doctor()).toMatchObject({
    code: 0,
    stdout: 'Checked 0 course dates, 0 orders, 0 campaigns, 0 vouchers: no difference\n',
  });
  const [one, other] = [await createProvider(), await createProvider()];
  await school(one);
  await school(other);
  expect(await doctor()).toMatchObject({
    code: 0,
    stdout: 'Checked 4 course dates, 4 orders, 0 campaigns, 0 vouchers: no difference\n',
    stderr: '',
  });
  const limited = await doctor('--provider', String(one.id), '--json');
  expect([limited.code, limited.json()]).toEqual([
    0,
    {
      checked: { course_dates: 2, orders: 2, campaigns: 0, vouchers: 0 },
      differences: [],
      fixed: false,
      clocks_ahead: [],
    },
  ]);
});

test('doctor finds and repairs corrupted counters', async () => {
  const { database, createProvider, doctor } = await openOwnTestApp();
  const [me, other] = [await createProvider(), await createProvider()];
  const [mine, theirs] = [await school(me), await school(other)];
  await school(me);
  const sound = { dates: await readRows(database, 'course_dates'), orders: await readRows(database, 'orders') };

  await executeWithoutTriggers(
    database,
    'participants',
    `update participants set status_id = 1 where course_date_id = ${mine.dateId} and status_id in (2, 4)`,
  );
  await executeWithoutTriggers(
    database,
    'course_dates',
    `update course_dates set num_waiting = 5 where id = ${theirs.dateId}`,
  );
  await executeWithoutTriggers(
    database,
    'order_lines',
    `update order_lines set price_at_order = 40 where order_id = ${mine.orderId}`,
  );
  await executeWithoutTriggers(database, 'orders', `update orders set total_vat = 0.01 where id = ${theirs.orderId}`);

  const ofMine = { provider_id: me.id, items: 'course_dates', id: mine.dateId };
  const ofOrder = { provider_id: me.id, items: 'orders', id: mine.orderId };
  const ofTheirs = { provider_id: other.id, items: 'course_dates', id: theirs.dateId };
  const differences = [
    { ...ofMine, figure: 'num_confirmed', stored: '3', counted: '5' },
    { ...ofMine, figure: 'num_overbooked', stored: '1', counted: '0' },
    { ...ofTheirs, figure: 'num_waiting', stored: '5', counted: '1' },
    // Six items at 40 minus two discounts of 10.10; VAT on 109.90 at 25 and at 12.5 percent, each rounded.
    { ...ofOrder, figure: 'total_before_discounts', stored: '199.98', counted: '240.00' },
    { ...ofOrder, figure: 'total_vat', stored: '33.71', counted: '41.22' },
    { ...ofOrder, provider_id: other.id, id: theirs.orderId, figure: 'total_vat', stored: '0.01', counted: '33.71' },
  ];
  const found = await doctor('--json');
  expect(found).toMatchObject({
    code: 1,
    stderr: 'error: 6 stored counters differ from the recount; correct with `doctor --fix`\n',
  });
  expect(found.json()).toEqual({
    checked: { course_dates: 6, orders: 6, campaigns: 0, vouchers: 0 },
    differences,
    fixed: false,
    clocks_ahead: [],
  });
  const text = (await doctor()).stdout.split('\n');
  expect(text[0]).toBe('provider_id  items         id  figure                  stored  counted');
  expect(text[6]).toMatch(/^2 +orders +\d+ +total_vat +0\.01 +33\.71$/);
  expect(text.slice(7)).toEqual([
    'Checked 6 course dates, 6 orders, 0 campaigns, 0 vouchers: 6 counters are wrong',
    '',
  ]);

  const ofOther = differences.filter(({ provider_id }) => provider_id === other.id);
  expect((await checkCounters(database, { providerId: other.id })).differences).toEqual(ofOther);
  const damaged = await readRows(database, 'course_dates');
  expect(await checkCounters(database, { providerId: other.id, fix: true })).toEqual({
    checked: { course_dates: 2, orders: 2, campaigns: 0, vouchers: 0 },
    differences: ofOther,
    fixed: true,
  });
  expect((await checkCounters(database, {})).differences).toEqual(
    differences.filter(({ provider_id }) => provider_id === me.id),
  );
  const others = (rows: typeof damaged) => rows.filter(({ id }) => id !== theirs.dateId);
  expect(others(await readRows(database, 'course_dates'))).toEqual(others(damaged));

  expect(await doctor('--fix')).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /\nChecked 6 course dates, 6 orders, 0 campaigns, 0 vouchers: 4 counters were wrong and have been corrected\n$/,
    ) as string,
  });
  expect((await checkCounters(database, {})).differences).toEqual([]);

  // Only wrong rows are updated and get a new timestamp.
  const clocks = new Map(
    (await database.pool.query<{ provider_id: number; changed_at: Date }>('select * from provider_state')).rows.map(
      (row) => [row.provider_id, row.changed_at.getTime()],
    ),
  );
  for (const [table, before, touched] of [
    ['course_dates', sound.dates, [mine.dateId, theirs.dateId]],
    ['orders', sound.orders, [mine.orderId, theirs.orderId]],
  ] as const) {
    const after = await readRows(database, table);
    expect(after.filter(({ id }) => !touched.includes(id))).toEqual(before.filter(({ id }) => !touched.includes(id)));
    for (const row of after.filter(({ id }) => touched.includes(id))) {
      const was = before.find(({ id }) => id === row.id)!;
      expect(new Date(row.updated_at) > new Date(was.updated_at)).toBe(true);
    }
  }
  const [order] = (await readRows(database, 'orders')).filter(({ id }) => id === mine.orderId);
  expect(new Date(order!.updated_at).getTime()).toBe(clocks.get(me.id));
  const dates = await me.get(`/v2/coursedates?coursedate_id=${mine.dateId}`);
  expect(dates.json().items[0].seats.booking_status).toMatchObject({ num_confirmed: 5, num_unconfirmed: 2 });
});

test('items on all pages are checked', async () => {
  const { database, createProvider } = await openOwnTestApp();
  const [me, other] = [await createProvider(), await createProvider()];
  for (const provider of [me, other]) {
    const courseId = await provider.course();
    await write(provider, (tx, now) =>
      tx.execute(`insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, created_at, updated_at)
        select ${provider.id}, ${courseId}, '2030-01-01', '2030-01-01', '2030-01-01', 'UTC', 'no', '${now}', '${now}' from generate_series(1, 1100)`),
    );
  }
  const ids = (await readRows(database, 'course_dates')).map(({ id }) => id);
  // Boundaries of the batches of a thousand, for all providers and for the second alone.
  const wrong = [0, 999, 1000, 1099, 1100, 1999, 2000, 2099, 2100, 2199].map((place) => ids[place]!);
  await executeWithoutTriggers(
    database,
    'course_dates',
    `update course_dates set num_confirmed = 1 where id in (${wrong.join()})`,
  );
  const foundIn = async (query: { providerId?: number; fix?: boolean }) => {
    const { checked, differences } = await checkCounters(database, query);
    return [checked['course_dates'], differences.map(({ id }) => id)];
  };
  expect(await foundIn({})).toEqual([2200, wrong]);
  expect(await foundIn({ providerId: other.id })).toEqual([1100, wrong.slice(4)]);
  expect(await foundIn({ fix: true })).toEqual([2200, wrong]);
  expect(await foundIn({})).toEqual([2200, []]);
});

const seatsOf = async ({ pool }: Database, dateId: number) =>
  (
    await pool.query<{ num_confirmed: number; updated_at: string }>(
      `select num_confirmed, updated_at::text from course_dates where id = ${dateId}`,
    )
  ).rows[0]!;

test('a counter that changes before the lock is recounted under the lock', async () => {
  const { database, createProvider } = await openOwnTestApp();
  const me = await createProvider();
  const { courseId, dateId } = await school(me);
  await executeWithoutTriggers(
    database,
    'course_dates',
    `update course_dates set num_confirmed = 30 where id = ${dateId}`,
  );
  const overtaken = (work: () => Promise<unknown>): Database => ({
    ...database,
    write: async (ids, areas, repair) => {
      await work();
      return database.write(ids, areas, repair);
    },
  });
  const booked = overtaken(() => addParticipants(me, courseId, dateId, [1, 1]));
  expect((await checkCounters(booked, { fix: true })).differences).toMatchObject([{ stored: '30', counted: '3' }]);
  expect(await seatsOf(database, dateId)).toMatchObject({ num_confirmed: 5 });

  // A row corrected concurrently is not updated again.
  await executeWithoutTriggers(
    database,
    'course_dates',
    `update course_dates set num_confirmed = 30 where id = ${dateId}`,
  );
  const repaired = overtaken(() =>
    executeWithoutTriggers(database, 'course_dates', `update course_dates set num_confirmed = 5 where id = ${dateId}`),
  );
  const before = (await seatsOf(database, dateId)).updated_at;
  await checkCounters(repaired, { fix: true });
  expect(await seatsOf(database, dateId)).toEqual({ num_confirmed: 5, updated_at: before });
});

test('doctor reports no false differences during concurrent bookings', async () => {
  const { database, createProvider } = await openOwnTestApp();
  const me = await createProvider();
  const { courseId, dateId } = await school(me);
  const users = [await createUser(me)];
  let done = false;
  const book = async () => {
    for (let n = 0; n < 10; n += 1) {
      await addParticipants(me, courseId, dateId, [1, 2, 7, 3]);
      await createOrder(me, { courseId, dateId, users });
      await write(me, (tx) =>
        tx.execute(`update participants set status_id = 4 where course_date_id = ${dateId} and status_id = 3`),
      );
    }
  };
  const checkAll = async () => {
    while (!done) expect((await checkCounters(database, {})).differences).toEqual([]);
  };
  await Promise.all([checkAll(), Promise.all([book(), book()]).finally(() => (done = true))]);
});

test('an unknown provider prints one line', async () => {
  const { doctor } = await openOwnTestApp();
  expect(await doctor('--provider', '999999')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'error: Provider 999999 not found\n',
  });
  expect(await doctor('--provider', 'x')).toMatchObject({ code: 2, stdout: '' });
});

/** A voucher of 100 inserted by SQL, and the orders that used it. */
async function vouchersOf({ pool }: Database, me: Provider) {
  for (const table of ['vouchers', 'voucher_redemptions'])
    await pool.query(`alter table ${table} disable trigger user`);
  const voucher = async (code: string, balance: number) =>
    (
      await pool.query<{ id: number }>(
        `insert into vouchers (provider_id, code, amount, balance, created_at, updated_at) values (${me.id}, '${code}', 100, ${balance}, now(), now()) returning id`,
      )
    ).rows[0]!.id;
  const redeem = (voucherId: number, orderId: number, amount: number) =>
    pool.query(
      `insert into voucher_redemptions (provider_id, voucher_id, order_id, amount, created_at) values (${me.id}, ${voucherId}, ${orderId}, ${amount}, now())`,
    );
  return { voucher, redeem };
}

test('a voucher balance equals its amount minus its orders', async () => {
  const { database, createProvider } = await openOwnTestApp();
  const me = await createProvider();
  const [first, second] = [await school(me), await school(me)];
  const { voucher, redeem } = await vouchersOf(database, me);
  const spent = await voucher('A', 59.5);
  await voucher('B', 100);
  const wrong = await voucher('C', 100);
  await redeem(spent, first.orderId, 10.5);
  await redeem(spent, second.orderId, 30);
  await redeem(wrong, first.orderId, 0.01);
  const difference = {
    provider_id: me.id,
    items: 'vouchers',
    id: wrong,
    figure: 'balance',
    stored: '100.00',
    counted: '99.99',
  };
  expect((await checkCounters(database, { fix: true })).differences).toEqual([difference]);
  expect(await checkCounters(database, {})).toMatchObject({ checked: { vouchers: 3 }, differences: [] });
});

test('an overspent voucher gets a balance of zero', async () => {
  const { database, createProvider, doctor } = await openOwnTestApp();
  const me = await createProvider();
  const { orderId } = await school(me);
  const { voucher, redeem } = await vouchersOf(database, me);
  await redeem(await voucher('A', 1), orderId, 100.01);
  await redeem(await voucher('B', 0), orderId, 250);
  await me.put(`/v2/orders/${orderId}`, { is_paid: 1 });
  const reported = 'Checked 2 course dates, 2 orders, 0 campaigns, 2 vouchers: 1 counter';
  expect(await doctor()).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(new RegExp(` 1\\.00 +0\\.00\n${reported} is wrong\n$`)) as string,
    stderr: 'error: 1 stored counter differs from the recount; correct with `doctor --fix`\n',
  });
  expect(await doctor('--fix')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`\n${reported} was wrong and has been corrected\n$`)) as string,
    stderr: '',
  });
  expect((await checkCounters(database, {})).differences).toEqual([]);
});

test('a repair that the database rejects is reported and the rest is repaired', async () => {
  const { database, createProvider, doctor } = await openOwnTestApp();
  const [me, other] = [await createProvider(), await createProvider()];
  const [mine, theirs] = [await school(me), await school(other)];
  // Exceeds the range of the total.
  await executeWithoutTriggers(
    database,
    'order_lines',
    `update order_lines set price_at_order = 9999999999 where order_id = ${mine.orderId}`,
  );
  await executeWithoutTriggers(database, 'orders', `update orders set total_vat = 0.01 where id = ${theirs.orderId}`);
  const failed = await doctor('--fix', '--json');
  expect(failed).toMatchObject({
    code: 1,
    stderr:
      'error: not all counters could be corrected: the database rejected the statement (SQLSTATE 22003); run `doctor` to list the rest\n',
  });
  const ofMine = { id: mine.orderId, figure: 'total_before_discounts', stored: '199.98', counted: '59999999994.00' };
  const ofTheirs = { id: theirs.orderId, figure: 'total_vat', stored: '0.01', counted: '33.71' };
  expect(failed.json()).toMatchObject({
    checked: { course_dates: 4, orders: 4, campaigns: 0, vouchers: 0 },
    differences: [ofMine, { id: mine.orderId, figure: 'total_vat' }, ofTheirs],
    fixed: false,
  });
  expect((await checkCounters(database, {})).differences).toMatchObject([ofMine, { figure: 'total_vat' }]);
});

test('doctor prints what it finds in the system, and an error ends it with 1', async () => {
  const name = `booking_bare_${process.pid}`;
  await asAdmin(`create database ${name}`);
  onTestFinished(() => asAdmin(`drop database ${name} with (force)`));
  const env = { DATABASE_URL: databaseUrl(name) };
  const unmigrated = await runCli(['doctor', '--json'], env);
  expect(unmigrated).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: \d checks? found/) as string });
  const { checks, ...rest } = unmigrated.json<{ checks: object[] }>();
  expect(checks).toContainEqual({
    ...{ check: 'migrations', level: 'error' },
    message: expect.stringMatching(/^\d+ of \d+ are pending: run `migrate`$/) as string,
  });
  expect(rest).toEqual({});
  expect(await runCli(['doctor', '--only', 'data'], env)).toMatchObject({
    code: 1,
    stderr: 'error: The database is not migrated yet: run `migrate`\n',
  });

  // On a server of its own, since the tests switch fsync off in theirs.
  const DATA_DIR = temporaryFolder();
  expect((await runCli(['migrate'], { DATA_DIR })).code).toBe(0);
  const whole = await runCli(['doctor'], { DATA_DIR });
  expect(whole).toMatchObject({ code: 0, stderr: '' });
  expect(whole.stdout).toMatch(/^level +check +message\nok +server version +PostgreSQL /);
  expect(whole.stdout).toMatch(/\nwarning +configuration +No mail reaches a person/);
  expect(whole.stdout).toMatch(/\nChecked 0 course dates, 0 orders, 0 campaigns, 0 vouchers: no difference\n$/);
});
