import { readFileSync } from 'node:fs';
import { encodeBody, contentTypeHeader, type Dialect, type Fields } from './dialects.ts';
import { dereference, idOf } from './openapi.ts';
import { createOrder } from './orders.ts';
import { isServed } from './plugin-list.ts';
import { sampleValue, type FieldSchema } from './sample-values.ts';
import { sharedTestApp, type TestResponse, type Provider } from './test-app.ts';

export * from './dialects.ts';

type BodySchema = { properties: Record<string, FieldSchema>; required?: string[] };
type Operation = {
  requestBody?: { content: Record<string, { schema: BodySchema }> };
  responses: Record<string, unknown>;
};
const { paths } = dereference<{ paths: Record<string, Record<string, Operation>> }>(
  JSON.parse(readFileSync('test/snapshots/openapi.json', 'utf8')) as object,
);
function findOperation(route: string) {
  const [method = '', path = ''] = route.split(' ');
  return paths[path]![method.toLowerCase()]!;
}
const schemaOf = (route: string) => findOperation(route).requestBody!.content['application/json']!.schema;

/** True for the id of an item; codes have an `enum`. */
export function hasId(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { type, minimum, maximum, enum: codes } = schema as FieldSchema;
  if ([type].flat().includes('integer') && minimum === 1 && maximum === undefined && codes === undefined) return true;
  return Object.values(schema).some(hasId);
}

