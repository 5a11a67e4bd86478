import { expect, test } from 'vitest';
import { addAdminUser, findMunicipality } from '../../support/dates.ts';
import { bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { contentTypeHeader, dialects, encodeBody, type Dialect } from '../../support/dialects.ts';
import { createCampaign, createUser } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();

type Item = Record<string, any>;
type Readable = { put: string; read(): Promise<Item> };

const school = {
  ...{ title: 'Fjord School', org_nr: '987654321', phone: '55 00 00 00', email_admin: 'admin@school.example' },
  ...{ post_address: 'Strandgaten 1', post_zip: '5004', post_city: 'Bergen', visit_city: 'Bergen' },
};

async function createDate(me: Provider, course: number, fields: Item) {
  const body = { start_at: '2030-06-10', end_at: '2030-06-11', capacity_max: 5, ...fields };
  const { coursedate_id } = (await me.post(`/v2/courses/${course}/coursedates`, body)).json<Item>();
  return `/v2/courses/${course}/coursedates/${coursedate_id}`;
}

/** An item of each resource that a PUT updates, filled and empty, with all that its GET can embed. */
async function createItems(me: Provider): Promise<Record<string, Readable>> {
  const at = (put: string, include = ''): Readable => ({
    put,
    read: async () => (await me.get(`${put}${include && `?include=${include}`}`)).json<Item>(),
  });
  const seller = await addAdminUser(me);
  const instructor = { firstname: 'Ola', lastname: 'Li', phone: '22', description: 'x', idUser: seller };
  const { id: instructorId } = (await me.post('/v2/instructors', instructor)).json<Item>();
  const { id: place } = await findMunicipality(me, 'Bergen');
  const hall = { title: 'Hall', address: 'Gata 1', city: 'Oslo', country: 'SE', place_id: place, lat: 60.5 };
  const { id: locationId } = (await me.post('/v2/locations', { ...hall, idInstructor: instructorId })).json<Item>();
  const { id: bareLocation } = (await me.post('/v2/locations', { title: 'Bare' })).json<Item>();
  const customer = {
    title: 'Fjord',
    type: 2,
    country: 'SE',
    seller_id: seller,
    invoice_due_days: 14,
    post_city: 'Bergen',
  };
  const { customer_id } = (await me.post('/v2/customers', { ...customer, status: 2 })).json<Item>();
  const name = { firstname: 'Kari', lastname: 'Li', email: 'kari@x.example', customer_id };
  const contact = { invoice_phone: '1', home_address_2: 'h', work_city: 'Oslo', custom_properties: { a: 'b' } };
  const gathered = { date_of_birth: '1980-02-29', information_gathered_at: '2026-01-01 09:00:00' };
  const { id: kari } = (await me.post('/v2/course-users', { ...name, ...contact, ...gathered })).json<Item>();
  const course = await me.course({
    ...{ level: 2, time_of_day: 1, duration_value: 2, duration_unit: 1, price_value: 900, price_comment: 'from' },
    ...{ tags: [{ title: 'Sea' }], labels: [{ title: 'Old' }], text_lead: '<p>Æ</p>', active: false },
    ...{ custom_properties: { room: 'A' }, email_booking: 'a@x.example', text_hotel_info: 'Hotel' },
  });
  const date = await createDate(me, course, {
    ...{ location_id: locationId, place_id: place, place_additional_info: 'Door 2', instructors: [instructorId] },
    ...{ teaching_language: 'en', title: 'Own', start_time_at: '09:00', custom_properties: { a: 'b' } },
    gatherings: [
      {
        gathering_at: '2030-06-10 09:00',
        gathering_end_at: '2030-06-10 12:00',
        instructors: [instructorId],
        theme: 'A',
      },
      { gathering_at: '2030-06-11 09:00', gathering_end_at: '2030-06-11 12:00', idLocation: locationId },
    ],
  });
  const { dateId } = await createBookableDate(me);
  const { participants, order_id } = await bookOrFail(me, dateId, {
    participants: [person({ custom_properties: { a: 'b' } })],
  });
  const { id: hook } = (await me.post('/v2/webhooks', { url: 'http://a.example:8080/x', is_active: 0 })).json<Item>();
  const discount = {
    title: 'Sun',
    campaign_code: 'SUN',
    discount_type: 'Value',
    discount_value: 12.5,
    currency: 'EUR',
  };
  const named = { courses: [course], customers: [customer_id], starts_at: '2026-01-01', ends_at: '2031-06-30' };
  const { id: campaign } = (await me.post('/v2/campaigns', { ...discount, ...named, max_uses: 3 })).json<Item>();
  const bareCampaign = await createCampaign(me, { title: 'Bare' });
  const gift = { code: 'GIFT', amount: 100.5, currency: 'EUR', expires_at: '2031-06-30' };
  const { id: voucher } = (await me.post('/v2/vouchers', gift)).json<Item>();
  const { id: tag } = (await me.post('/v2/course-tags', { title: 'Read back' })).json<Item>();
  await me.put('/v2/schools', school);
  await me.put('/v2/booking-settings', {
    language: 'no',
    mails: { reminder: true },
    texts: { no: { greeting: 'Hei' } },
  });
  await me.put('/v2/catalog-settings', { enabled: true, theme: { font: 'serif' }, fields: { phone: 'required' } });
  const listed = async (id: number) =>
    (await me.get('/v2/locations')).json<Item[]>().find((one) => one['id'] === id) as Item;
  const embedded = 'location,gatherings,place,teaching_language,status,instructors,subinstances,waiting';
  return {
    course: at(`/v2/courses/${course}`, 'labels,products,completion_min_share'),
    'bare course': at(`/v2/courses/${await me.course()}`),
    date: at(date, embedded),
    'date with its course': at(date, 'course,course.products'),
    'bare date': at(await createDate(me, course, { capacity_max: 0, place_by_search: 'Nowhere 9' }), embedded),
    location: { put: `/v2/locations/${locationId}`, read: () => listed(locationId as number) },
    'bare location': { put: `/v2/locations/${bareLocation}`, read: () => listed(bareLocation as number) },
    instructor: at(`/v2/instructors/${instructorId}`),
    customer: at(`/v2/customers/${customer_id}`, 'employees'),
    'course user': at(`/v2/course-users/${kari}`),
    'bare course user': at(
      `/v2/course-users/${await createUser(me, { firstname: 'A', lastname: 'B', email: 'a@b.example' })}`,
    ),
    order: at(`/v2/orders/${order_id}`, 'campaign'),
    participant: at(`/v2/participants/${participants[0]!.id}`, 'attendance,attendance_summary,hold'),
    school: { put: '/v2/schools', read: async () => (await me.get('/v2/schools')).json<Item>()['school'] as Item },
    'booking settings': at('/v2/booking-settings'),
    'catalog settings': at('/v2/catalog-settings'),
    campaign: at(`/v2/campaigns/${campaign as number}`),
    'bare campaign': at(`/v2/campaigns/${bareCampaign}`),
    voucher: at(`/v2/vouchers/${voucher as number}`),
    webhook: at(`/v2/webhooks/${hook}`),
    tag: at(`/v2/course-tags/${tag}`),
  };
}

test('each item that can be updated is one of these', async () => {
  const items = await createItems(await createProvider());
  const updated = new Set(Object.values(items).map(({ put }) => put.replace(/\/\d+/g, '/:id')));
  const { paths } = app.swagger() as { paths: Record<string, Item> };
  const puts = Object.entries(paths).flatMap(([path, methods]) => ('put' in methods ? [path] : []));
  // The bodies of these two are acts, and their answers no items.
  const documented = puts.filter((path) => path.startsWith('/v2/') && !/\/(deregister|attendance)$/.test(path));
  const names = documented.map((path) => path.replace(/\{\w+\}/g, ':id'));
  expect([...updated].sort(), '`createItems` of this file has an item for each PUT').toEqual(names.sort());
});

test.each(dialects)('every item can be written back as it was read, and that changes nothing: %s', async (dialect) => {
  const me = await createProvider();
  for (const [name, { put, read }] of Object.entries(await createItems(me))) {
    const [before, cursor] = [await read(), await newestEvent(me)];
    const response = await me.put(put, encodeBody(dialect, before), contentTypeHeader(dialect));
    expect([name, response.status], response.text).toEqual([name, 200]);
    expect([name, await read()]).toEqual([name, before]);
    expect([name, await eventsSince(me, cursor)]).toEqual([name, []]);
  }
});

const isObject = (value: unknown): value is Item => typeof value === 'object' && value !== null;

/** The item with a change of some of its members. */
const withChange = (item: unknown, change: unknown): unknown =>
  isObject(change) && !Array.isArray(change)
    ? Object.entries(change).reduce((all, [name, one]) => ({ ...all, [name]: withChange(all[name], one) }), {
        ...(item as Item),
      })
    : change;

/** The paths of the members that differ, without the time of the change. */
function differences(before: unknown, after: unknown, path = ''): string[] {
  if (!isObject(before) || !isObject(after)) return before === after || /updated_at$/.test(path) ? [] : [path];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => differences(before[name], after[name], path ? `${path}.${name}` : name));
}

