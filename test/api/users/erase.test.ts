import { describe, expect, test } from 'vitest';
import { eraseAgain, eraseExpired } from '../../../src/domains/records/erasures/service.ts';
import { book, bookOrFail, createBookableDate, getSummary } from '../../support/booking.ts';
import { newestEvent } from '../../support/changes.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { createCustomer, createOrder, createUser, write } from '../../support/orders.ts';
import { findPlanted, person, planted, plantPerson } from '../../support/planted.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();
const { pool } = database;

type Kept = { resource: string; id: number; reason: string; until: string | null };
type Erasure = Record<string, number> & { kept: Kept[] };
const erase = async (me: Provider, id: number, body: object = {}) => {
  const response = await me.post(`/v2/course-users/${id}/erase`, body);
  expect([response.status, response.text]).toEqual([200, expect.anything()]);
  return response.json<Erasure>();
};
const changesSince = async (me: Provider, cursor: string) =>
  (await me.get(`/v2/changes?limit=1000&since=${cursor}`)).json<{ items: { type: string }[] }>().items;
const read = async (me: Provider, path: string) => (await me.get(path)).json<Record<string, any>>();

const nothing = {
  participants: 0,
  orders: 0,
  customers: 0,
  mails: 0,
  interests: 0,
  sessions: 0,
  links: 0,
  import_refs: 0,
};
const everything = {
  participants: 1,
  orders: 1,
  customers: 1,
  mails: 1,
  interests: 1,
  sessions: 1,
  links: 1,
  import_refs: 3,
};

/** The seats, statuses and amounts. */
async function readMoney(me: Provider, { dateId, orderId }: { dateId: number; orderId: string }) {
  const numbers = ({ ...item }: object) =>
    Object.fromEntries(Object.entries(item).filter(([, value]) => ['number', 'boolean'].includes(typeof value)));
  const order = await read(me, `/v2/orders/${orderId}`);
  const dates = (await read(me, `/v2/coursedates?coursedate_id=${dateId}`))['items'] as object[];
  const participants = (await me.get(`/v2/participants?coursedate_id=${dateId}`)).json<object[]>();
  return [order, ...(order['lines'] as object[]), ...dates, ...participants].map(numbers);
}

test('nothing of the person is left, and places and amounts stay', async () => {
  const me = await createProvider();
  const { id, dateId, summary, cursor } = await plantPerson(me, pool);
  const ids = { dateId, orderId: summary.order_id };
  const before = await readMoney(me, ids);
  const found = await findPlanted(pool, me.id);
  expect(found.length).toBeGreaterThan(50);
  expect(found).toContain('idempotency_records.answer');
  expect(found).toContain('catalog_posts.recipients');
  expect(found).toContain('course_interests.name');

  const dry = await erase(me, id, { dry_run: true });
  expect(dry).toMatchObject({ id, dry_run: true, ...everything, kept: [], kept_total: 0 });
  expect(await findPlanted(pool, me.id)).toEqual(found);
  expect(await changesSince(me, cursor)).toEqual([]);

  expect(await erase(me, id)).toEqual({ ...dry, dry_run: false });
  expect(await findPlanted(pool, me.id)).toEqual([]);
  expect(await readMoney(me, ids)).toEqual(before);
  expect((await changesSince(me, cursor)).map(({ type }) => type)).toEqual(
    expect.arrayContaining(['courseuser.erased', 'participant.updated', 'order.updated', 'customer.updated']),
  );
  expect(await read(me, `/v2/course-users/${id}`)).toMatchObject({ id, firstname: null, email: null });
  expect(await erase(me, id)).toMatchObject(nothing);
});

test.each(dialects)('dry_run in %s', async (dialect) => {
  const me = await createProvider();
  const id = await createUser(me, { firstname: 'Kari' });
  const body = encodeBody(dialect, { dry_run: true });
  const response = await me.post(`/v2/course-users/${id}/erase`, body, contentTypeHeader(dialect));
  expect([response.status, response.json<object>()]).toMatchObject([200, { dry_run: true }]);
  expect(await read(me, `/v2/course-users/${id}`)).toMatchObject({ firstname: 'Kari' });
});

