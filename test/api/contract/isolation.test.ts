import { afterAll, describe, expect, test } from 'vitest';
import { allGuards } from '../../../src/core/context.ts';
import * as support from '../../support/isolation.ts';
import {
  openTestDatabase,
  openTestApp,
  ownDatabase,
  send,
  sharedTestApp,
  type Provider,
} from '../../support/test-app.ts';

const { marker, markedPaths, readRequests: readsOf, containsText: shows } = support;
type Ids = support.Owner['ids'];

const testApp = await sharedTestApp();
const { app, createProvider } = testApp;
const owner = await support.createOwner(testApp);
const { me, ids } = owner;
const endpoints = support.listEndpoints(testApp);
const reads = endpoints.filter(({ method }) => method === 'GET');
const writes = endpoints.filter(({ method }) => method !== 'GET');

const actors = await support.createActors(testApp, me);
const badKeys = await support.createInvalidKeys(testApp, me);

let cells = 0;
afterAll(() => expect(cells).toBeGreaterThanOrEqual(300));

/** What each endpoint lists of its own school: marked texts, or why there are none. */
const marks = 'marks';
const lists: Record<string, string> = {
  ...Object.fromEntries(
    [
      'courses',
      'courses/{id}',
      'courses/{course_id}/coursedates',
      'courses/{course_id}/coursedates/{id}',
      'batch/coursedates',
      'instructors/{id}',
      'customers',
      'customers/{id}',
      'customers/{id}/employees',
      'coursedates',
      'nextcoursedates',
      'locations',
      'instructors',
      'course-tags',
      'schools',
      'orders',
      'orders/{id}',
      'orders/products',
      'participants',
      'participants/{id}',
    ]
      .concat(['campaigns', 'course-users/{id}', 'search-users', 'admin-users', 'admin-roles'])
      .concat(
        'app-users',
        'campaigns/validate/{code}',
        'vouchers/validate/{code}',
        'campaigns/validate',
        'vouchers/validate',
      )
      .map((name) => [`GET /v2/${name}`, marks]),
  ),
  'GET /schools': marks,
  'GET /v2/durations': 'the same for all',
};
const textless: Record<string, string> = {
  teaching_language: 'the same for all',
  status: 'the same for all',
  attendance: 'ids and moments',
  'GET /v2/courses/{course_id}/coursedates course.customer': 'a public course has none',
  'GET /v2/courses/{course_id}/coursedates/{id} course.customer': 'a public course has none',
};

const below = (name: string, members: string[]) => members.map((member) => `${name}.${member}`);
const visit = ['visit_address', 'visit_address2', 'visit_city', 'visit_zipcode'];
const linked = ['title', 'catalog_url', 'external_booking_url'];
const embeddedCourse = [...linked, 'external_more_info_url', 'price.comment', ...visit];
const provider = below('provider', ['title', 'web_address', 'catalog_url']);
const texts = ['audience', 'credits', 'description', 'duration', 'hotelInfo', 'lead', 'place', 'prerequisites'];
const product = below('products', ['item_number', 'title', 'title_label']);
const instructor = ['name', 'fullname', 'title', 'company', 'position'];
const address = ['address', 'address2', 'address3', 'zipcode', 'city', 'state', 'county', 'full_address'];
const words = ['title', 'custom_title', 'long_text', 'short_text', 'short_text_2'];
const location = [...address, ...words, ...below('instructor', instructor)];
const gathering = ['description', 'theme', ...below('instructors', instructor), ...below('location', location)];
const date = [
  ...[...linked, ...provider, 'place.title_additional_info', 'bundle.title'],
  ...below('course', [...embeddedCourse, ...product]),
  ...[...below('location', location), ...below('gatherings', gathering), ...below('instructors', instructor)],
  ...[...below('subinstances', linked), ...below('bundle.items', linked)],
];
const course = [...[...embeddedCourse, ...provider, ...product], ...below('descriptions', [...texts, 'submissions'])];
/** All that an approved partner may see, and does; nothing at any other endpoint. */
const forPartners: Record<string, string[]> = {
  'GET /v2/courses': course,
  'GET /v2/courses/{id}': course,
  'GET /v2/coursedates': date,
  'GET /v2/courses/{course_id}/coursedates': date,
  'GET /v2/batch/coursedates': date,
  'GET /v2/nextcoursedates': date,
};

