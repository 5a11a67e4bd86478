import { expect, test } from 'vitest';
import { addAdminUser, addDate, addLocation, findMunicipality } from '../../support/dates.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { createCustomer, createProduct, createUser } from '../../support/orders.ts';
import {
  createBookableDate,
  bookOrFail,
  book,
  bookingBody,
  seatCounters,
  deregister,
  person,
  participantStatuses,
  statusesOnDate,
} from '../../support/booking.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

type Item = Record<string, any>;
const ordersOf = async (me: Provider) =>
  (await me.get('/v2/orders?user_data=1&include=lines.database_relations.participants')).json<Item[]>();
const participantsOf = async (me: Provider) => (await me.get('/v2/participants')).json<Item[]>();
const outboxOf = async (me: Provider) =>
  (
    await database.pool.query(
      'select purpose, user_id, participant_id, sent_at from outbox where provider_id = $1 order by id',
      [me.id],
    )
  ).rows;

test('a booking returns its summary with totals', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { course: { price_value: 1250, price_currency: 'eur' } });
  const response = await book(me, dateId, { participants: [person(), person()] });
  expect([response.status, response.json()]).toEqual([
    201,
    {
      successful: true,
      summary: {
        order_id: expect.stringMatching(/^\d+$/) as string,
        booking_id: expect.stringMatching(/^\d+$/) as string,
        coursedate_id: String(dateId),
        currency: 'eur',
        total_excl_vat: 2500,
        total_incl_vat: 2500,
        total_vat: 0,
        number_of_participants: 2,
        participants: [
          { id: expect.any(Number) as number, status_id: 1 },
          { id: expect.any(Number) as number, status_id: 1 },
        ],
      },
    },
  ]);
});

test('the input is stored in the order, booking, participants and users', async () => {
  const me = await createProvider();
  const { id: placeId } = await findMunicipality(me, 'Bergen');
  const { dateId, courseId } = await createBookableDate(me, {
    ...{ course: { title: 'First aid' }, startAt: '2030-06-10', endAt: '2030-06-11', deadlineAt: '2030-06-01' },
    ...{ placeId, locationId: await addLocation(me) },
  });
  const seller = await addAdminUser(me);
  const customer = await createCustomer(me, { sellerId: seller, title: 'Fjord Energy AS' });
  const first = person({
    phone: '+47 1',
    company: 'Own AS',
    position: 'Leder',
    date_of_birth: '1990-05-17',
    comment: 'No nuts',
  });
  const second = person({ status_id: 7 });
  const summary = await bookOrFail(me, dateId, {
    ...{ booker_name: 'Ola Booker', booker_email: 'ola@people.example', booker_phone: '+47 2' },
    ...{ company: 'Fjord AS', company_number: '912345678', gln_number: '7080000000000', customer_id: customer },
    ...{ invoice_reference: 'PO 7', invoice_address_1: 'a1', invoice_address_2: 'a2', invoice_address_3: 'a3' },
    ...{ invoice_zipcode: '0155', invoice_city: 'Oslo', invoice_email: 'invoice@people.example' },
    participants: [first, second],
  });

  const [order] = await ordersOf(me);
  expect(order).toMatchObject({
    ...{ id: Number(summary.order_id), title: `First aid #${summary.order_id}` },
    ...{ title_detailed: '10.06.2030 - 11.06.2030 - Bergen', is_paid: false, payment_method: 'invoice' },
    ...{
      your_reference: 'PO 7',
      booker: 'Ola Booker',
      gln_number: '7080000000000',
      idCampaign: null,
      seller_id: seller,
    },
    ...{ invoice_address: 'a1', invoice_address_2: 'a2', invoice_address_3: 'a3', invoice_zipcode: '0155' },
    ...{ invoice_city: 'Oslo', invoice_email: 'invoice@people.example', exported_at: null },
    customer: { id: customer },
    custom_properties: { company: 'Fjord AS', company_number: '912345678' },
    calculated_totals: { total_amount_before_discounts: 2000, total_amount_incl_discounts_and_vat: 2000 },
    lines: [
      {
        quantity: 2,
        price_at_order_per_item_vat_excluded: 1000,
        currency: { title: 'NOK' },
        product: { title: 'First aid', is_main_product: true },
        database_relations: summary.participants.map(({ id }) => ({
          ...{ type: 'participant', participant_id: id, coursedate_id: dateId, course_id: courseId },
        })),
      },
    ],
  });
  expect(order!['lines'][0].users.map((user: Item) => [user['email'], user['invoice_reference']])).toEqual([
    [first.email, 'PO 7'],
    [second.email, 'PO 7'],
  ]);

  const [one, two] = await participantsOf(me);
  const common = {
    ...{ idBooking: Number(summary.booking_id), idOrder: Number(summary.order_id), idPaid: 3, entry_source: 'User' },
    ...{ booker_name: 'Ola Booker', booker_email: 'ola@people.example', booker_phone: '+47 2' },
    ...{ completed: false, no_show: false, passed: false, archived_at: null, custom_properties: null },
    course: { id: courseId },
    coursedate: { id: dateId },
  };
  expect(one).toMatchObject({
    ...{ ...common, id: summary.participants[0]!.id, status: { id: 1 }, user_comment: 'No nuts' },
    user: {
      ...{ firstname: first.firstname, lastname: first.lastname, email: first.email, username: first.email },
      ...{ phone: '+47 1', company: 'Own AS', orgnr: '912345678', position: 'Leder', date_of_birth: '1990-05-17' },
      customer: { id: customer },
    },
  });
  expect(two).toMatchObject({
    ...{ ...common, id: summary.participants[1]!.id, status: { id: 7 }, user_comment: null },
    user: { company: 'Fjord AS', orgnr: '912345678', position: null, date_of_birth: null },
  });
  const timestamps = new Set([one, two, order].flatMap((item) => [item!['created_at'], item!['updated_at']]));
  expect(timestamps.size).toBe(1);
  expect([one!['status_updated_at'], two!['status_updated_at']]).toEqual([order!['created_at'], order!['created_at']]);
  expect(await seatCounters(me, dateId)).toEqual([1, 0, 1, 0]);
});

