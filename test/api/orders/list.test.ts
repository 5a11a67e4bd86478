import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { orders } from '../../../src/database/tables/orders.ts';
import {
  mainProduct,
  createCampaign,
  createCourseDate,
  createCustomer,
  createOrder,
  createProduct,
  createUser,
  write,
} from '../../support/orders.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { openTestAppForFile, type TestResponse, type Provider } from '../../support/test-app.ts';

const testApp = await openTestAppForFile();
const { createProvider } = testApp;

const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;
const idsOf = (response: TestResponse) => response.json<{ id: number }[]>().map(({ id }) => id);
const paths = ['lines.database_relations.course', 'lines.database_relations.participants', 'campaign'];

const noAddress = { address: null, address_2: null, address_3: null, zipcode: null, city: null, phone: null };
const kari = {
  firstname: 'Kari',
  lastname: 'Nordmann',
  dateOfBirth: '1990-05-17',
  email: 'kari@b.example',
  phone: '+47 1',
  company: 'Fjord AS',
  position: 'Boss',
  invoiceAddress: 'Box 1',
  invoiceAddress2: 'c/o',
  invoiceAddress3: 'third',
  invoiceZipcode: '5003',
  invoiceCity: 'Bergen',
  invoicePhone: '+47 2',
  homeCity: 'Voss',
  homePhone: '+47 3',
  workCity: 'Oslo',
  workPhone: '+47 4',
};
const readKari = {
  firstname: 'Kari',
  lastname: 'Nordmann',
  date_of_birth: '17.05.1990 00:00:00',
  email: 'kari@b.example',
  phone: '+47 1',
  company: 'Fjord AS',
  position: 'Boss',
  invoice_address: {
    address: 'Box 1',
    address_2: 'c/o',
    address_3: 'third',
    zipcode: '5003',
    city: 'Bergen',
    phone: '+47 2',
  },
  home_address: { ...noAddress, city: 'Voss', phone: '+47 3' },
  work_address: { ...noAddress, city: 'Oslo', phone: '+47 4' },
};

test('an order has all its fields', async () => {
  const me = await createProvider();
  const courseId = await me.course({ title: 'First aid', price_value: 1200 });
  const dateId = await createCourseDate(me, courseId, { startAt: '2026-07-01', endAt: '2026-07-03' });
  const [user, customerId] = [await createUser(me, kari), await createCustomer(me, { title: 'Fjord AS' })];
  const productId = await mainProduct(me, courseId);
  const { orderId, lineIds, participantIds } = await createOrder(me, {
    courseId,
    dateId,
    users: [user],
    place: 'Bergen',
    lines: [
      {
        productId,
        quantity: 3,
        priceAtOrder: '1200.10',
        discountPercentAtOrder: '12.5',
        discountAmountAtOrder: '0',
        discountCalculatedAtOrder: '450.04',
        vatPercentage: '25',
      },
    ],
    order: {
      customerId,
      isPaid: true,
      paymentMethod: 'invoice',
      yourReference: 'Ref',
      booker: 'Ola',
      glnNumber: '7080',
      invoiceAddress: 'Box 1',
      invoiceAddress2: 'c/o',
      invoiceAddress3: 'third',
      invoiceZipcode: '5003',
      invoiceCity: 'Bergen',
      invoiceEmail: 'pay@b.example',
      customProperties: { po: '1' },
    },
  });

  const response = await me.get('/v2/orders');
  expect([response.status, typeof response.headers['etag']]).toEqual([200, 'string']);
  expect(response.json()).toEqual([
    {
      id: orderId,
      title: `First aid #${orderId}`,
      title_detailed: '01.07.2026 - 03.07.2026 - Bergen',
      is_paid: true,
      payment_method: 'invoice',
      your_reference: 'Ref',
      booker: 'Ola',
      gln_number: '7080',
      customer: expect.objectContaining({ id: customerId, title: 'Fjord AS' }) as object,
      idCampaign: null,
      seller_id: null,
      invoice_address: 'Box 1',
      invoice_address_2: 'c/o',
      invoice_address_3: 'third',
      invoice_zipcode: '5003',
      invoice_city: 'Bergen',
      invoice_email: 'pay@b.example',
      first_user: { id: user, ...readKari },
      lines: [
        {
          id: lineIds[0],
          currency: { id: '578', title: 'NOK', long_title: 'Norwegian krone' },
          price_at_order_per_item_vat_excluded: 1200.1,
          discount_percent_at_order: 12.5,
          discount_amount_at_order: 0,
          discount_calculated_at_order: 450.04,
          price_at_invoice_per_item_vat_excluded: 1200.1,
          discount_percent_at_invoice: 12.5,
          discount_calculated_at_invoice: 450.04,
          price_at_export_per_item_vat_excluded: 1200.1,
          discount_percent_at_export: 12.5,
          discount_calculated_at_export: 450.04,
          quantity: 3,
          database_relations: [
            {
              type: 'participant',
              participant_id: participantIds[0],
              coursedate_id: dateId,
              user_id: user,
              course_id: courseId,
            },
          ],
          product: {
            id: productId,
            item_number: '',
            title: 'First aid',
            title_label: null,
            price: 1200,
            currency: 'NOK',
            is_main_product: true,
            vat_percentage: 0,
          },
          users: [],
          created_at: dateTime,
          updated_at: dateTime,
          ...{ net: 3150.26, vat: 787.57, gross: 3937.83 },
        },
      ],
      booker_admin_user: null,
      webintegration_id: null,
      custom_properties: { po: '1' },
      calculated_totals: {
        total_amount_before_discounts: 3600.3,
        total_amount_after_discounts: 3150.26,
        total_amount_of_discounts: 450.04,
        total_amount_of_vat: 787.57,
        total_amount_incl_discounts_and_vat: 3937.83,
      },
      exported_at: null,
      created_at: dateTime,
      updated_at: dateTime,
    },
  ]);
});