const school = { title: 'S', org_nr: '1', phone: '1', email_admin: 'a@b.example' };
const wholeSchool = { ...school, post_address: 'a', post_zip: '1', post_city: 'c', active: 1 };
const named = { firstname: 'Changed', lastname: 'Changed' };
const days = { start_at: '2031-06-10', end_at: '2031-06-12' };
const meeting = { date: '2031-06-10', time_start: '09:00', time_end: '10:00' };
const datesNaming = ({ location, instructor, date }: Ids) => [
  { location_id: location },
  { instructors: [instructor] },
  { parent_id: date },
  { gatherings: [{ ...meeting, idLocation: location }] },
  { gatherings: [{ ...meeting, instructors: [instructor] }] },
  { title: 'Changed' },
];
/** Bodies that name all they can of the owner's, by id, title and address. */
const payment_method = 'invoice';
const participant = { ...named, email: 'changed@x.example' };
const bodies: Record<string, (ids: Ids) => object[]> = {
  'POST /v2/booking': ({ date: coursedate_id, customer: customer_id, product }) => [
    { coursedate_id, payment_method, participants: [participant] },
    {
      coursedate_id,
      customer_id,
      campaign_code: marker,
      voucher_code: marker,
      participants: [{ products: [product] }],
    },
  ],
  'PUT /v2/booking/{id}/deregister': () => [{}, { config: { with_fee: 1, send_receipt_email_to_participant: 1 } }],
  'PUT /v2/participants/{id}': () => [{ no_show: 1 }, { idStatus: 4 }],
  'POST /v2/courses': ({ customer, tag, label }) => [
    { title: 'By ids', type: 'corporate', customer_id: customer, tags: [tag], labels: [label] },
    { title: marker, tags: [{ title: marker }], labels: [{ title: marker }] },
  ],
  'PUT /v2/courses/{id}': ({ customer, tag, label }) => [
    { text_lead: 'Changed' },
    { type: 'corporate', customer_id: customer, tags: [tag], labels: [label] },
    { title: marker, tags: [{ title: marker }], labels: [{ title: marker }] },
  ],
  'DELETE /v2/courses/{id}': () => [{}],
  'POST /courses': () => [{ title: marker }],
  'POST /v2/course-tags': () => [{ title: 'Changed' }],
  'POST /v2/locations': ({ instructor }) => [{ title: 'L', idInstructor: instructor }, { title: 'Changed' }],
  'PUT /v2/locations/{id}': ({ instructor }) => [{ title: 'Changed' }, { idInstructor: instructor }],
  'POST /v2/instructors': ({ adminUser }) => [{ ...named, idUser: adminUser }, { ...named }],
  'PUT /v2/instructors/{id}': ({ adminUser }) => [{ phone: '1' }, { ...named, idUser: adminUser }, { idUser: null }],
  'POST /v2/orders/{id}/export': () => [{}],
  'DELETE /v2/instructors/{id}': () => [{}],
  'PUT /v2/schools': () => [wholeSchool],
  'POST /schools': () => [wholeSchool],
  'POST /v2/customers': ({ adminUser }) => [{ title: 'C', seller_id: adminUser }, { title: 'Changed' }],
  'PUT /v2/customers/{id}': ({ adminUser }) => [{ title: 'Changed' }, { seller_id: adminUser }],
  'POST /v2/courses/{course_id}/coursedates': (ids) => datesNaming(ids).map((one) => ({ ...days, ...one })),
  'PUT /v2/courses/{course_id}/coursedates/{id}': datesNaming,
  'DELETE /v2/courses/{course_id}/coursedates/{id}': () => [{}],
  'POST /v2/check-user-credentials': () => [{ username: marker, password: marker, create_login_url: true }],
  'POST /v2/admin-users': ({ role }) => [
    { email: `${marker}@x.example`, role_ids: [role] },
    { email: `${marker}@x.example`, role_ids: [1], ...named, position: 'Changed', booking_email: 'c@x.example' },
  ],
};
/** A person is one for all providers, and attached by an address that the caller knows. */
const toldOfPersons: Record<string, string[]> = { 'POST /v2/admin-users': ['email'] };

const leaksIn = (text: string) =>
  [marker, support.passwordHash, String(support.secretNumber)].filter((secret) => shows(text, secret));

test('the table has every endpoint', () => {
  expect(Object.keys(lists).sort()).toEqual(reads.map(({ name }) => name).sort());
  expect(Object.keys(bodies).sort()).toEqual(writes.map(({ name }) => name).sort());
});