/** Changes of members as they are read, and what follows from them. */
const changes: [item: string, change: Item, following?: string[]][] = [
  ['course', { title: 'Other' }, ['catalog_url', 'products.0.title']],
  ['course', { is_active: true }, ['catalog_url']],
  ['course', { level: { id: 3 } }, ['level.title']],
  ['course', { form_of_teaching: { id: 2 } }, ['form_of_teaching.title']],
  ['course', { teaching_language: { id: 'en' } }, ['teaching_language.title']],
  ['course', { time_of_day: null }],
  ['course', { duration: { value: 3 } }],
  ['course', { duration: { code: 'weeks' } }, ['duration.unit']],
  ['course', { duration: null }],
  ['course', { price: { value: 950 } }, ['products.0.price']],
  ['course', { price: { comment: 'at least' } }],
  ['course', { lead_settings: { email_booking: 'b@x.example' } }],
  ['course', { descriptions: { lead: '<p>Ø</p>' } }],
  ['course', { descriptions: { hotelInfo: '' } }],
  ['course', { tags: [{ title: 'Land' }] }, ['tags']],
  ['bare course', { time_of_day: { id: 2 } }, ['time_of_day']],
  ['date', { title: 'Other' }],
  ['date', { teaching_language_id: 'no' }, ['teaching_language.id', 'teaching_language.title']],
  ['date', { status_id: 2 }, ['status.id', 'status.idType', 'status.title']],
  ['date', { location_id: null }, ['location']],
  ['date', { place: { title_additional_info: 'Door 3' } }],
  ['date', { seats: { allocated_capacity: { num: 7 } } }, ['seats.free.num']],
  ['date', { seats: { allocated_capacity: { num_waiting: 2 } } }, ['seats.free.num_waiting']],
  ['date', { waiting: { mode: 'offer' } }],
  ['date', { waiting: { offer_hours: 48 } }],
  ['location', { country_code: 'NO' }, ['country', 'idCountry', 'full_address']],
  ['location', { idPlace: 0 }, ['place']],
  ['location', { idInstructor: null }, ['instructor']],
  ['location', { city: 'Moss' }, ['full_address']],
  ['bare location', { capacity_max: 3 }],
  ['instructor', { description: 'y' }],
  ['customer', { webaddress: 'https://x.example' }],
  ['customer', { customer_reference: 'PO 7' }],
  ['customer', { duedate_days: 30 }],
  ['customer', { idStatus: '1' }, ['status']],
  ['customer', { type: 'Company' }],
  ['customer', { country: { code: 'NO' } }, ['country.id', 'country.title']],
  ['customer', { seller: null }],
  ['customer', { post_address: { city: 'Moss' } }],
  ['customer', { invoice_address: { address: 'Gata 1' } }],
  ['customer', { visit_address: { zipcode: '0150' } }],
  ['course user', { phone: '1' }],
  ['course user', { customer: null }],
  ['course user', { home_address: { address_2: null } }],
  ['course user', { work_address: { address: 'Gata 1' } }],
  ['course user', { invoice_address: { invoice_phone: '2' } }],
  ['bare course user', { external_id: 'CRM 1' }],
  ['order', { your_reference: 'PO 7' }],
  ['participant', { status: { id: 7 } }, ['status.title', 'status.status_code']],
  ['participant', { passed: true }],
  ['participant', { user_comment: 'Vegan' }],
  ['school', { post_address: { zip: '5005' } }],
  ['school', { visit_address: { address: 'Gata 1' } }],
  ['school', { text_tagline: '<p>x</p>' }],
  ['booking settings', { mails: { reminder: false } }],
  ['catalog settings', { theme: { font: 'sans' } }],
  ['campaign', { discount_value: 15 }],
  ['campaign', { max_uses: 5 }],
  ['voucher', { amount: '200.00' }, ['balance']],
  ['webhook', { description: 'CRM' }],
  ['tag', { title: 'Other' }],
];