test('dry_run in the query, also against the body', async () => {
  const me = await createProvider();
  const id = await createUser(me, { firstname: 'Kari' });
  for (const body of [{}, { dry_run: false }])
    expect((await me.post(`/v2/course-users/${id}/erase?dry_run=1`, body)).json<object>()).toMatchObject({
      dry_run: true,
    });
  expect((await me.post(`/v2/course-users/${id}/erase?dry_run=x`, {})).status).toBe(400);
  expect(await read(me, `/v2/course-users/${id}`)).toMatchObject({ firstname: 'Kari' });
});

test('an erased course user is not merged, and nobody into it', async () => {
  const me = await createProvider();
  const [erased, other] = [await createUser(me, { firstname: 'Kari' }), await createUser(me, { firstname: 'Ola' })];
  await erase(me, erased);
  const merge = (id: number, into: number) => me.post(`/v2/course-users/${id}/merge`, { into });
  expect((await merge(other, erased)).json<object>()).toEqual({ error: 'Field(s) not valid: into' });
  expect((await merge(erased, other)).json<object>()).toEqual({
    error: 'The course user is erased and cannot be merged',
  });
  expect(await read(me, `/v2/course-users/${other}`)).toMatchObject({ firstname: 'Ola' });
});

test('an invoiced buyer stays for the years of the setting after that of the invoice, then goes by itself', async () => {
  const me = await createProvider();
  const { id, customer, summary } = await plantPerson(me, pool);
  const orderId = Number(summary.order_id);
  await write(me, (tx) =>
    tx.execute(`update orders set exported_at = '2026-03-01', customer_id = ${customer} where id = ${orderId}`),
  );
  const until = '2032-01-01';
  for (const time of ['first', 'repeated'])
    expect([time, (await erase(me, id)).kept]).toEqual([
      time,
      [
        { resource: 'order', id: orderId, reason: 'invoice', until },
        { resource: 'customer', id: customer, reason: 'invoice', until },
      ],
    ]);
  const kept = await findPlanted(pool, me.id);
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.filter((name) => !/^(orders|customers)\./.test(name))).toEqual([]);

  await eraseExpired(database);
  expect(await findPlanted(pool, me.id)).toEqual(kept);
  await write(me, async (tx, now) => {
    await tx.execute(`update orders set kept_until = '${now}' where id = ${orderId}`);
    await tx.execute(`update customers set kept_until = '${now}' where id = ${customer}`);
  });
  await eraseExpired(database);
  expect(await findPlanted(pool, me.id)).toEqual([]);
});

test('a repeated erasure of a person of whom nothing is left writes nothing', async () => {
  const me = await createProvider();
  const { id, customer, summary } = await plantPerson(me, pool);
  await write(me, (tx) =>
    tx.execute(
      `update orders set exported_at = '2026-03-01', customer_id = ${customer} where id = ${summary.order_id}`,
    ),
  );
  const first = await erase(me, id);
  const readState = async () => {
    const { rows } = await pool.query(
      `select (select json_agg(e) from erasures e where provider_id = $1) as erasures,
        (select json_agg(u) from course_users u where provider_id = $1) as users,
        (select json_agg(c) from customers c where provider_id = $1) as customers,
        (select max(id) from events where provider_id = $1) as event, (select max(id) from audit_entries where provider_id = $1) as entry`,
      [me.id],
    );
    return rows as object[];
  };
  const state = await readState();
  const second = await erase(me, id);
  expect(second).toEqual({ ...first, ...nothing, webhook_attempts: 0 });
  expect(await erase(me, id, { dry_run: true })).toEqual({ ...second, dry_run: true });
  expect(await readState()).toEqual(state);

  await write(me, (tx) => tx.execute(`update course_users set firstname = '${planted}' where id = ${id}`));
  const cursor = await newestEvent(me);
  await erase(me, id);
  expect((await changesSince(me, cursor)).map(({ type }) => type)).toEqual(['courseuser.erased']);
});

test('the years count from the later of export and invoice', async () => {
  const me = await createProvider();
  const { id, summary } = await plantPerson(me, pool);
  await write(me, (tx) =>
    tx.execute(
      `update orders set exported_at = '2025-12-30', invoiced_at = '2026-01-04' where id = ${summary.order_id}`,
    ),
  );
  expect((await erase(me, id)).kept).toMatchObject([{ until: '2032-01-01' }]);
});