test('unset fields are null or empty; an order without participants has no first_user', async () => {
  const me = await createProvider();
  await createOrder(me, { courseId: await me.course(), users: [] });
  const [order] = (await me.get('/v2/orders?user_data=1&include=campaign')).json();
  expect(order).toMatchObject({
    is_paid: false,
    payment_method: null,
    your_reference: null,
    booker: null,
    gln_number: null,
    customer: null,
    invoice_address: null,
    invoice_email: null,
    first_user: null,
    custom_properties: null,
    campaign: null,
    title_detailed: '01.07.2026 - 02.07.2026',
  });
  expect(order.lines[0]).toMatchObject({ database_relations: [], users: [] });
});

test('invoice and export prices stay once set', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const line = {
    productId: await mainProduct(me, courseId),
    priceAtOrder: '100',
    discountPercentAtOrder: '10',
    discountCalculatedAtOrder: '10',
  };
  const invoiced = { priceAtInvoice: '90.5', discountPercentAtInvoice: '0', discountCalculatedAtInvoice: '0' };
  const exported = { priceAtExport: '80', discountPercentAtExport: '5', discountCalculatedAtExport: '4' };
  await createOrder(me, { courseId, lines: [{ ...line, ...invoiced }] });
  await createOrder(me, { courseId, lines: [{ ...line, ...exported }] });
  const [first, second] = (await me.get('/v2/orders')).json();
  expect(first.lines[0]).toMatchObject({
    price_at_order_per_item_vat_excluded: 100,
    price_at_invoice_per_item_vat_excluded: 90.5,
    discount_percent_at_invoice: 0,
    discount_calculated_at_invoice: 0,
    price_at_export_per_item_vat_excluded: 100,
    discount_percent_at_export: 10,
    discount_calculated_at_export: 10,
  });
  expect(second.lines[0]).toMatchObject({
    price_at_invoice_per_item_vat_excluded: 100,
    discount_percent_at_invoice: 10,
    price_at_export_per_item_vat_excluded: 80,
    discount_percent_at_export: 5,
    discount_calculated_at_export: 4,
  });
});

test.each([
  ['USD', '840', 'US dollar'],
  ['EUR', '978', 'Euro'],
  ['NZD', '554', 'New Zealand dollar'],
  ['SEK', '752', 'Swedish krona'],
  ['XCG', '532', undefined],
])('a line in %s has its ISO number and name', async (currency, id, name) => {
  const me = await createProvider();
  await createOrder(me, { courseId: await me.course(), order: { currency } });
  const [order] = (await me.get('/v2/orders')).json();
  expect(order.lines[0].currency).toMatchObject({ id, title: currency, ...(name ? { long_title: name } : {}) });
});