test('only required fields: omitted fields are null', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  await bookOrFail(me, dateId);
  const [order] = await ordersOf(me);
  const unset = ['your_reference', 'booker', 'gln_number', 'idCampaign', 'seller_id', 'customer', 'custom_properties'];
  const address = ['', '_2', '_3']
    .map((end) => `invoice_address${end}`)
    .concat('invoice_zipcode', 'invoice_city', 'invoice_email');
  for (const name of [...unset, ...address]) expect([name, order![name]]).toEqual([name, null]);
  expect((await participantsOf(me))[0]).toMatchObject({
    booker_name: null,
    user_comment: null,
    user: { customer: null },
  });
  expect(await outboxOf(me)).toEqual([]);
});

test('a booking changes the updated_at of the date', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 3, capacityWait: 2 });
  const dateOf = async () => (await me.get(`/v2/coursedates?coursedate_id=${dateId}`)).json<Item>()['items'][0] as Item;
  expect(await dateOf()).toMatchObject({ seats_status: 'open', seats: { free: { num: 3, num_waiting: 2 } } });
  await bookOrFail(me, dateId, { participants: [person(), person({ status_id: 7 }), person({ status_id: 3 })] });
  const after = await dateOf();
  expect(after['seats']).toEqual({
    allocated_capacity: { num: 3, num_overbooked: 0, num_waiting: 2 },
    free: { num: 1, num_waiting: 1 },
    booking_status: { num: 2, num_confirmed: 1, num_unconfirmed: 1, num_waiting: 1 },
  });
  expect(after['updated_at']).toBe((await participantsOf(me))[0]!['created_at']);
});

test('one order line per product, with the number of participants as quantity', async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createBookableDate(me);
  const member = await createProduct(me, courseId, { price: '800.00', vatPercentage: '25' });
  const book = await createProduct(me, await me.course(), { price: '99.90', vatPercentage: '15' });
  const summary = await bookOrFail(me, dateId, {
    participants: [person(), person({ products: [member, book] }), person({ products: [book, member] }), person()],
  });
  const [order] = await ordersOf(me);
  const lines = order!['lines'].map((line: Item) => [
    line['product'].id,
    line['quantity'],
    line['database_relations'].map((one: Item) => one['participant_id']),
  ]);
  const ids = summary.participants.map(({ id }) => id);
  expect(lines).toEqual([
    [expect.any(Number), 2, [ids[0], ids[3]]],
    [member, 2, [ids[1], ids[2]]],
    [book, 2, [ids[1], ids[2]]],
  ]);
  // 2 x 1000 + 2 x 800 + 2 x 99.90; 25 % of 1600 and 15 % of 199.80.
  expect(summary).toMatchObject({ total_excl_vat: 3799.8, total_vat: 429.97, total_incl_vat: 4229.77 });
  expect(order!['calculated_totals']).toMatchObject({ total_amount_of_vat: 429.97 });
});