test('an invoice whose years are over keeps nobody', async () => {
  const me = await createProvider();
  const { id, customer, summary } = await plantPerson(me, pool);
  await write(me, (tx) =>
    tx.execute(
      `update orders set exported_at = '2019-12-31', customer_id = ${customer} where id = ${summary.order_id}`,
    ),
  );
  for (const [time, count] of [['first', 1] as const, ['repeated', 0] as const])
    expect([time, await erase(me, id)]).toMatchObject([time, { orders: count, customers: count, kept: [] }]);
  expect(await findPlanted(pool, me.id)).toEqual([]);
});

test('an order that another person or a company pays keeps its buyer, and is named', async () => {
  const me = await createProvider();
  const id = await createUser(me, { firstname: 'Kari', lastname: 'Nord', email: 'kari@nord.example' });
  const other = await createUser(me, { firstname: 'Ola' });
  const company = await createCustomer(me);
  const courseId = await me.course();
  const shared = await createOrder(me, { courseId, users: [id, other], order: { booker: 'Ola' } });
  const paid = await createOrder(me, { courseId, users: [id], order: { booker: 'Per', customerId: company } });
  const own = await createOrder(me, { courseId, users: [id, other], order: { booker: 'Kari Nord' } });
  const byMail = await createOrder(me, { courseId, users: [other], booking: { bookerEmail: 'KARI@nord.example' } });
  const response = await erase(me, id);
  expect(response.kept).toEqual([
    { resource: 'order', id: shared.orderId, reason: 'other_buyer', until: null },
    { resource: 'order', id: paid.orderId, reason: 'other_buyer', until: null },
  ]);
  expect(response['orders']).toBe(2);
  const bookers = await Promise.all(
    [shared, paid, own].map(async ({ orderId }) => (await read(me, `/v2/orders/${orderId}`))['booker'] as unknown),
  );
  expect(bookers).toEqual(['Ola', 'Per', null]);
  const { rows } = await pool.query(`select booker_email from bookings where id = $1`, [byMail.bookingId]);
  expect(rows).toEqual([{ booker_email: null }]);
});