test("totals agree with PostgreSQL's decimal arithmetic", async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const cents = (n: number) => `${Math.floor(n / 100)}.${String(n % 100).padStart(2, '0')}`;
  for (let n = 1; n <= 12; n += 1) {
    const lines = [];
    for (let k = 1; k <= 3; k += 1) {
      const price = (n * 7919 + k * 104_729) % 999_999;
      lines.push({
        productId: await createProduct(me, courseId),
        quantity: 1 + ((n * k) % 7),
        priceAtOrder: cents(price),
        discountCalculatedAtOrder: cents(Math.floor(price / (n + k))),
        vatPercentage: ['25', '12.5', '15', '11.11', '0'][(n + k) % 5]!,
      });
    }
    await createOrder(me, { courseId, lines });
  }
  const { rows } = await write(me, (tx) =>
    tx.execute<{ id: number; before: string; discounts: string; vat: string; after: string; incl: string }>(
      `select t.*, before - discounts as after, before - discounts + vat as incl from (
         select order_id as id, sum(quantity * price_at_order) as before, sum(discount_calculated_at_order) as discounts,
           sum(round((quantity * price_at_order - discount_calculated_at_order) * vat_percentage / 100, 2)) as vat
         from order_lines where provider_id = ${me.id} group by order_id) t order by id`,
    ),
  );
  const listed = (await me.get('/v2/orders')).json<{ id: number; calculated_totals: object }[]>();
  expect(listed.map(({ id, calculated_totals }) => ({ id, ...calculated_totals }))).toEqual(
    rows.map((row) => ({
      id: row.id,
      total_amount_before_discounts: Number(row.before),
      total_amount_after_discounts: Number(row.after),
      total_amount_of_discounts: Number(row.discounts),
      total_amount_of_vat: Number(row.vat),
      total_amount_incl_discounts_and_vat: Number(row.incl),
    })),
  );
  expect(listed).toHaveLength(12);
});

test('sums are exact decimals', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const totals = { totalBeforeDiscounts: '0.30', totalDiscounts: '0.10', totalVat: '0.10' };
  await createOrder(me, { courseId, order: totals });
  await createOrder(me, { courseId, order: { ...totals, totalBeforeDiscounts: '9999999999.99', totalVat: '0.01' } });
  const response = await me.get('/v2/orders');
  expect(response.text).toContain(
    '"total_amount_after_discounts":0.2,"total_amount_of_discounts":0.1,"total_amount_of_vat":0.1,"total_amount_incl_discounts_and_vat":0.3',
  );
  expect(response.text).toContain('"total_amount_after_discounts":9999999999.89');
  expect(response.text).toContain('"total_amount_incl_discounts_and_vat":9999999999.9');
});

test('user_data lists the people of each line; first_user does not depend on it', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const [second, first] = [await createUser(me), await createUser(me, kari)];
  const products = [await mainProduct(me, courseId), await createProduct(me, courseId)];
  await createOrder(me, {
    courseId,
    users: [first, second],
    lines: products.map((productId) => ({ productId })),
    participant: { invoiceReference: 'PO 7' },
  });
  const [without] = (await me.get('/v2/orders')).json();
  const [refused] = (await me.get('/v2/orders?user_data=false')).json();
  const [withUsers] = (await me.get('/v2/orders?user_data=true')).json();
  expect(refused).toEqual(without);
  expect(without.lines.map(({ users }: { users: unknown[] }) => users)).toEqual([[], []]);
  expect(withUsers.first_user).toEqual(without.first_user);
  expect(withUsers.first_user).toEqual({ id: first, ...readKari });
  for (const { users } of withUsers.lines) {
    expect(users).toHaveLength(2);
    expect(users[0]).toEqual({ id: first, ...readKari, invoice_reference: 'PO 7' });
    expect(users[1]).toMatchObject({ id: second, date_of_birth: null, invoice_address: noAddress });
  }
  expect((await me.get('/v2/orders?user_data=maybe')).json().error).toBe('Field(s) not valid: user_data');
});

const setTimestamps = (me: Provider, orderId: number, fields: Partial<typeof orders.$inferInsert>) =>
  write(me, (tx) => tx.update(orders).set(fields).where(eq(orders.id, orderId)));