test.each(dialects)('an item that is written back with a change has it, and no other: %s', async (dialect) => {
  const me = await createProvider();
  const items = await createItems(me);
  expect(Object.keys(items).filter((name) => !changes.some(([item]) => item === name))).toEqual([
    ...['date with its course', 'bare date', 'bare campaign'],
  ]);
  for (const [name, change, following = []] of changes) {
    const { put, read } = items[name]!;
    const before = await read();
    const changed = withChange(before, change) as Item;
    const response = await me.put(put, encodeBody(dialect, changed), contentTypeHeader(dialect));
    expect([name, change, response.status], response.text).toEqual([name, change, 200]);
    const after = await read();
    const isDerived = (path: string) =>
      ['employees', ...following].some((one) => path === one || path.startsWith(`${one}.`));
    expect([name, change, differences(changed, after).filter((path) => !isDerived(path))]).toEqual([name, change, []]);
    expect([name, change, differences(before, after)]).not.toEqual([name, change, []]);
    await me.put(put, before);
  }
});

test('gatherings are taken with the ids of their instructors', async () => {
  const me = await createProvider();
  const { date } = await createItems(me);
  const { id: other } = (await me.post('/v2/instructors', { firstname: 'Eli', lastname: 'Moe' })).json<Item>();
  for (const dialect of dialects) {
    const before = await date!.read();
    const [first, second] = before['gatherings'] as [Item, Item];
    const changed = { ...before, gatherings: [first, { ...second, instructors: [{ id: other }] }] };
    const response = await me.put(date!.put, encodeBody(dialect, changed), contentTypeHeader(dialect));
    expect(response.status, response.text).toBe(200);
    const after = await date!.read();
    expect(after['gatherings'][1].instructors).toMatchObject([{ id: other }]);
    expect(after['gatherings'][0]).toEqual(first);
    expect((await me.put(date!.put, before)).status).toBe(200);
    expect(differences(before, await date!.read())).toEqual([]);
  }
});