test("trigger values route participants to child dates and use the child's seats", async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createBookableDate(me, { capacityMax: 1 });
  const child = (triggerValue: string, values = {}) =>
    addDate(me, courseId, { parentId: dateId, triggerValue, capacityMax: 2, ...values });
  const [red, blue] = [await child('red'), await child('blue')];
  const deleted = await child('gone', { deletedAt: '2026-01-01 00:00:00+01' });
  const other = await addDate(me, courseId, { triggerValue: 'other' });
  const requested = ['red', 'blue', 'gone', 'red'].map((trigger_value) => person({ trigger_value }));
  const summary = await bookOrFail(me, dateId, { participants: requested });
  expect(summary.coursedate_id).toBe(String(dateId));
  const placed = (await participantsOf(me)).map((one) => one['coursedate'].id as number);
  expect(placed).toEqual([red, blue, dateId, red]);
  expect(await Promise.all([dateId, red, blue, deleted, other].map((id) => seatCounters(me, id)))).toEqual([
    ...[
      [1, 0, 0, 0],
      [2, 0, 0, 0],
      [1, 0, 0, 0],
    ],
    ...[
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ],
  ]);

  const full = await book(me, dateId, {
    participants: [
      person({ trigger_value: 'blue' }),
      person({ trigger_value: 'red' }),
      person({ trigger_value: 'other' }),
    ],
  });
  expect(full.json()).toMatchObject({
    errors: [
      { code: 'no_seats_available', message: 'Participant 2: no seat is available' },
      { code: 'no_seats_available', message: 'Participant 3: no seat is available' },
    ],
  });
  expect(await seatCounters(me, blue)).toEqual([1, 0, 0, 0]);
});

test('a grandchild date is found by its own trigger value', async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createBookableDate(me, { triggerValue: 'same' });
  const child = await addDate(me, courseId, { parentId: dateId, triggerValue: 'same' });
  await bookOrFail(me, dateId, {
    participants: [person({ trigger_value: 'same' }), person({ trigger_value: 'other' })],
  });
  expect([await seatCounters(me, dateId), await seatCounters(me, child)]).toEqual([
    [1, 0, 0, 0],
    [1, 0, 0, 0],
  ]);
});

test('seats are filled first, then overbooking, then the waiting list or a rejection', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 2, capacityOverbook: 1, capacityWait: 1 });
  const wait = { config: { waiting_list_when_full: true } };
  expect(
    participantStatuses(await bookOrFail(me, dateId, { participants: [person(), person({ status_id: 7 }), person()] })),
  ).toEqual([1, 7, 2]);
  const refused = await book(me, dateId);
  expect([refused.status, refused.json()]).toEqual([
    400,
    {
      successful: false,
      errors: [{ code: 'no_seats_available', message: 'Participant 1: no seat is available' }],
      error: 'Participant 1: no seat is available',
    },
  ]);
  expect(participantStatuses(await bookOrFail(me, dateId, wait))).toEqual([3]);
  for (const fields of [wait, { participants: [person({ status_id: 3 })] }])
    expect((await book(me, dateId, fields)).status).toBe(400);
  const unchecked = { config: { seats_availability_check: false } };
  const anyway = [person(), person({ status_id: 3 }), person({ status_id: 7 })];
  expect(participantStatuses(await bookOrFail(me, dateId, { participants: anyway, ...unchecked }))).toEqual([1, 3, 7]);
  expect((await book(me, dateId)).status).toBe(400);
  expect(await seatCounters(me, dateId)).toEqual([2, 1, 2, 2]);
});

test('a rejected booking stores nothing, even for participants with a free seat', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1 });
  const { version } = await me.ctx();
  expect((await book(me, dateId, { participants: [person(), person()] })).status).toBe(400);
  const left = await Promise.all(
    ['/v2/participants', '/v2/orders', '/v2/search-users?lastname=Nordmann'].map((path) => me.get(path)),
  );
  expect(left.map(({ text }) => text)).toEqual(['[]', '[]', '[]']);
  expect((await me.ctx()).version).toBe(version);
});