test('every filter works alone and combined', async () => {
  const me = await createProvider();
  const [course, other] = [await me.course(), await me.course()];
  const a = await createOrder(me, { courseId: course });
  const b = await createOrder(me, { courseId: other });
  // Sells two courses, and a participant of one is on a line of the other's product.
  const both = [await mainProduct(me, course), await mainProduct(me, other)].map((productId) => ({ productId }));
  const c = await createOrder(me, { courseId: course, users: [], lines: both });
  const d = await createOrder(me, { courseId: course, lines: [{ productId: await createProduct(me, other) }] });
  const query = async (query: string) => idsOf(await me.get(`/v2/orders?${query}`));
  const ids = [a, b, c, d].map(({ orderId }) => orderId) as [number, number, number, number];

  expect(await query('')).toEqual(ids);
  expect(await query(`course_id=${course}`)).toEqual([ids[0], ids[2], ids[3]]);
  expect(await query(`course_id=${other}`)).toEqual([ids[1], ids[2], ids[3]]);
  expect(await query('limit=2&page=2')).toEqual([ids[2], ids[3]]);
  expect(await query(`course_id=${course}&since_id=${ids[0]}&limit=1`)).toEqual([ids[2]]);

  for (const [n, id] of ids.entries()) {
    await setTimestamps(me, id, {
      createdAt: `2026-03-0${n + 1} 00:00:00+01`,
      updatedAt: `2026-04-0${n + 1} 00:00:00+02`,
    });
  }
  expect(await query('created_at_min=2026-03-02&created_at_max=2026-03-04')).toEqual([ids[1], ids[2]]);
  expect(await query('updated_at_min=2026-04-03')).toEqual([ids[2], ids[3]]);
  expect(await query('updated_at_max=2026-04-03')).toEqual([ids[0], ids[1]]);
  expect(await query(`created_at_min=2026-03-02&course_id=${course}&updated_at_max=2026-04-04`)).toEqual([ids[2]]);
  expect((await me.get('/v2/orders?updated_at_min=2026-04-03')).headers).toHaveProperty('x-updated-through');
});

test('GET /v2/orders hides exported orders by default; a filter on exported_at includes them', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const created = [];
  for (let n = 0; n < 4; n += 1) created.push((await createOrder(me, { courseId })).orderId);
  const [open, early, late, alsoOpen] = created as [number, number, number, number];
  await setTimestamps(me, early, { exportedAt: '2026-05-01 00:00:00+02' });
  await setTimestamps(me, late, { exportedAt: '2026-05-02 00:00:00+02' });
  const query = async (query: string) => idsOf(await me.get(`/v2/orders?${query}`));

  expect(await query('')).toEqual([open, alsoOpen]);
  expect(await query('exported=')).toEqual([open, alsoOpen]);
  expect(await query('exported=false')).toEqual([open, alsoOpen]);
  expect(await query('exported=yes')).toEqual(created);
  expect(await query('exported_at_min=2026-05-02')).toEqual([late]);
  expect(await query('exported_at_max=2026-05-02')).toEqual([early]);
  expect(await query('exported_at_min=2026-05-01&exported_at_max=2026-05-02')).toEqual([early]);
  expect(await query('exported=false&exported_at_min=2026-05-01')).toEqual([early, late]);
  expect(await query(`exported_at_min=2026-05-01&since_id=${early}`)).toEqual([late]);
  expect(await query(`course_id=${courseId}&exported=false`)).toEqual([open, alsoOpen]);
  const exported = (await me.get('/v2/orders?exported=1')).json()[1];
  expect(exported.exported_at).toBe('2026-05-01T00:00:00+02:00');
});

test('ids of another provider match nothing, and its orders are never listed', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [mine, theirs] = [await me.course(), await other.course()];
  const own = await createOrder(me, { courseId: mine });
  await createOrder(other, { courseId: theirs });
  expect(idsOf(await me.get('/v2/orders'))).toEqual([own.orderId]);
  for (const id of [theirs, 999_999_999]) {
    const response = await me.get(`/v2/orders?course_id=${id}`);
    expect([response.status, response.json()]).toEqual([200, []]);
  }
});

const without = (item: object, names: string[]) =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