describe.each(reads)('$name', (endpoint) => {
  const requests = readsOf(endpoint, ids);

  test('shows the owner its own data', async () => {
    for (const { url, include } of requests.filter((request) => request.include !== undefined)) {
      cells += 1;
      const response = await me.get(url);
      expect(response.status, url).toBe(200);
      const paths = markedPaths(response.text);
      expect(paths.length > 0, url).toBe(lists[endpoint.name] === marks);
      if (include)
        expect(
          paths.some((path) => `${path}.`.startsWith(`${include}.`)),
          url,
        ).toBe(!(include in textless || `${endpoint.name} ${include}` in textless));
      expect(shows(response.text, support.passwordHash)).toBe(false);
    }
  });

  test('shows others nothing of the owner', async () => {
    const found: string[] = [];
    for (const [actorName, actor] of Object.entries(actors)) {
      for (const { url, reach } of requests) {
        if (actorName === 'partner' && reach !== '') continue;
        cells += 1;
        const response = await actor.get(url);
        if (leaksIn(response.text).length > 0 || response.status >= 500)
          found.push(`${actorName} ${url} ${response.status}`);
      }
    }
    expect(found).toEqual([]);
  });

  test('shows an approved partner exactly what is allowed', async () => {
    const seen = new Set<string>();
    for (const { url } of requests.filter(({ reach }) => reach !== '')) {
      cells += 1;
      const { status, text } = await actors.partner.get(url);
      expect([status, shows(text, support.unlistedMarker), leaksIn(text).filter((one) => one !== marker)], url).toEqual(
        [...[200, false, []]],
      );
      for (const path of markedPaths(text)) seen.add(path);
    }
    expect([...seen].sort()).toEqual([...(forPartners[endpoint.name] ?? [])].sort());
  });
});

test.each(badKeys)('%s gets 401 on every endpoint', async (_, headers) => {
  for (const { name, method, path } of endpoints) {
    for (const payload of bodies[name]?.(ids) ?? [undefined]) {
      cells += 1;
      const response = await send(app, {
        method,
        url: support.fillPath(path, ids),
        headers,
        ...(payload && { payload }),
      });
      expect([response.status, leaksIn(response.text)], name).toEqual([401, []]);
    }
  }
});