/** Of several forms the input's own is taken, else the first of its resource; others are named. */
const preferred: [item: string, body: Item, ignored: string | undefined, read: Item][] = [
  ['location', { country: 'no', country_code: 'SE' }, 'country_code', { country_code: 'NO' }],
  [
    'location',
    { country: 'Denmark', country_code: 'SE', idCountry: '1' },
    'country, idCountry',
    { country_code: 'SE' },
  ],
  ['location', { place: { id: 2, title: 'x' }, idPlace: 0 }, 'place', { idPlace: 0 }],
  ['location', { idInstructor: '', instructor: { id: 1 } }, 'instructor', { idInstructor: null }],
  [
    'course',
    { level: { id: 3, title: 'x' }, price_value: 5 },
    'level.title',
    { level: { id: 3 }, price: { value: 5 } },
  ],
  [
    'course',
    { price_value: 6, price: { value: 7, comment: 'y' } },
    'price.value',
    { price: { value: 6, comment: 'y' } },
  ],
  ['course', { descriptions: '{"lead":"z"}' }, undefined, { descriptions: { lead: 'z' } }],
  ['course', { text_lead: '[1]', descriptions: { lead: 'x' } }, 'descriptions', { descriptions: { lead: '[1]' } }],
  ['course', { level: '{"id":2}' }, undefined, { level: { id: 2 } }],
  ['course', { duration: '' }, undefined, { duration: null }],
  ['customer', { idStatus: 2, status: 'Active' }, 'status', { status: 'Deactivated' }],
  ['customer', { status: 'Active', type: 1 }, undefined, { status: 'Active', type: 'Company' }],
  [
    'customer',
    { post_address: { city: 'Moss', state: 'x' } },
    'post_address.state',
    { post_address: { city: 'Moss' } },
  ],
  ['date', { seats: { allocated_capacity: { num: 8 }, free: 1 } }, 'seats.free', { seats: { free: { num: 8 } } }],
  ['date', { status_id: 1, status: { id: 2 } }, 'status', { status_id: 1 }],
];