describe('an order of several people without a booker', () => {
  const names = { firstname: 'Kari', lastname: 'Nord', email: 'kari@nord.example' };
  const bookTwo = async (me: Provider, others: object[], fields: object = {}) => {
    const { dateId } = await createBookableDate(me);
    const { order_id, participants } = await bookOrFail(me, dateId, { ...fields, participants: [names, ...others] });
    const users = await Promise.all(
      participants.map(async ({ id }) => (await read(me, `/v2/participants/${id}`))['user'] as { id: number }),
    );
    return { orderId: Number(order_id), ids: users.map(({ id }) => id) };
  };
  const payerOf = async (me: Provider, orderId: number) => {
    const order = await read(me, `/v2/orders/${orderId}?include[]=invoicing`);
    return (order['invoicing'] as { payer: object }).payer;
  };
  const ola = { firstname: 'Ola', lastname: 'Berg', email: 'ola@berg.example' };

  test('is that of the first person, then of the next one who is not erased', async () => {
    const me = await createProvider();
    const { orderId, ids } = await bookTwo(me, [ola, { ...ola, firstname: 'Per', email: 'per@berg.example' }]);
    expect(await payerOf(me, orderId)).toMatchObject({ type: 'person', name: 'Kari Nord', email: names.email });
    const other = { resource: 'order', id: orderId, reason: 'other_buyer', until: null };
    expect(await erase(me, ids[1]!)).toMatchObject({ orders: 0, kept: [other] });
    expect((await erase(me, ids[0]!)).kept).toEqual([]);
    expect(await payerOf(me, orderId)).toMatchObject({ type: 'person', name: 'Per Berg', email: 'per@berg.example' });
    expect((await erase(me, ids[2]!)).kept).toEqual([]);
    expect(await payerOf(me, orderId)).toMatchObject({ type: 'person', name: null, email: null });
  });

  const invoicing = {
    gln_number: '7080000000005',
    invoice_reference: 'B-17',
    invoice_email: 'pay@x.example',
    invoice_address_1: 'Street 1',
    invoice_city: 'Bergen',
    company_number: '974760673',
  };
  const readAll = async (me: Provider, orderId: number) => {
    const order = { ...(await read(me, `/v2/orders/${orderId}`)), updated_at: 0, first_user: 0 };
    const { rows } = await pool.query(
      'select booker_email, booker_phone from bookings where order_id = $1 and provider_id = $2',
      [orderId, me.id],
    );
    return { order, booking: rows[0] as object };
  };

  test.each([false, true])(
    'is not the first person’s with the e-mail of somebody else; exported: %s',
    async (isExported) => {
      const me = await createProvider();
      const booker = { booker_email: 'office@x.example', booker_phone: '55 00 00 00' };
      const { orderId, ids } = await bookTwo(me, [ola], { ...invoicing, ...booker });
      if (isExported) expect((await me.post(`/v2/orders/${orderId}/export`)).status).toBe(200);
      const before = await readAll(me, orderId);
      const other = { resource: 'order', id: orderId, reason: 'other_buyer', until: null };
      expect(await erase(me, ids[0]!)).toMatchObject({ orders: 0, kept: [other] });
      expect(await readAll(me, orderId)).toEqual(before);
      expect(before).toMatchObject({ booking: booker });
      expect((await erase(me, ids[1]!)).kept).toMatchObject(isExported ? [{ id: orderId, reason: 'invoice' }] : []);
    },
  );

  test('is kept for the payer of its invoice alone, also once all others are erased', async () => {
    const me = await createProvider();
    const { orderId, ids } = await bookTwo(me, [ola]);
    expect((await me.post(`/v2/orders/${orderId}/export`)).status).toBe(200);
    const kept = [{ resource: 'order', id: orderId, reason: 'invoice' }];
    const other = [{ resource: 'order', id: orderId, reason: 'other_buyer', until: null }];
    expect((await erase(me, ids[0]!)).kept).toMatchObject(kept);
    for (let n = 0; n < 2; n += 1) expect((await erase(me, ids[1]!)).kept).toEqual(other);
    expect(await erase(me, ids[0]!)).toMatchObject({ ...nothing, kept });
    const credited = await me.post(`/v2/orders/${orderId}/credit`);
    const { id } = credited.json<{ id: number }>();
    const ofCredit = [{ ...other[0], id }];
    expect((await erase(me, ids[1]!)).kept).toEqual([...other, ...ofCredit]);
    expect(await payerOf(me, orderId)).toMatchObject({ type: 'booker', name: 'Kari Nord' });
  });

  test('loses only what is the first person’s while the next one pays', async () => {
    const me = await createProvider();
    const [kept, own] = await Promise.all([
      bookTwo(me, [ola], { ...invoicing, booker_phone: '55 00 00 00' }),
      bookTwo(me, [{ ...ola, email: 'ola2@berg.example' }], {
        ...{ ...invoicing, invoice_reference: 'kari nord', booker_phone: '91 00 00 00' },
        ...{ invoice_address_1: 'Home street 1', company_number: names.email },
      }),
    ]);
    const id = kept.ids[0]!;
    expect(own.ids[0]).toBe(id);
    await write(me, (tx) =>
      tx.execute(
        `update course_users set phone = '91 00 00 00', home_address = 'Home street 1', home_city = 'Bergen' where id = ${id}`,
      ),
    );
    const paid = await me.post(`/v2/orders/${kept.orderId}/payments`, { amount: 10, reference: 'Vipps Ola Berg' });
    const named = await me.post(`/v2/orders/${kept.orderId}/payments`, { amount: 10, reference: 'Vipps Kari Nord' });
    const payments = [paid, named].map((response) => response.json<{ id: number }>().id);
    const before = await readAll(me, kept.orderId);
    expect((await erase(me, id)).kept).toEqual([
      { resource: 'payment', id: payments[1], reason: 'other_buyer', until: null },
    ]);
    expect(await readAll(me, kept.orderId)).toEqual(before);
    const { rows } = await pool.query('select reference from payments where id = $1', [payments[0]]);
    expect(rows).toEqual([{ reference: 'Vipps Ola Berg' }]);
    const left = await readAll(me, own.orderId);
    const { order, booking } = left as { order: Record<string, unknown>; booking: object };
    expect(order).toMatchObject({ your_reference: null, invoice_address: null, invoice_city: null });
    expect(order).toMatchObject({ gln_number: invoicing.gln_number, invoice_email: invoicing.invoice_email });
    expect([order['custom_properties'], booking]).toEqual([
      expect.anything(),
      { booker_email: null, booker_phone: null },
    ]);
    expect(JSON.stringify(left)).not.toContain('kari');
    expect(await payerOf(me, own.orderId)).toMatchObject({ type: 'person', name: 'Ola Berg' });
  });

  test('keeps the payer of its invoice, also beside a relative with the same e-mail, for the years of the invoice', async () => {
    const me = await createProvider();
    const { orderId, ids } = await bookTwo(me, [{ ...ola, email: names.email }]);
    const home = { address: 'Home street 1', zipcode: '5003', city: 'Bergen' };
    const fields = { home_address: home.address, home_zipcode: home.zipcode, home_city: home.city };
    await write(me, (tx) =>
      tx.execute(
        `update course_users set ${Object.entries(fields)
          .map(([name, value]) => `${name} = '${value}'`)
          .join(', ')} where id = ${ids[0]}`,
      ),
    );
    expect((await me.post(`/v2/orders/${orderId}/export`)).status).toBe(200);
    const credited = await me.post(`/v2/orders/${orderId}/credit`);
    const creditId = credited.json<{ id: number }>().id;
    expect((await me.post(`/v2/orders/${creditId}/export`)).status).toBe(200);
    const cursor = await newestEvent(me);
    const until = expect.any(String) as string;
    const kept = [orderId, creditId].map((id) => ({ resource: 'order', id, reason: 'invoice', until }));
    const first = await erase(me, ids[0]!);
    expect([first['orders'], first.kept]).toEqual([0, kept]);
    const isUpdated = (await changesSince(me, cursor)).filter(({ type }) => type === 'order.updated');
    expect(isUpdated).toHaveLength(2);
    const payer = { type: 'booker', name: 'Kari Nord', invoice_address: { ...home, address_2: null } };
    for (const id of [orderId, creditId]) expect(await payerOf(me, id)).toMatchObject(payer);
    expect(await erase(me, ids[0]!)).toMatchObject({ ...nothing, kept });
    expect(await payerOf(me, orderId)).toMatchObject(payer);

    await write(me, (tx, now) => tx.execute(`update orders set kept_until = '${now}' where provider_id = ${me.id}`));
    await eraseExpired(database);
    const next = { type: 'person', name: 'Ola Berg', invoice_address: { address: null } };
    for (const id of [orderId, creditId]) expect(await payerOf(me, id)).toMatchObject(next);
  });
});