/** For each parameter that names a row: what names the owner's, and for a body, the whole of it. Or why it names none. */
type Naming = [keyof Ids, ((id: number) => object)?] | string;
let created = 0;
const fresh = () => `Named ${(created += 1)}`;
const namesOfDates = (method: string, path: string, more: Record<string, Naming>): Record<string, Naming> => {
  const names: Record<string, Naming> = {
    'query since_id': ['date'],
    'query course_id[]': ['course'],
    'query coursedate_id': ['date'],
    'query status_id': 'the same for all',
    'query partner_id': ['provider'],
    'query tag_ids[]': ['tag'],
    ...more,
  };
  return Object.fromEntries(Object.entries(names).map(([name, naming]) => [`${method} ${path} ${name}`, naming]));
};
const bodiesOfDates = (name: string, required: object): Record<string, Naming> => ({
  [`${name} path course_id`]: ['course', () => ({ ...required, title: marker })],
  [`${name} body place_id`]: 'the same for all',
  [`${name} body status_id`]: 'the same for all',
  [`${name} body location_id`]: ['location', (id) => ({ ...required, location_id: id })],
  [`${name} body instructors`]: ['instructor', (id) => ({ ...required, instructors: [id] })],
  [`${name} body parent_id`]: ['date', (id) => ({ ...required, parent_id: id })],
  [`${name} body gatherings`]: ['location', (id) => ({ ...required, gatherings: [{ ...meeting, idLocation: id }] })],
});
const idParameters: Record<string, Naming> = {
  'GET /v2/courses query since_id': ['course'],
  'GET /v2/courses query customer_id': ['customer'],
  'GET /v2/courses query tag_ids[]': ['tag'],
  'GET /v2/courses query partner_id': ['provider'],
  'POST /v2/courses body tags': ['tag', (id) => ({ title: fresh(), tags: [id] })],
  'POST /v2/courses body labels': ['label', (id) => ({ title: fresh(), labels: [{ id }] })],
  'POST /v2/courses body customer_id': ['customer', (id) => ({ title: fresh(), type: 'corporate', customer_id: id })],
  'GET /v2/courses/{id} path id': ['course'],
  'GET /v2/courses/{id} query partner_id': ['provider'],
  'PUT /v2/courses/{id} path id': ['course', () => ({ text_lead: 'x' })],
  'PUT /v2/courses/{id} body tags': ['tag', (id) => ({ tags: [id] })],
  'PUT /v2/courses/{id} body labels': ['label', (id) => ({ labels: [{ id }] })],
  'PUT /v2/courses/{id} body customer_id': ['customer', (id) => ({ type: 'corporate', customer_id: id })],
  // To its owner it is refused, since somebody is still to come.
  'DELETE /v2/courses/{id} path id': ['course'],
  'GET /v2/coursedates query since_id': ['date'],
  'GET /v2/coursedates query course_id[]': ['course'],
  'GET /v2/coursedates query coursedate_id': ['date'],
  'GET /v2/coursedates query status_id': 'the same for all',
  'GET /v2/coursedates query partner_id': ['provider'],
  'GET /v2/coursedates query tag_ids[]': ['tag'],
  'GET /v2/nextcoursedates query partner_id': ['provider'],
  'GET /v2/nextcoursedates query tag_ids[]': ['tag'],
  'GET /v2/locations query since_id': ['location'],
  'POST /v2/locations body place_id': 'the same for all',
  'POST /v2/locations body idInstructor': ['instructor', (id) => ({ title: 'L', idInstructor: id })],
  'PUT /v2/locations/{id} path id': ['location', () => ({ city: 'x' })],
  'PUT /v2/locations/{id} body place_id': 'the same for all',
  'PUT /v2/locations/{id} body idInstructor': ['instructor', (id) => ({ idInstructor: id })],
  'GET /v2/instructors query since_id': ['instructor'],
  'GET /v2/instructors/{id} path id': ['instructor'],
  'DELETE /v2/instructors/{id} path id': ['instructor'],
  'POST /v2/instructors body idUser': ['adminUser', (id) => ({ ...named, idUser: id })],
  'PUT /v2/instructors/{id} path id': ['instructor', () => ({ phone: '1' })],
  'GET /v2/orders query since_id': ['order'],
  'GET /v2/orders query course_id': ['course'],
  'GET /v2/orders/{id} path id': ['order'],
  'POST /v2/orders/{id}/export path id': ['toExport', () => ({})],
  'GET /v2/orders/products query since_id': ['product'],
  'GET /v2/participants/{id} path id': ['participant'],
  'GET /v2/campaigns/validate/{code} query coursedate_id': ['date'],
  'GET /v2/campaigns/validate/{code} query course_id': ['course'],
  'GET /v2/campaigns/validate query coursedate_id': ['date'],
  'GET /v2/campaigns/validate query course_id': ['course'],
  'POST /v2/booking body coursedate_id': [
    'date',
    (id) => ({ coursedate_id: id, payment_method, participants: [participant] }),
  ],
  'POST /v2/booking body customer_id': ['customer', (id) => ({ customer_id: id })],
  'POST /v2/booking body participants': ['product', (id) => ({ participants: [{ ...participant, products: [id] }] })],
  'PUT /v2/booking/{id}/deregister path id': ['booking', () => ({})],
  'PUT /v2/participants/{id} path id': ['participant', () => ({ no_show: 1 })],
  'PUT /v2/participants/{id} body idStatus': 'the same for all',
  'PUT /v2/participants/{id} body idPaid': 'the same for all',
  'GET /v2/participants query since_id': ['participant'],
  'GET /v2/participants query course_id': ['course'],
  'GET /v2/participants query coursedate_id': ['date'],
  'GET /v2/participants query customer_id': ['customer'],
  'GET /v2/participants query user_id': ['user'],
  'GET /v2/customers query since_id': ['customer'],
  'GET /v2/customers/{id} path id': ['customer'],
  'GET /v2/customers/{id}/employees path id': ['customer'],
  'GET /v2/customers/{id}/employees query since_id': ['user'],
  'POST /v2/customers body customer_reference_id': 'free text',
  'POST /v2/customers body seller_id': ['adminUser', (id) => ({ title: 'C', seller_id: id })],
  'PUT /v2/customers/{id} path id': ['customer', () => ({ note: 'x' })],
  'PUT /v2/customers/{id} body customer_reference_id': 'free text',
  'PUT /v2/customers/{id} body seller_id': ['adminUser', (id) => ({ seller_id: id })],
  'GET /v2/course-users/{id} path id': ['user'],
  'GET /v2/search-users query since_id': ['user'],
  ...namesOfDates('GET', '/v2/courses/{course_id}/coursedates', { 'path course_id': ['course'] }),
  ...namesOfDates('GET', '/v2/batch/coursedates', { 'query course_ids[]': ['course'] }),
  'GET /v2/courses/{course_id}/coursedates/{id} path course_id': ['course'],
  'GET /v2/courses/{course_id}/coursedates/{id} path id': ['date'],
  'DELETE /v2/courses/{course_id}/coursedates/{id} path course_id': ['course'],
  'DELETE /v2/courses/{course_id}/coursedates/{id} path id': ['date'],
  'PUT /v2/courses/{course_id}/coursedates/{id} path id': ['date', () => ({ title: marker })],
  ...bodiesOfDates('POST /v2/courses/{course_id}/coursedates', days),
  ...bodiesOfDates('PUT /v2/courses/{course_id}/coursedates/{id}', {}),
  'PUT /v2/courses/{course_id}/coursedates/{id} body parent_id': 'none for a date that is a parent itself',
  'PUT /v2/instructors/{id} body idUser': ['adminUser', (id) => ({ idUser: id })],
  'POST /v2/admin-users body role_ids': ['role', (id) => ({ email: 'x@x.example', role_ids: [id], ...named })],
};
const parameters = endpoints.flatMap((endpoint) =>
  support.idParameters(endpoint).map((one) => ({ endpoint, parameter: one, key: `${endpoint.name} ${one}` })),
);