test.each(dialects)('the preferred form is taken, and others are named: %s', async (dialect) => {
  const me = await createProvider();
  const items = await createItems(me);
  for (const [name, fields, ignored, expected] of preferred) {
    const { put, read } = items[name]!;
    const body = encodeBody(dialect, fields);
    const response = await me.put(put, body, contentTypeHeader(dialect));
    const told = response.headers['x-ignored-parameters'];
    expect([fields, response.status, told], response.text).toEqual([fields, 200, ignored]);
    const written = await read();
    expect(written).toMatchObject(expected);
    const strict = { ...contentTypeHeader(dialect), prefer: 'handling=strict' };
    const refused = await me.put(put, encodeBody(dialect, { ...fields, title: 'Strict' }), strict);
    const error = ignored && `Field(s) not known: ${ignored.replaceAll(', ', ',')}`;
    expect([fields, refused.json<Item>()['error']]).toEqual([fields, error]);
    if (ignored) expect(differences(written, await read())).toEqual([]);
  }
});

/** Values that the input of a read form refuses. */
const refused: [string, Item, string][] = [
  ['course', { price: { value: -1 }, level: { id: 99 } }, 'level,price_value'],
  ['course', { duration: { code: 'eon' } }, 'duration_unit'],
  ['course', { level: 'Basic' }, 'level'],
  ['date', { teaching_language_id: 'xx', place: { id: 'x' } }, 'teaching_language,place_id'],
  ['date', { instructors: [{ id: 2 ** 40 }] }, 'instructors'],
  ['location', { country: 'Denmark' }, 'country'],
  ['location', { idPlace: 2 ** 40 }, 'place_id'],
  ['customer', { type: 'Firm', idStatus: '9', country: { code: 'XX' } }, 'type,country,status'],
  ['course user', { customer: { id: 2 ** 40 } }, 'customer_id'],
  ['participant', { status: { id: 5 }, paid: { id: 9 } }, 'idStatus,idPaid'],
  ['participant', { user: { id: 2 ** 40 } }, 'user'],
];

test.each(dialects)('a wrong value is refused with the name of its input: %s', async (dialect) => {
  const me = await createProvider();
  const items = await createItems(me);
  for (const [name, fields, names] of refused) {
    const { put, read } = items[name]!;
    const before = await read();
    const response = await me.put(put, encodeBody(dialect, fields), contentTypeHeader(dialect));
    expect([fields, response.status, response.json<Item>()['error']]).toEqual([
      ...[fields, 400],
      `Field(s) not valid: ${names}`,
    ]);
    expect(await read()).toEqual(before);
  }
});

/** Names that no input has, and the header. */
const ignored: [string, Item, string][] = [
  ['course', { catalog_url: 'https://x.example', categories: [{ id: 1 }] }, 'catalog_url, categories'],
  ['date', { seats: { free: { num: 99 } }, seats_status: 'x' }, 'seats, seats_status'],
  ['instructor', { archived_at: '2026-01-01', fullname: 'x' }, 'fullname'],
  ['customer', { invoice_method: 'x', turnover: '1' }, 'invoice_method, turnover'],
  ['participant', { booker_name: 'x', attendance: [{ a: 1 }], hold: { a: 1 } }, 'booker_name, attendance, hold'],
  ['webhook', { disabled_reason: 'gone', type: 'x' }, 'disabled_reason, type'],
  ['order', { title: 'x', gln_number: '1', exported_at: 'x' }, 'title, gln_number, exported_at'],
  ['voucher', { balance: 1000, is_expired: true, archived_at: 'x' }, 'balance, is_expired, archived_at'],
  ['voucher', { redemptions: [{ id: 1 }], redemptions_truncated: true }, 'redemptions, redemptions_truncated'],
  ['campaign', { expired: true, running: false, waiting: true, uses: 7 }, 'expired, running, waiting, uses'],
  ['course', { id: 1, created_at: 'x', updated_at: 'x', deleted_at: 'x' }, ''],
];