test('the address of a company that pays, and the booker of another person, stay', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const names = { firstname: 'Kari', lastname: 'Nord', email: 'kari@nord.example' };
  const own = { booker_name: 'Kari Nord', booker_email: names.email };
  const company = { customer_id: await createCustomer(me, { type: 1 }), invoice_address_1: 'Company street' };
  const other = { booker_name: 'Per', booker_email: 'per@x.example', invoice_address_1: 'Per street' };
  const bookFor = async (fields: object) =>
    bookOrFail(me, dateId, { invoice_email: 'pay@x.example', ...fields, participants: [names] });
  const booked = await bookFor({ ...own, ...company });
  const orders = [booked, await bookFor({ ...own, ...company, invoice_email: names.email }), await bookFor(other)];
  const { user } = await read(me, `/v2/participants/${booked.participants[0]!.id}`);
  const response = await erase(me, (user as { id: number }).id);
  expect(response).toMatchObject({ orders: 2, kept: [{ id: Number(orders[2]!.order_id), reason: 'other_buyer' }] });
  const left = await Promise.all(orders.map(({ order_id }) => read(me, `/v2/orders/${order_id}`)));
  expect(left.map((order) => [order['booker'], order['invoice_address'], order['invoice_email']])).toEqual([
    [null, 'Company street', 'pay@x.example'],
    [null, 'Company street', null],
    ['Per', 'Per street', 'pay@x.example'],
  ]);
});

test('what a relative with the same e-mail has booked stays', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const email = 'berg@family.example';
  const mother = {
    booker_name: 'Mor Berg',
    booker_email: email,
    invoice_address_1: 'Berg street',
    invoice_email: email,
  };
  const bookFor = async (firstname: string, fields: object = mother) => {
    const participants = [{ firstname, lastname: 'Berg', email }];
    const { order_id, participants: booked } = await bookOrFail(me, dateId, { ...fields, participants });
    return { id: Number(order_id), participant: booked[0]!.id };
  };
  const hers = [await bookFor('Mor'), await bookFor('Mor', { ...mother, booker_name: '' }), await bookFor('Barn')];
  // The e-mail alone proves neither.
  hers.push(await bookFor('Mor', { ...mother, booker_name: 'Familien Berg' }));
  const byChild = await bookFor('Barn', { ...mother, booker_name: 'Barn Berg' });
  await createCustomer(me, { title: 'Mor Berg', type: 2, email });
  const { user } = await read(me, `/v2/participants/${byChild.participant}`);
  const response = await erase(me, (user as { id: number }).id);
  expect(response).toMatchObject({ orders: 1, customers: 0 });
  expect(response.kept).toEqual([{ resource: 'order', id: hers[2]!.id, reason: 'other_buyer', until: null }]);
  for (const { id } of hers)
    expect(await read(me, `/v2/orders/${id}`)).toMatchObject({ invoice_address: 'Berg street' });
  expect(await read(me, `/v2/orders/${byChild.id}`)).toMatchObject({ booker: null, invoice_address: null });
});