test('the table has every parameter that names a row', () => {
  expect(Object.keys(idParameters).sort()).toEqual(parameters.map(({ key }) => key).sort());
});

test.each(parameters.filter(({ key }) => typeof idParameters[key] !== 'string'))(
  '$key: a foreign id and an unknown id get the same response',
  async ({ endpoint: { name, method, path, operation }, parameter, key }) => {
    const [id, body] = idParameters[key] as Exclude<Naming, string>;
    const [where, field] = parameter.split(' ') as [string, string];
    const request = async (actor: Provider, value: number, rest = '') => {
      cells += 1;
      const own = await ownPath(actor, path, where === 'path' ? { [field]: value } : {});
      const search = needed[name] && !field.startsWith('course_ids') ? `&${needed[name]}` : '';
      const url = `${own}?${where === 'query' ? `${field}=${value}` : ''}${search}${rest}`;
      const { status, text } = await actor.request(method)(url, body?.(value));
      return [status, text];
    };
    const missing = 999_999_999;
    const partners = operation.parameters?.some((one) => one.name === 'include_partners') ? '&include_partners=1' : '';
    // What comes after an id depends on one's own rows, too; a school without any has none after either.
    const askers = field === 'since_id' ? { empty: await createProvider() } : actors;
    for (const [actorName, actor] of Object.entries(askers)) {
      const isPartner = actorName === 'partner';
      if (isPartner && field === 'partner_id') continue;
      for (const rest of new Set(isPartner && !field.startsWith('tag_') ? [''] : ['', partners]))
        expect(await request(actor, ids[id], rest), actorName).toEqual(await request(actor, missing, rest));
    }
    // To its owner it makes a difference, so that the question is a real one.
    if (field !== 'since_id') expect(await request(me, ids[id])).not.toEqual(await request(me, missing));
  },
);

/** What a list answers nothing without. */
const needed: Record<string, string> = {
  'GET /v2/campaigns/validate': `code=${support.marker}`,
  'GET /v2/search-users': `lastname=${marker}`,
  'GET /v2/batch/coursedates': `course_ids=${ids.course}`,
};

/** A path that names the actor's own, but for what is told, so that only that or the body names the owner's. */
async function ownPath(actor: Provider, path: string, reported: Record<string, number>) {
  let url = path.replace('{code}', marker);
  for (const [parameter, kind] of Object.entries(support.idsInPath(path))) {
    const value = reported[parameter] ?? (actor === me ? ids[kind] : await rowOf(actor, kind));
    url = url.replace(`{${parameter}}`, String(value));
  }
  return url;
}