test('a booking queues receipts for all participants and account mails for new users', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const known = person();
  const knownId = await createUser(me, { firstname: known.firstname, lastname: known.lastname, email: known.email });
  const [twice, config] = [person(), { send_receipt_email_to_participant: 1, send_account_created_email_to_user: 1 }];
  const summary = await bookOrFail(me, dateId, { participants: [known, twice, twice], config });
  const users = (await participantsOf(me)).map(({ user }) => user.id as number);
  expect(users).toEqual([knownId, users[1], users[1]]);
  const receipt = (n: number) => ({
    purpose: 'receipt',
    user_id: users[n],
    participant_id: summary.participants[n]!.id,
    sent_at: null,
  });
  expect(await outboxOf(me)).toEqual([
    { purpose: 'account_created', user_id: users[1], participant_id: null, sent_at: null },
    ...[0, 1, 2].map(receipt),
  ]);

  const quiet = await bookOrFail(me, dateId);
  await deregister(me, quiet.booking_id);
  await deregister(me, summary.booking_id, { config: { send_receipt_email_to_participant: 1 } });
  await deregister(me, summary.booking_id, { config: { send_receipt_email_to_participant: 1 } });
  expect((await outboxOf(me)).slice(4)).toEqual([0, 1, 2].map((n) => ({ ...receipt(n), purpose: 'deregistration' })));
});

test('the same person can be booked twice', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const same = person();
  await bookOrFail(me, dateId, { participants: [same, same] });
  await bookOrFail(me, dateId, { participants: [same] });
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1, 1]);
  expect((await me.get(`/v2/search-users?email=${same.email}`)).json<Item[]>()).toHaveLength(1);
});

test('all body formats create the same booking', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { email, ...names } = person({ status_id: 7 });
  const form = new URLSearchParams({
    coursedate_id: String(dateId),
    payment_method: 'invoice',
    'participants[0][email]': email,
  });
  for (const [name, text] of Object.entries(names)) form.append(`participants[0][${name}]`, text);
  form.append('config[seats_availability_check]', '0');
  const asForm = await me.post('/v2/booking', form.toString(), { 'content-type': 'application/x-www-form-urlencoded' });
  const nested = new URLSearchParams({ coursedate_id: String(dateId), payment_method: 'invoice' });
  nested.append('participants', JSON.stringify([{ email, ...names }]));
  nested.append('config', '{"seats_availability_check":false}');
  const asJsonText = await me.post('/v2/booking', nested.toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  });
  const asJson = await me.post('/v2/booking', bookingBody(dateId, { participants: [{ email, ...names }] }));
  expect([asForm, asJsonText, asJson].map(({ status }) => status)).toEqual([201, 201, 201]);
  const users = (await participantsOf(me)).map(({ user }) => user.id as number);
  expect(new Set(users).size).toBe(1);
  expect(await statusesOnDate(me, dateId)).toEqual([7, 7, 7]);
});

test.each(dialects)('custom properties of participants are stored: %s', async (dialect) => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const given = { allergi: 'nøtter', 'T-shirt size': 'M' };
  const participants = [
    person({ custom_properties: given }),
    person({ custom_properties: JSON.stringify(given) }),
    person({ custom_properties: { allergi: '', size: null } }),
    person(),
  ];
  const body = encodeBody(dialect, bookingBody(dateId, { participants }));
  const response = await me.post('/v2/booking', body, contentTypeHeader(dialect));
  expect([response.status, response.headers['x-ignored-parameters']]).toEqual([201, undefined]);
  expect((await participantsOf(me)).map((one) => one['custom_properties'])).toEqual([given, given, null, null]);
});

test('a booking with custom properties that are not valid stores nothing', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const custom_properties: unknown[] = [
    'x',
    [1],
    { ['x'.repeat(41)]: 'y' },
    { size: 'x'.repeat(256) },
    { a: { b: 'c' } },
  ];
  for (const one of custom_properties) {
    const response = await book(me, dateId, { participants: [person(), person({ custom_properties: one })] });
    expect([one, response.status, response.json<Item>()['error']]).toEqual([
      one,
      400,
      'Participant 2: custom_properties is not valid',
    ]);
  }
  expect(await participantsOf(me)).toEqual([]);
});
