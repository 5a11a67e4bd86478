import fc from 'fast-check';
import { sharedWorld, type Answer, type Provider } from './world.ts';

/** The three ways to send a write. */
export const dialects = ['form', 'multipart', 'json'] as const;
export type Dialect = (typeof dialects)[number];
export type Fields = Record<string, unknown>;

export const contentTypes: Record<Dialect, string> = {
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary=edge',
  json: 'application/json',
};

/** Names and texts as PHP writes them: `tags[0][title]`, `true` as 1, null as an empty text. */
export function pairsOf(value: unknown, name = ''): [string, string][] {
  if (value === undefined) return [];
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, part]) => pairsOf(part, name === '' ? key : `${name}[${key}]`));
  }
  if (value === null) return [[name, '']];
  if (typeof value === 'boolean') return [[name, value ? '1' : '0']];
  return [[name, `${value as string | number}`.toWellFormed()]];
}

export const formOf = (pairs: [string, string][]) =>
  pairs.map(([name, text]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(text)}`).join('&');

const quoted = (name: string) => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
export const multipartOf = (pairs: [string, string][]) =>
  `${pairs
    .map(([name, text]) => `--edge\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${text}\r\n`)
    .join('')}--edge--\r\n`;

export function encoded(dialect: Dialect, fields: Fields) {
  if (dialect === 'json') return JSON.stringify(fields);
  return dialect === 'form' ? formOf(pairsOf(fields)) : multipartOf(pairsOf(fields));
}

export const typed = (dialect: Dialect) => ({ 'content-type': contentTypes[dialect] });

export const minimalSchool = {
  title: 'My school',
  org_nr: '987654321',
  phone: '+47 22 33 44 55',
  email_admin: 'admin@school.example',
  post_address: 'Storgata 1',
  post_zip: '0155',
  post_city: 'Oslo',
};

export const fullSchool = {
  ...minimalSchool,
  active: false,
  reference: 'S-1',
  email: 'post@school.example',
  email_booking: 'booking@school.example',
  email_more_info: 'info@school.example',
  visit_address: 'Lillegata 2',
  visit_zip: '0156',
  visit_city: 'Oslø',
  web_address: 'https://school.example/?a=1&b=2',
  text_tagline: 'Learn + grow = 100 % 🎓',
  text_description: '<p class="a">Hei &amp; hå\n</p>',
};

export const fullLegacyCourse = {
  title: 'Førstehjelp 🚑 & more',
  active: false,
  reference: 'R+1 %41',
  is_full_time: true,
  is_part_time: false,
  level: 13,
  form_of_teaching: 21,
  teaching_language: 'sv-SE',
  time_of_day: 2,
  duration_value: 3,
  duration_unit: 2,
  price_value: 1500,
  price_currency: 'eur',
  price_comment: 'per person',
  text_lead: 'Short',
  text_description: '<p>Long &amp; "quoted"</p>\r\n',
  text_place: 'Room 1',
  text_prerequisites: 'None',
  text_duration: 'Three weeks',
  text_credits: '5',
  text_submissions: 'Two',
  text_hotel_info: 'Nearby',
  text_audience: 'All',
  email_booking: 'booking@school.example',
  email_more_info: 'info@school.example',
};

export const fullCourse = {
  ...fullLegacyCourse,
  tags: [{ title: 'New' }, { title: 'Popular' }],
  labels: [{ title: 'Red' }],
  external_booking_url: 'https://school.example/book?x=1&y=2',
  external_more_info_url: 'http://school.example/info',
  type: 'internal',
  publishing_platform: 'own',
  visit_address: 'Storgata 1',
  visit_address2: '2nd floor',
  visit_zipcode: '0155',
  visit_city: 'Oslo',
  custom_properties: { colour: 'green', 'cost centre': '12' },
  translations: { en: { lead: 'In English', hotelInfo: 'Close' }, 'de-DE': { description: '<b>Auf Deutsch</b>' } },
};

export type Write = {
  name: string;
  method: 'POST' | 'PUT';
  url: string;
  created: number;
  minimal: Fields;
  full: Fields;
  /** What the interface then shows of the thing written. */
  read(provider: Provider, answer: Answer): Promise<Fields>;
};

const readCourse: Write['read'] = async (provider, answer) => {
  const id = Number(answer.json<{ course_id: number | string }>().course_id);
  return (await provider.get(`/v2/courses?limit=1&since_id=${id - 1}`)).json<Fields[]>()[0]!;
};
const readSchool = async (provider: Provider, key = provider.apiKey) =>
  (await provider.get('/v2/schools', { 'x-api-key': key })).json<{ school: Fields }>().school;

export const writes: Write[] = [
  {
    name: 'POST /v2/courses',
    method: 'POST',
    url: '/v2/courses',
    created: 201,
    minimal: { title: 'My course' },
    full: fullCourse,
    read: readCourse,
  },
  {
    name: 'PUT /v2/schools',
    method: 'PUT',
    url: '/v2/schools',
    created: 200,
    minimal: minimalSchool,
    full: fullSchool,
    read: (provider) => readSchool(provider),
  },
  {
    name: 'POST /schools',
    method: 'POST',
    url: '/schools',
    created: 200,
    minimal: minimalSchool,
    full: fullSchool,
    read: (provider, answer) => readSchool(provider, answer.json<{ api_key: string }>().api_key),
  },
  {
    name: 'POST /courses',
    method: 'POST',
    url: '/courses',
    created: 200,
    minimal: { title: 'My course' },
    full: fullLegacyCourse,
    read: readCourse,
  },
];

/** Who pays, in full. */
export const fullCustomer = {
  title: 'Førstehjelp & Sønn',
  department: 'Innkjøp',
  type: 2,
  orgnr: '912 345 678',
  email: 'post@fjord.example',
  phone: '+47 1',
  fax: '+47 2',
  web_address: 'www.fjord.example',
  customer_reference_id: 'K-1',
  country: 'se',
  post_address_1: 'p1',
  post_address_2: 'p2',
  post_address_3: 'p3',
  post_zipcode: 'p4',
  post_city: 'p5',
  invoice_address_1: 'i1',
  invoice_address_2: 'i2',
  invoice_address_3: 'i3',
  invoice_zipcode: 'i4',
  invoice_city: 'i5',
  invoice_customer_reference: 'theirs',
  invoice_due_days: 30,
  invoice_email: 'invoice@fjord.example',
  office_address_1: 'o1',
  office_address_2: 'o2',
  office_address_3: 'o3',
  office_zipcode: 'o4',
  office_city: 'o5',
  note: 'Note',
  status: 2,
};

/** What of a location reads back as it was sent. */
export const fullLocation = {
  title: 'The hall',
  custom_title: 'Room 1 & 2',
  address: 'Strandgaten 1',
  address2: '2nd floor',
  address3: 'At the back',
  zipcode: '5004',
  city: 'Bergen',
  state: 'State',
  county: 'Vestland',
  lat: 60.392,
  lng: -5.25,
  timezone: 'Europe/Stockholm',
  long_text: '<p>Long</p>',
  short_text: 'Short',
  short_text_2: 'Shorter',
  email_booking: 'booking@x.example',
  email_moreinfo: 'more@x.example',
  capacity_min: 1,
  capacity_max: 2,
  capacity_overbook: 3,
  capacity_wait: 4,
  capacity_budget: 5,
  cancellation_days: 6,
  notification_days: 7,
  is_default: true,
  is_archived: true,
  is_virtual: true,
  is_notification_enabled: true,
};

const idOf = (url: string, fields: Fields) => async (provider: Provider) => {
  const ids = Object.values((await provider.post(url, fields)).json<Record<string, number>>());
  return `${url}/${ids[0]!}`;
};

/** Further writes to be sent anything: `url` makes, for a provider, what they change, if they change something. */
export const furtherWrites: (Pick<Write, 'name' | 'method' | 'minimal' | 'full'> & {
  url(provider: Provider): Promise<string>;
})[] = [
  {
    name: 'PUT /v2/courses/:id',
    method: 'PUT',
    url: idOf('/v2/courses', { title: 'To be changed' }),
    minimal: {},
    full: fullCourse,
  },
  {
    name: 'POST /v2/course-tags',
    method: 'POST',
    url: async () => '/v2/course-tags',
    minimal: { title: 'Tag' },
    full: { title: 'Tag' },
  },
  {
    name: 'POST /v2/customers',
    method: 'POST',
    url: async () => '/v2/customers',
    minimal: { title: 'Customer' },
    full: fullCustomer,
  },
  {
    name: 'PUT /v2/customers/:id',
    method: 'PUT',
    url: idOf('/v2/customers', { title: 'To be changed' }),
    minimal: {},
    full: fullCustomer,
  },
  {
    name: 'POST /v2/locations',
    method: 'POST',
    url: async () => '/v2/locations',
    minimal: { title: 'Location' },
    full: fullLocation,
  },
  {
    name: 'PUT /v2/locations/:id',
    method: 'PUT',
    url: idOf('/v2/locations', { title: 'To be changed' }),
    minimal: {},
    full: fullLocation,
  },
];

/** Sends a write in one dialect. */
export const write = (provider: Provider, { method, url }: Write, dialect: Dialect, fields: Fields) =>
  provider.request(method)(url, encoded(dialect, fields), typed(dialect));

/** Sends a raw body to a write. */
export const writeRaw = (provider: Provider, { method, url }: Write, type: string, body: string | Buffer) =>
  provider.request(method)(url, body, { 'content-type': type });

/** How many rows a provider's writes left behind: its courses and sub-schools. */
export async function countOf(provider: Provider) {
  const { database } = await sharedWorld();
  const { rows } = await database.pool.query<{ count: number }>(
    `select (select count(*) from courses where provider_id = $1)
      + (select count(*) from providers where parent_id = $1) as count`,
    [provider.id],
  );
  return rows[0]!.count;
}

/** Without what differs from one creation to the next. */
export function lasting(item: Fields): Fields {
  const volatile = ['id', 'created_at', 'updated_at', 'related_items_updated_at'];
  const kept = Object.entries(item).filter(([name]) => !volatile.includes(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'tags' ? (value as Fields[]).map(({ title }) => title).sort() : value]),
  );
}

/** Values that have broken services before. */
export const poison = fc.constantFrom<unknown>(
  ...['\0', 'a\0b', '\uD800', '\uFFFD', '2147483648', '9007199254740993', '9223372036854775808', '1e400', '-1', '0'],
  ...['2026-02-30', '0000-01-01', '9999-12-31', '10000-01-01', 'infinity', '-infinity', 'now', 'NaN', '%ff', '%', '+'],
  ...['__proto__', 'constructor', 'a[__proto__][x]', '[]', '{}', '[[', '{"__proto__":{"x":1}}', '[{"id":1e400}]'],
  ...['👩‍👩‍👧‍👦', 'а', 'Ａ', '\u202E', '\u0000', 'ß', 'İ', "'; drop table courses; --", "' or 1=1", '${1}', '$1', '\\', '"'],
  ...['x'.repeat(70_000), '🚑'.repeat(300), ' ', '\t', '\u00A0', '', ',', ',,,', '1,2,x', 'true', '../../etc/passwd'],
  ...[true, false, null, 0, -1, 1.5, 1e400, 9007199254740993, [], {}, [[]], [null], { a: { b: { c: 1 } } }, ['a', 'a']],
);