/** One row of each kind of an actor's own, made when it is first asked for. */
const makers: Partial<Record<keyof Ids, (actor: Provider) => Promise<number>>> = {
  course: (actor) => actor.course(),
  location: async (actor) => (await actor.post('/v2/locations', { title: 'Own' })).json<{ id: number }>().id,
  instructor: async (actor) => (await actor.post('/v2/instructors', named)).json<{ id: number }>().id,
  customer: async (actor) =>
    (await actor.post('/v2/customers', { title: 'Own' })).json<{ customer_id: number }>().customer_id,
  date: async (actor) => {
    const created = await actor.post(`/v2/courses/${await rowOf(actor, 'course')}/coursedates`, days);
    return created.json<{ coursedate_id: number }>().coursedate_id;
  },
};
const rows = new Map<string, number>();
async function rowOf(actor: Provider, kind: keyof Ids): Promise<number> {
  const key = `${actor.id} ${kind}`;
  if (!rows.has(key)) rows.set(key, await makers[kind]!(actor));
  return rows.get(key)!;
}
/** What the owner's school looks like to itself, and in the database. */
async function everythingOf({ me, ids }: support.Owner, where: typeof testApp) {
  const requests = reads.flatMap((endpoint) => readsOf(endpoint, ids)).filter(({ reach }) => reach === '');
  const responses = await Promise.all(requests.map(async ({ url }) => [url, (await me.get(url)).text]));
  return { answers: responses, rows: await support.dumpRows(where, me.id) };
}

test('writes of others change nothing and reveal nothing', async () => {
  const before = await everythingOf(owner, testApp);
  for (const [actorName, actor] of Object.entries(actors)) {
    for (const { name, method, path } of writes) {
      for (const body of bodies[name]!(ids)) {
        cells += 1;
        const response = await actor.request(method)(support.fillPath(path, ids), body);
        const reported = markedPaths(response.text).filter((one) => !toldOfPersons[name]?.includes(one));
        expect([reported, response.status < 500], `${actorName} ${name}`).toEqual([[], true]);
      }
    }
    const attached = markedPaths((await actor.get('/v2/admin-users')).text);
    expect(attached, actorName).toEqual(toldOfPersons['POST /v2/admin-users']);
    expect(await everythingOf(owner, testApp), actorName).toEqual(before);
  }
});

/** What a list without its scope still hides, and why. */
const hiddenAnyway: Record<string, string> = {
  ...textless,
  'GET /v2/durations': 'the same for all',
  'GET /v2/schools': "the row of the key's own school, not a list",
  'GET /schools': "the row of the key's own school, not a list",
  labels: 'unset in what is not its own',
  'course.reference_internal': 'unset in what is not its own',
  'course.customer': 'unset in what is not its own',
  'lines.database_relations.course': 'unset in what is not its own',
  'lines.database_relations.participants': 'unset in what is not its own',
  campaign: 'unset in what is not its own',
};

test("negative control: without the scope every list shows the owner's data", async () => {
  const open = await openTestApp(openTestDatabase(await ownDatabase()), { guards: { ...allGuards, scope: false } });
  try {
    const theirs = await support.createOwner(open);
    const stranger = await open.createProvider();
    for (const endpoint of reads) {
      const plain = readsOf(endpoint, theirs.ids).filter(({ include, reach }) => include !== undefined && reach === '');
      for (const { url, include } of plain) {
        cells += 1;
        const paths = markedPaths((await stranger.get(url)).text);
        const shown = include ? paths.filter((path) => path.startsWith(`${include}.`)) : paths;
        expect(shown.length > 0, url).toBe(!((include || endpoint.name) in hiddenAnyway));
      }
    }
    // The tests' database refuses a write outside its provider's lock, which would come first here.
    for (const table of ['instructors', 'orders', 'order_lines', 'participants'])
      await open.database.pool.query(`alter table ${table} disable trigger user`);
    const query = [
      () => stranger.put(`/v2/instructors/${theirs.ids.instructor}`, { phone: 'changed' }),
      () => stranger.post(`/v2/orders/${theirs.ids.toExport}/export`),
      () => stranger.put(`/v2/participants/${theirs.ids.participant}`, { idPaid: 1 }),
      () => stranger.put(`/v2/booking/${theirs.ids.booking}/deregister`),
    ];
    for (const request of query) {
      const before = await support.dumpRows(open, theirs.me.id);
      const response = await request();
      expect(response.status, response.text).toBe(200);
      expect(await support.dumpRows(open, theirs.me.id)).not.toEqual(before);
    }
  } finally {
    await open.close();
  }
});