test('include[] embeds only courses, participants and the campaign', async () => {
  const me = await createProvider();
  const courseId = await me.course({ title: 'First aid', reference: 'FA' });
  const campaignId = await createCampaign(me, { title: 'Summer', isArchived: true }, { courses: [courseId] });
  const { participantIds } = await createOrder(me, {
    courseId,
    users: [await createUser(me), await createUser(me)],
    order: { campaignId },
  });
  const request = async (...include: string[]) =>
    (await me.get(`/v2/orders?${include.map((path) => `include[]=${path}`).join('&')}`)).json()[0];
  const plain = await request();
  expect(plain.idCampaign).toBe(campaignId);
  expect(plain).not.toHaveProperty('campaign');

  const campaign = (await me.get('/v2/campaigns')).json<Record<string, unknown>[]>()[0]!;
  const embedded = without(campaign, ['courses', 'customers', 'tags', 'updated_at']);
  expect(await request('campaign')).toEqual({ ...plain, campaign: embedded });

  const withRelations = (members: object[]) => ({
    ...plain,
    lines: [
      {
        ...plain.lines[0],
        database_relations: plain.lines[0].database_relations.map((relation: object, n: number) => ({
          ...relation,
          ...members[n],
        })),
      },
    ],
  });
  const course = (await me.get('/v2/courses')).json()[0];
  const left = ['descriptions', 'description_languages', 'lead_settings', 'publishing_platform'];
  const timestamps = ['created_at', 'updated_at', 'deleted_at', 'related_items_updated_at'];
  const inside = without(course, [...left, ...timestamps]);
  expect(await request(paths[0]!)).toEqual(withRelations([{ course: inside }, { course: inside }]));

  const listed = (await me.get('/v2/participants')).json<{ id: number }[]>();
  expect(listed.map(({ id }) => id)).toEqual(participantIds);
  const participants = listed.map((participant) => ({ participants: participant }));
  expect(await request(paths[1]!)).toEqual(withRelations(participants));

  const all = await request(...paths, ...paths);
  expect(all).toEqual({
    ...withRelations(participants.map((one) => ({ ...one, course: inside }))),
    campaign: embedded,
  });
});

test.each([
  'lines',
  'lines.database_relations',
  'customer',
  'course',
  `${paths[0]}.products`,
  `${paths[1]}.attendance`,
])('include=%s is rejected with the valid ones', async (path) => {
  const response = await (await createProvider()).get(`/v2/orders?include=${path}`);
  const supported = response.json<{ error: string }>().error.split('Supported values of include: ')[1];
  expect([response.status, supported?.split(', ').sort()]).toEqual([
    400,
    [...paths, `${paths[1]}.hold`, 'credit', 'balance', 'invoicing'].sort(),
  ]);
});

test('the list has an ETag unless it depends on the clock', async () => {
  const me = await createProvider();
  await createOrder(me, { courseId: await me.course() });
  const tag = String((await me.get('/v2/orders')).headers['etag']);
  expect((await me.get('/v2/orders', { 'if-none-match': tag })).status).toBe(304);
  expect((await me.get('/v2/orders?include[]=campaign')).headers).not.toHaveProperty('etag');
  expect((await me.get(`/v2/orders?include=${paths[0]}`)).headers).toHaveProperty('etag');
});

test('the number of statements per page is constant', async () => {
  const me = await createProvider();
  const statements = async (query = '') => (await recordStatements(() => me.get(`/v2/orders?${query}`))).length;
  await me.get('/v2/orders'); // The first use of a key is noted.
  const [customerId, campaignId] = [await createCustomer(me), await createCampaign(me)];
  const order = async () =>
    createOrder(me, {
      courseId: await me.course(),
      users: [await createUser(me, { customerId }), await createUser(me)],
      order: { customerId, campaignId },
    });
  await order();
  const one = await statements();
  for (let n = 0; n < 3; n += 1) await order();
  // Key look-up; rows of the page; users, customers, lines (with products) and their participants.
  expect([one, await statements()]).toEqual([6, 6]);
  expect(await statements('user_data=1')).toBe(7);
  expect(await statements('include=campaign')).toBe(7);
  // The sums of the orders and of their credits.
  expect(await statements('include=balance')).toBe(8);
  // Courses with their categories and tags.
  expect(await statements(`include=${paths[0]}`)).toBe(9);
  // Participants with bookings, courses, dates, users and their customers.
  expect(await statements(`include=${paths[1]}`)).toBe(12);
});