test('a later booking of the person creates another course user', async () => {
  const me = await createProvider();
  const { id, dateId } = await plantPerson(me, pool);
  await erase(me, id);
  const { participants } = getSummary(await book(me, dateId, { participants: [person] }));
  const { user } = await read(me, `/v2/participants/${participants[0]!.id}`);
  expect((user as { id: number }).id).toBeGreaterThan(id);
  expect((await me.put(`/v2/course-users/${id}`, { firstname: 'Kari' })).json()).toEqual({
    error: 'The course user is erased: create another one',
  });
});

test('attempts of webhooks about the person are deleted, others stay', async () => {
  const me = await createProvider();
  const { id, dateId } = await plantPerson(me, pool);
  await bookOrFail(me, dateId);
  const { rows: events } = await pool.query<{ id: number }>(
    `select id from events where provider_id = $1 and resource = 'courseuser' order by id`,
    [me.id],
  );
  const ofPerson = events[0]!.id;
  const ofOther = events.at(-1)!.id;
  await write(me, (tx, now) =>
    tx.execute(`with hook as (insert into webhooks (provider_id, url, host, secret, position, position_clock, due_at,
        created_at, updated_at) values (${me.id}, 'https://a.example', 'a.example', 's', 1, 1, '2999-01-01', '${now}', '${now}')
        returning id)
      insert into webhook_deliveries (provider_id, webhook_id, slot, number, at, message_id, type, duration_ms)
      select ${me.id}, hook.id, n, n, now(), 'evt_' || event || '_1', 'courseuser.created', 1
      from hook, unnest(array[${ofPerson}, ${ofOther}]) with ordinality e (event, n)`),
  );
  expect((await erase(me, id))['webhook_attempts']).toBe(1);
  const { rows } = await pool.query(`select message_id from webhook_deliveries where provider_id = $1`, [me.id]);
  expect(rows).toEqual([{ message_id: `evt_${ofOther}_1` }]);
});

test('a list erases again what a backup has from before the last of several erasures', async () => {
  const me = await createProvider();
  const { id, summary } = await plantPerson(me, pool);
  await erase(me, id);
  const comment = () =>
    write(me, (tx) =>
      tx.execute(`update participants set user_comment = '${planted}' where id = ${summary.participants[0]!.id}`),
    );
  await comment();
  const before = await pool.query<{ at: string }>('select erased_at::text as at from course_users where id = $1', [id]);
  await erase(me, id);
  const { rows: list } = await pool.query<Parameters<typeof eraseAgain>[2][number]>(
    `select provider_id as provider, user_id as user, created_at::text, erased_at::text from erasures
      where provider_id = $1 order by id`,
    [me.id],
  );
  await write(me, (tx) =>
    tx.execute(
      `update course_users set erased_at = '${before.rows[0]!.at}' where provider_id = ${me.id} and id = ${id}`,
    ),
  );
  await comment();
  const on = database.unlocked;
  const retention = { timezone: 'Europe/Oslo', invoiceRetentionYears: 5 };
  expect(await eraseAgain(on, database, list, retention)).toBe(1);
  expect(await findPlanted(pool, me.id)).toEqual([]);
  expect(await eraseAgain(on, database, list, retention)).toBe(0);
});

test('a merged course user is remembered with the one that stays', async () => {
  const me = await createProvider();
  const [first, second, into] = [await createUser(me), await createUser(me), await createUser(me)];
  expect((await me.post(`/v2/course-users/${first}/merge`, { into: second })).status).toBe(200);
  expect((await me.post(`/v2/course-users/${second}/merge`, { into })).status).toBe(200);
  await erase(me, into);
  const { rows } = await pool.query<{ user_id: number }>(
    'select user_id from erasures where provider_id = $1 order by 1',
    [me.id],
  );
  expect(rows.map((row) => row.user_id)).toEqual([first, second, into]);
});