test.each(dialects)('names that no input has are in X-Ignored-Parameters: %s', async (dialect) => {
  const me = await createProvider();
  const items = await createItems(me);
  for (const [name, fields, names] of ignored) {
    const response = await me.put(items[name]!.put, encodeBody(dialect, fields), contentTypeHeader(dialect));
    expect([fields, response.status, response.headers['x-ignored-parameters'] ?? '']).toEqual([fields, 200, names]);
  }
});

test.each<[string, Item, string]>([
  [
    '/v2/courses',
    { title: 'Z', is_active: false, price: { value: 1 }, descriptions: { lead: 'x' } },
    'is_active, price, descriptions',
  ],
  ['/v2/courses', { title: 'Z', duration: { value: 1 }, categories: [{ id: 1 }] }, 'duration, categories'],
  ['/v2/courses', { title: 'Z', translations: { en: { lead: 'x', title: 'y' } } }, 'translations.en.title'],
  [
    '/v2/courses',
    { title: 'Z', translations: { en: { ['x'.repeat(84)]: 'y', ['x'.repeat(85)]: 'y' } } },
    `translations.en.${'x'.repeat(84)}`,
  ],
  [
    '/v2/customers',
    { title: 'Z', webaddress: 'x', duedate_days: 1, invoice_address: { city: 'x' }, seller: { id: 1 } },
    'webaddress, duedate_days, invoice_address, seller',
  ],
  ['/v2/locations', { title: 'Z', country_code: 'SE', idPlace: 1, id: 5, updated_at: 'x' }, 'country_code, idPlace'],
  ['/v2/instructors', { firstname: 'A', lastname: 'B', archived_at: 'x', fullname: 'x' }, 'fullname'],
  ['/v2/vouchers', { code: 'Z', amount: 5, balance: 1000, redemptions: [{ order_id: 1 }] }, 'balance, redemptions'],
  [
    '/v2/campaigns',
    { title: 'Z', discount_type: 'Percent', discount_value: 5, uses: 1, running: true },
    'uses, running',
  ],
  ['/v2/webhooks', { url: 'http://a.example:8080/', is_active: 0, type: 'x' }, 'type'],
  ['/courses', { title: 'Z', is_active: false, created_at: 'x' }, 'is_active'],
])('POST %s names what it does not take: %o', async (path, fields, names) => {
  for (const dialect of dialects) {
    const me = await createProvider();
    const response = await post(me, path, dialect, fields);
    expect([response.status < 300, response.headers['x-ignored-parameters']]).toEqual([true, names]);
  }
});

const post = (me: Provider, path: string, dialect: Dialect, fields: Item) =>
  me.post(path, encodeBody(dialect, fields), contentTypeHeader(dialect));

test('a date and a booking name what they do not take', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const days = { start_at: '2030-06-10', end_at: '2030-06-10' };
  const date = { ...days, teaching_language_id: 'en', seats: { free: 1 }, place: { id: 1 }, status: { id: 3 } };
  const created = await me.post(`/v2/courses/${courseId}/coursedates`, date);
  expect(created.headers['x-ignored-parameters']).toBe('teaching_language_id, seats, place, status');
  const participants = [person({ idStatus: 3, user_comment: 'x' })];
  const booked = await me.post('/v2/booking', { coursedate_id: dateId, payment_method: 'invoice', participants });
  expect(booked.headers['x-ignored-parameters']).toBe('participants[0].idStatus, participants[0].user_comment');
});