/** A value of each field of a body without an id, or the one given; without those given as undefined. */
function fullBody(route: string, given: Fields): Fields {
  const { properties } = schemaOf(route);
  const unknown = Object.keys(given).filter((name) => !(name in properties));
  if (unknown.length > 0) throw new Error(`${route} takes no ${unknown.join(', ')}`);
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => {
      const value = name in given ? given[name] : hasId(schema) ? undefined : sampleValue(name, schema);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

export const minimalSchool = {
  title: 'My school',
  org_nr: '987654321',
  phone: '+47 22 33 44 55',
  email_admin: 'admin@school.example',
  post_address: 'Storgata 1',
  post_zip: '0155',
  post_city: 'Oslo',
};
const html = '<p class="a">Hei &amp; "hå"</p>\r\n';
const school = { ...minimalSchool, active: false, text_description: html };
const legacyCourse = { active: false, is_part_time: false, price_currency: 'eur', text_description: html };
const course = {
  ...legacyCourse,
  ...{ type: 'internal', tags: [{ title: 'New' }, { title: 'Popular' }], labels: [{ title: 'Red' }] },
  translations: { en: { lead: 'In English', hotelInfo: 'Close' }, 'de-DE': { description: '<b>Auf Deutsch</b>' } },
};
const customer = { country: 'se', web_address: 'https://www.fjord.example/?a=1&b=2', note: 'line\r\nline' };
const user = { email: 'Full@fjord.example', information_gathered_at: '2026-01-02 03:04:05', username: 'Åse & co' };
const address = { address: 'Strandgaten 1', zipcode: '5004', city: 'Bergen' };
const location = { ...address, country: undefined, lat: 60.392, lng: -5.25, timezone: 'Europe/Stockholm' };
const names = { firstname: 'Åse 🚑', lastname: 'Ødegård & Sønn' };
const instructor = { ...names, description: html };
const url = 'https://hooks.example/changed?a=1&b=%41';
const webhook = { url, types: ['course.created', 'coursedate.seats_changed'], payload: 'thin', is_active: false };
const days = { start_at: '2030-06-10', end_at: '2030-06-12' };
const courseDate = {
  ...{ ...days, deadline_at: '2030-06-01', start_time_at: '09:00', end_time_at: '15:30:10', timezone: 'Europe/London' },
  ...{ visible_when_passed_deadline: false, is_visible: false, place_by_search: 'Bergen', status_id: 2 },
  ...{ capacity_max: 5, capacity_min: 1, capacity_overbook: 2, capacity_wait: 4, waiting_mode: 'offer' },
  gatherings: [{ gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30', theme: 'T' }],
};
export const minimalCampaign = { title: 'Early birds', discount_type: 'Percent', discount_value: 10 };
const campaign = { active: false, currency: 'eur', starts_at: '2030-01-01 09:00', ends_at: '2030-06-30' };
const minimalVoucher = { code: 'Gift & co', amount: '500.50' };
const voucher = { ...minimalVoucher, expires_at: '2030-12-31' };
const schoolTexts = {
  en: { greeting: 'Hi & hello', footer: 'A\nB', reply_to: 'a@b.example' },
  no: { greeting: 'Hei' },
};

export const fullSchool = fullBody('PUT /v2/schools', school);
export const fullCourse = fullBody('POST /v2/courses', course);
export const fullCustomer = fullBody('POST /v2/customers', customer);
/** Location fields that are returned unchanged. */
export const fullLocation = fullBody('POST /v2/locations', location);

let created = 0;
const unique = (text: string) => `${text}-${process.pid}-${(created += 1)}`;
/** Unique, since an existing address refers to the same admin user for every provider. */
export const newEmail = () => `${unique('person')}@people.example`;
export const minimalPerson = () => ({ email: newEmail(), role_ids: [1], ...names });

export type WriteEndpoint = {
  name: string;
  method: 'POST' | 'PUT';
  /** A path, or a function that creates a row and returns its path. */
  url: string | ((provider: Provider) => Promise<string>);
  created: number;
  /** Fields that must be unique are generated: `fresh` has their names. */
  minimal: Fields;
  full: Fields;
  fresh: string[];
  /** All fields of the body. */
  names: string[];
  /** Missing fields of an empty form. */
  required: string[];
  /** A trimmed field that may not be blank; null if there is none. */
  title: string | null;
  /** A boolean field; null if there is none. */
  flag: string | null;
  /** Reads the item back. */
  read(provider: Provider, response: TestResponse): Promise<Fields>;
};

const readCourse: WriteEndpoint['read'] = async (provider, response) => {
  const id = Number(response.json<{ course_id: number | string }>().course_id);
  return (await provider.get(`/v2/courses?limit=1&since_id=${id - 1}`)).json<Fields[]>()[0]!;
};
const readSchool = async (provider: Provider, key = provider.apiKey) =>
  (await provider.get('/v2/schools', { 'x-api-key': key })).json<{ school: Fields }>().school;
const readById =
  (url: string): WriteEndpoint['read'] =>
  async (provider, response) =>
    (await provider.get(`${url}/${idOf(response.json())}`)).json<Fields>();
const readListed =
  (url: string): WriteEndpoint['read'] =>
  async (provider, response) => {
    const { id } = response.json<{ id: number }>();
    return (await provider.get(url)).json<Fields[]>().find((item) => item['id'] === id)!;
  };
/** A school has at most 20. */
const readAndDeleteWebhook: WriteEndpoint['read'] = async (provider, response) => {
  const item = await readById('/v2/webhooks')(provider, response);
  await provider.request('DELETE')(`/v2/webhooks/${String(item['id'])}`);
  return item;
};
const readParticipant: WriteEndpoint['read'] = async (provider, response) => {
  const { id } = response.json<{ id: number }>();
  const item = (await provider.get(`/v2/participants/${id}`)).json<Fields>();
  const names = ['idPaid', 'completed', 'passed', 'no_show', 'custom_properties', 'status', 'paid'];
  const others = ['user_comment', 'certificate_issued_at'];
  return Object.fromEntries([...names, ...others].map((name) => [name, item[name]]));
};
const readOrder: WriteEndpoint['read'] = async (provider, response) => {
  const { id } = response.json<{ id: number }>();
  const item = (await provider.get(`/v2/orders/${id}`)).json<Fields>();
  const names = Object.keys(item).filter((name) => /^(is_paid|your_reference|invoice_\w+)$/.test(name));
  return Object.fromEntries(names.map((name) => [name, item[name]]));
};
const readDeregistered: WriteEndpoint['read'] = async (provider, response) => {
  const { participants } = response.json<{ participants: { id: number }[] }>();
  const { status } = (await provider.get(`/v2/participants/${participants[0]!.id}`)).json<Fields>();
  return { status };
};
const readCourseDate: WriteEndpoint['read'] = async (provider, response) => {
  const { course_id, coursedate_id } = response.json<Record<string, number>>();
  const url = `/v2/courses/${course_id!}/coursedates/${coursedate_id!}?include=gatherings,place`;
  const { gatherings, ...date } = (await provider.get(url)).json<Fields & { gatherings: Fields[] }>();
  return { ...date, gatherings: gatherings.map((gathering) => omitVolatile(gathering, ['idInstance'])) };
};

/** Memoises per provider. */
function oncePerProvider(make: (provider: Provider) => Promise<string>) {
  const created = new WeakMap<Provider, Promise<string>>();
  return (provider: Provider) => {
    const url = created.get(provider) ?? make(provider);
    created.set(provider, url);
    return url;
  };
}
/** Path of the item that a write created. */
const itemPath = (url: string, fields: Fields) =>
  oncePerProvider(async (provider) => `${url}/${idOf((await provider.post(url, fields)).json())}`);
const datesUrl = oncePerProvider(
  async (provider) => `/v2/courses/${await provider.course({ title: 'Dated' })}/coursedates`,
);
const dateUrl = oncePerProvider(async (provider) => {
  const url = await datesUrl(provider);
  return `${url}/${(await provider.post(url, days)).json<{ coursedate_id: number }>().coursedate_id}`;
});

const participantUrl = oncePerProvider(async (provider) => {
  const { participantIds } = await createOrder(provider, { courseId: await provider.course() });
  return `/v2/participants/${participantIds[0]!}`;
});
const orderUrl = oncePerProvider(async (provider) => {
  const { orderId } = await createOrder(provider, { courseId: await provider.course() });
  return `/v2/orders/${orderId}`;
});
const deregisterUrl = oncePerProvider(async (provider) => {
  const { bookingId } = await createOrder(provider, { courseId: await provider.course() });
  return `/v2/booking/${bookingId}/deregister`;
});

type Described = {
  /** Values that the schema of the body cannot give; undefined for a field that is not sent. */
  given?: Fields;
  /** The fewest fields, by default those that are required, or of an update the title. */
  minimal?: Fields;
  /** Fields that must be unique. */
  fresh?: () => Fields;
  /** Path of the item, or fields of an item that a write to the path above it creates. */
  of?: Fields | ((provider: Provider) => Promise<string>);
  /** Null for a title that may be blank. */
  title?: null;
  /** The default reads the item below the path. */
  read?: WriteEndpoint['read'];
};
const changed = { title: 'To be changed' };
const readSettings =
  (url: string): WriteEndpoint['read'] =>
  async (provider) =>
    (await provider.get(url)).json<Fields>();
const listedTag = readListed('/v2/course-tags');
const listedLocation = readListed('/v2/locations');
const newUser = () => ({ email: newEmail(), username: unique('User & ') });

const described: Record<string, Described> = {
  'POST /v2/courses': { given: course, read: readCourse },
  'PUT /v2/schools': { given: school, read: (provider) => readSchool(provider) },
  'POST /schools': {
    given: school,
    read: (provider, response) => readSchool(provider, response.json<{ api_key: string }>().api_key),
  },
  'POST /courses': { given: legacyCourse, read: readCourse },
  'PUT /v2/courses/{id}': { given: course, of: changed, read: readCourse },
  'POST /v2/course-tags': { read: listedTag },
  'PUT /v2/course-tags/{id}': { of: changed },
  'PUT /v2/booking-settings': {
    given: { self_cancellation: true, mails: { receipt: true, offer: false }, texts: schoolTexts },
    read: readSettings('/v2/booking-settings'),
  },
  'PUT /v2/catalog-settings': {
    given: { enabled: false, slug: undefined, index: false, withdrawal_text: 'Fourteen days & no longer\n- by mail' },
    read: readSettings('/v2/catalog-settings'),
  },
  'POST /v2/courses/{course_id}/coursedates': { given: courseDate, of: datesUrl, title: null, read: readCourseDate },
  'PUT /v2/courses/{course_id}/coursedates/{id}': {
    ...{ given: courseDate, minimal: days, of: dateUrl, title: null, read: readCourseDate },
  },
  'POST /v2/locations': { given: location, read: listedLocation },
  'PUT /v2/locations/{id}': { given: location, of: changed, read: listedLocation },
  'PUT /v2/participants/{id}': {
    given: {
      ...{ idStatus: 7, idPaid: 1, no_show: false, user: { ...names, email: 'liv@people.example' } },
      certificate_issued_at: '2030-01-02',
    },
    ...{ minimal: { idPaid: 1 }, of: participantUrl, read: readParticipant },
  },
  'PUT /v2/orders/{id}': { given: { is_paid: true, paid_at: undefined }, of: orderUrl, read: readOrder },
  'PUT /v2/booking/{id}/deregister': { of: deregisterUrl, read: readDeregistered },
  'POST /v2/webhooks': { given: webhook, read: readAndDeleteWebhook },
  'PUT /v2/webhooks/{id}': {
    ...{ given: webhook, minimal: { url }, of: { url: 'https://hooks.example' } },
  },
  'POST /v2/customers': { given: customer },
  'PUT /v2/customers/{id}': { given: customer, of: changed },
  'POST /v2/course-users': { given: user, fresh: newUser },
  'PUT /v2/course-users/{id}': { given: user, of: { ...names, email: 'ase@fjord.example' } },
  'POST /v2/instructors': { given: instructor },
  'PUT /v2/instructors/{id}': { given: instructor, minimal: names, of: { firstname: 'Kari', lastname: 'Nordmann' } },
  'POST /v2/campaigns': {
    ...{ given: campaign, minimal: minimalCampaign, fresh: () => ({ campaign_code: unique('Code & ') }) },
  },
  'PUT /v2/campaigns/{id}': { given: campaign, of: minimalCampaign },
  'POST /v2/vouchers': { given: { ...voucher, currency: 'eur' } },
  'PUT /v2/vouchers/{id}': {
    ...{ given: voucher, minimal: minimalVoucher, of: { code: 'To be changed', amount: 1 } },
  },
  'POST /v2/admin-users': {
    ...{ given: { role_ids: [1], send_invite: false }, minimal: { role_ids: [1], ...names } },
    ...{ fresh: () => ({ email: newEmail() }), read: readListed('/v2/admin-users') },
  },
};

/** An endpoint as the OpenAPI document and the table describe it. */
function toEndpoint(route: string, { given = {}, fresh, of, ...own }: Described): WriteEndpoint {
  const [method, path] = route.split(' ') as ['POST' | 'PUT', string];
  const { properties, required = [] } = schemaOf(route);
  const above = path.replace(/\/\{id\}$/, '');
  const full = fullBody(route, given);
  const find = (isFound: (schema: FieldSchema, name: string) => boolean) =>
    Object.keys(properties).find((name) => isFound(properties[name]!, name)) ?? null;
  const { title = find(({ minLength }, name) => minLength === 1 && /^(title|lastname)$/.test(name)) } = own;
  const needed = method === 'PUT' && required.length === 0 ? [title].flatMap((name) => name ?? []) : required;
  const minimal = own.minimal ?? Object.fromEntries(needed.map((name) => [name, full[name]]));
  const generated = fresh?.() ?? {};
  const pick = (names: string[]) =>
    Object.fromEntries(Object.entries(fresh?.() ?? {}).filter(([name]) => names.includes(name)));
  return {
    ...{ name: route.replaceAll(/\{\w+\}/g, ':id'), method, required, title, names: Object.keys(properties) },
    url: typeof of === 'function' ? of : of ? itemPath(above, of) : path,
    created: Math.max(
      ...Object.keys(findOperation(route).responses)
        .filter((status) => status < '3')
        .map(Number),
    ),
    get minimal() {
      return { ...minimal, ...pick(required) };
    },
    get full() {
      return { ...full, ...fresh?.() };
    },
    fresh: Object.keys(generated),
    flag: find(({ type }) => [type].flat().includes('boolean')),
    read: own.read ?? readById(above),
  };
}

/** Writes with tests of their own. */
const writesApart = ['POST /v2/booking', 'POST /v2/batch/booking', 'POST /v2/check-user-credentials'];
/** Creates that are not described above, whose items are read in their list. */
const otherCreates = Object.entries(paths).flatMap(([path, { post }]) => {
  const route = `POST ${path}`;
  const isOther = post?.requestBody && !path.includes('{') && !(route in described) && !writesApart.includes(route);
  return isOther ? [toEndpoint(route, { read: readListed(path) })] : [];
});

export const writeEndpoints = [
  ...Object.entries(described)
    .filter(([route]) => isServed({ route }))
    .map(([route, own]) => toEndpoint(route, own)),
  ...otherCreates,
];

/** The endpoint of `PUT /v2/courses/{id}`, with the names of parameters or with `:id`. */
export const findWriteEndpoint = (route: string) =>
  writeEndpoints.find(({ name }) => name === route.replaceAll(/\{\w+\}/g, ':id'));

export const endpointUrl = async (provider: Provider, { url }: WriteEndpoint) =>
  typeof url === 'string' ? url : url(provider);

export const fieldNames = ({ names }: WriteEndpoint) => names;

export const sendWrite = async (provider: Provider, endpoint: WriteEndpoint, dialect: Dialect, fields: Fields) =>
  provider.request(endpoint.method)(
    await endpointUrl(provider, endpoint),
    encodeBody(dialect, fields),
    contentTypeHeader(dialect),
  );

export const sendRawWrite = async (provider: Provider, endpoint: WriteEndpoint, type: string, body: string | Buffer) =>
  provider.request(endpoint.method)(await endpointUrl(provider, endpoint), body, { 'content-type': type });

export type FieldErrors = { missing: string[]; notValid: string[] };

/** Field names in a validation error of either interface. */
export function fieldErrors({ text }: { text: string }): FieldErrors {
  type ErrorBody = { error?: string; errors?: { missing_fields: string[]; not_valid: string[] } | object[] };
  const { error = '', errors } = JSON.parse(text) as ErrorBody;
  if (errors && !Array.isArray(errors)) return { missing: errors.missing_fields, notValid: errors.not_valid };
  const after = (words: string) => error.split(`${words}: `)[1]?.split('. ')[0]?.split(',') ?? [];
  return { missing: after('Missing field(s)'), notValid: after('Field(s) not valid') };
}

/** Row counts of a provider. */
export async function countRows(provider: Provider) {
  const { database } = await sharedTestApp();
  const { rows } = await database.pool.query<{ count: number }>(
    `select (select count(*) from courses where provider_id = $1)
      + (select count(*) from providers where parent_id = $1)
      + (select count(*) from tags where provider_id = $1)
      + (select count(*) from course_dates where provider_id = $1)
      + (select count(*) from locations where provider_id = $1)
      + (select count(*) from customers where provider_id = $1)
      + (select count(*) from instructors where provider_id = $1)
      + (select count(*) from course_users where provider_id = $1)
      + (select count(*) from campaigns where provider_id = $1)
      + (select count(*) from vouchers where provider_id = $1)
      + (select count(*) from admin_memberships where provider_id = $1) as count`,
    [provider.id],
  );
  return rows[0]!.count;
}

let stateQuery: Promise<string> | undefined;
/** A statement that reads all rows of a provider and the admin users created in this run. */
async function buildStateQuery() {
  const { database } = await sharedTestApp();
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_name = 'provider_id' and t.table_type = 'BASE TABLE'
        and c.table_name not in ('api_keys', 'api_key_uses', 'provider_state') order by 1`,
  );
  const wheres = [
    ...tables.map(({ name }) => [name, 'provider_id = $1']),
    ['providers', '$1 in (id, parent_id)'],
    ['admin_users', `email ilike '%person-${process.pid}-%'`],
  ];
  // Excludes columns of the outbox that mail workers of other tests update.
  const rowOf = (name: string) => (name === 'outbox' ? 't.id::text' : 't::text');
  const hashes = wheres.map(
    ([name, where]) =>
      `(select coalesce(md5(string_agg(${rowOf(name!)}, '' order by ${rowOf(name!)})), 'none') from ${name} t where ${where})`,
  );
  return `select concat_ws(' ', ${hashes.join(', ')}) as state`;
}

/** Hash of all rows of a provider. */
export async function hashRows(provider: Provider) {
  const { database } = await sharedTestApp();
  const text = await (stateQuery ??= buildStateQuery());
  const { rows } = await database.pool.query<{ state: string }>({ name: 'state', text, values: [provider.id] });
  return rows[0]!.state;
}

/** Omits values that differ between two creations, and unique fields. */
export function omitVolatile(item: Fields, fresh: string[] = []): Fields {
  const timestamps = ['created_at', 'updated_at', 'related_items_updated_at'];
  const volatile = ['id', 'course_id', 'coursedate_id', 'catalog_url', ...timestamps, ...fresh];
  const remaining = Object.entries(item).filter(([name]) => !volatile.includes(name));
  return Object.fromEntries(
    remaining.map(([name, value]) => [
      name,
      name === 'tags' ? (value as Fields[]).map(({ title }) => title).sort() : value,
    ]),
  );
}
