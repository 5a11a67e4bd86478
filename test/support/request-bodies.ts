import { encodeBody, contentTypeHeader, type Dialect, type Fields } from './dialects.ts';
import type { Owner } from './isolation.ts';
import { writeTable } from './isolation-table.ts';
import { createOrder } from './orders.ts';
import { isServed } from './plugin-list.ts';
import { sharedTestApp, type TestResponse, type Provider } from './test-app.ts';

export * from './dialects.ts';

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

export const fullCustomer = {
  title: 'Førstehjelp 🚑 & Sønn',
  department: 'Innkjøp + salg',
  type: 2,
  orgnr: '912 345 678',
  email: 'post@fjord.example',
  phone: '+47 1',
  fax: '+47 2',
  web_address: 'https://www.fjord.example/?a=1&b=2',
  customer_reference_id: 'K-1 %41',
  country: 'se',
  post_address_1: 'Storgata 1',
  post_address_2: 'p2',
  post_address_3: 'p3',
  post_zipcode: '0001',
  post_city: 'Oslø',
  invoice_address_1: 'i1',
  invoice_address_2: 'i2',
  invoice_address_3: 'i3',
  invoice_zipcode: '0002',
  invoice_city: 'ic',
  invoice_customer_reference: 'their "reference"',
  invoice_due_days: 30,
  invoice_email: 'invoice@fjord.example',
  office_address_1: 'o1',
  office_address_2: 'o2',
  office_address_3: 'o3',
  office_zipcode: '0003',
  office_city: 'oc',
  note: 'line\r\nline',
  status: 2,
};

const minimalUser = { firstname: 'Åse', lastname: 'Ødegård & Sønn', email: 'ase@fjord.example' };
const fullUser = {
  firstname: 'Åse 🚑',
  lastname: 'Ødegård',
  email: 'Full@fjord.example',
  phone: '+47 1',
  company: 'Fjord = 100 %',
  orgnr: '912 345 678',
  position: 'Leder & sjef',
  department: 'Innkjøp + salg',
  legaldepartment: 'l',
  date_of_birth: '1980-02-29',
  invoice_address_1: 'i1',
  invoice_address_2: 'i2',
  invoice_address_3: 'i3',
  invoice_zipcode: '0002',
  invoice_city: 'ic',
  invoice_phone: '+47 2',
  home_address_1: 'h1',
  home_address_2: 'h2',
  home_address_3: 'h3',
  home_zipcode: '0003',
  home_city: 'hc',
  work_address_1: 'w1',
  work_address_2: 'w2',
  work_address_3: 'w3',
  work_zipcode: '0004',
  work_city: 'Oslø',
  external_id: 'E-1 %41',
  company_employee_number: '17',
  custom_properties: { colour: 'green' },
  information_gathered_at: '2026-01-02 03:04:05',
};

/** Location fields that are returned unchanged. */
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

const names = { firstname: 'Åse 🚑', lastname: 'Ødegård & Sønn' };

export const fullInstructor = {
  ...names,
  phone_prefix: '+47',
  phone: '99 88 77 66',
  email: 'kari@school.example',
  position: 'Leder & sjef',
  company: 'Fjord = 100 %',
  description: '<p>Teaches</p>\r\n',
  show_on_web: true,
};

const fullWebhook = {
  url: 'https://hooks.example/changed?a=1&b=%41',
  types: ['course.created', 'coursedate.seats_changed'],
  description: 'Fjord & Sønn = 100 %',
  payload: 'thin',
  is_active: false,
};

const days = { start_at: '2030-06-10', end_at: '2030-06-12' };

export const fullCourseDate = {
  ...days,
  deadline_at: '2030-06-01',
  start_time_at: '09:00',
  end_time_at: '15:30:10',
  timezone: 'Europe/London',
  visible_when_passed_deadline: false,
  teaching_language: 'en',
  place_by_search: 'Bergen',
  place_additional_info: 'Door 2 & 3',
  status_id: 2,
  reference: 'R+1 %41',
  is_visible: false,
  is_virtual: true,
  event_url: 'https://e.example/?a=1&b=2',
  external_booking_url: 'https://b.example',
  trigger_value: 'june',
  title: 'Knots, June',
  capacity_max: 5,
  capacity_min: 1,
  capacity_overbook: 2,
  capacity_wait: 4,
  waiting_mode: 'offer',
  offer_hours: 48,
  custom_properties: { room: 'A' },
  gatherings: [{ gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30', theme: 'T' }],
};

let codes = 0;
const newCode = () => `Code & ${process.pid} ${(codes += 1)}`;

export const minimalCampaign = { title: 'Early birds', discount_type: 'Percent', discount_value: 10 };
export const fullCampaign = {
  title: 'Tidlig ute & mer 🚑',
  type: 'Agreement',
  active: false,
  currency: 'eur',
  discount_type: 'Value',
  discount_value: 99.95,
  starts_at: '2030-01-01 09:00',
  ends_at: '2030-06-30',
  max_uses: 50,
};
const minimalVoucher = { code: 'Gift & co', amount: '500.50' };

let people = 0;
/** Unique, since an existing address refers to the same admin user for every provider. */
export const newEmail = () => `person-${process.pid}-${(people += 1)}@people.example`;

const newUsername = () => `User & ${process.pid} ${(people += 1)}`;

export const minimalPerson = () => ({ email: newEmail(), role_ids: [1], ...names });

export const fullPerson = () => ({
  ...minimalPerson(),
  position: 'Leder & sjef',
  phone_prefix: '+47',
  phone: '22 33 44 55',
  booking_email: 'booking@people.example',
  send_invite: false,
});

export type WriteEndpoint = {
  name: string;
  method: 'POST' | 'PUT';
  /** A path, or a function that creates a row and returns its path. */
  url: string | ((provider: Provider) => Promise<string>);
  created: number;
  /** Fields that must be unique are generated: `fresh` has their names. */
  minimal: Fields;
  full: Fields;
  fresh?: string[];
  /** Id fields, which are not in `full`. */
  ids?: string[];
  /** Missing fields of an empty form; the minimal fields by default. */
  required?: string[];
  /** A trimmed field that may not be blank; `title` by default, null if there is none. */
  title?: string | null;
  /** A boolean field; `active` by default, null if there is none. */
  flag?: string | null;
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
  (url: string, name = 'id'): WriteEndpoint['read'] =>
  async (provider, response) =>
    (await provider.get(`${url}/${response.json<Record<string, number>>()[name]!}`)).json<Fields>();
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
const itemPath = (url: string, fields: Fields, name = 'id') =>
  oncePerProvider(
    async (provider) => `${url}/${(await provider.post(url, fields)).json<Record<string, number>>()[name]!}`,
  );
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

const describedEndpoints: WriteEndpoint[] = [
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
    read: (provider, response) => readSchool(provider, response.json<{ api_key: string }>().api_key),
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
  {
    name: 'PUT /v2/courses/:id',
    method: 'PUT',
    url: itemPath('/v2/courses', { title: 'To be changed' }, 'course_id'),
    created: 200,
    minimal: { title: 'My course, changed' },
    full: fullCourse,
    required: [],
    read: readCourse,
  },
  {
    name: 'POST /v2/course-tags',
    method: 'POST',
    url: '/v2/course-tags',
    created: 201,
    minimal: { title: 'Tag' },
    full: { title: 'Tag & co' },
    flag: null,
    read: readListed('/v2/course-tags'),
  },
  {
    name: 'PUT /v2/course-tags/:id',
    method: 'PUT',
    url: itemPath('/v2/course-tags', { title: 'To be changed' }),
    created: 200,
    minimal: { title: 'Tag' },
    full: { title: 'Tag & co' },
    required: [],
    flag: null,
    read: readById('/v2/course-tags'),
  },
  {
    name: 'PUT /v2/booking-settings',
    method: 'PUT',
    url: '/v2/booking-settings',
    created: 200,
    minimal: {},
    full: {
      ...{ self_cancellation: true, late_cancellation: 'fee', language: 'no', mails: { receipt: true, offer: false } },
      texts: { en: { greeting: 'Hi & hello', footer: 'A\nB', reply_to: 'a@b.example' }, no: { greeting: 'Hei' } },
    },
    required: [],
    title: null,
    flag: 'self_cancellation',
    read: async (provider) => (await provider.get('/v2/booking-settings')).json<Fields>(),
  },
  {
    name: 'PUT /v2/catalog-settings',
    method: 'PUT',
    url: '/v2/catalog-settings',
    created: 200,
    minimal: {},
    full: {
      ...{ enabled: false, theme: { accent: '#0b5a8a', background: '#ffffff', font: 'serif' }, index: false },
      fields: { phone: 'required', company: 'off', date_of_birth: 'optional' },
      ...{ terms_url: 'https://school.example/terms?a=1&b=2', privacy_url: 'http://school.example/privacy' },
      withdrawal_text: 'Fourteen days & no longer\n- by mail',
    },
    required: [],
    title: null,
    flag: 'index',
    read: async (provider) => (await provider.get('/v2/catalog-settings')).json<Fields>(),
  },
  {
    name: 'POST /v2/courses/:id/coursedates',
    method: 'POST',
    url: datesUrl,
    created: 201,
    minimal: days,
    full: fullCourseDate,
    ids: ['place_id', 'location_id', 'instructors', 'parent_id'],
    title: null,
    flag: 'is_visible',
    read: readCourseDate,
  },
  {
    name: 'PUT /v2/courses/:id/coursedates/:id',
    method: 'PUT',
    url: dateUrl,
    created: 200,
    minimal: days,
    full: fullCourseDate,
    ids: ['place_id', 'location_id', 'instructors', 'parent_id'],
    required: [],
    title: null,
    flag: 'is_visible',
    read: readCourseDate,
  },
  {
    name: 'POST /v2/locations',
    method: 'POST',
    url: '/v2/locations',
    created: 201,
    minimal: { title: 'My location' },
    full: fullLocation,
    ids: ['country', 'place_id', 'idInstructor'],
    flag: 'is_virtual',
    read: readListed('/v2/locations'),
  },
  {
    name: 'PUT /v2/locations/:id',
    method: 'PUT',
    url: itemPath('/v2/locations', { title: 'To be changed' }),
    created: 200,
    minimal: { title: 'My location' },
    full: fullLocation,
    ids: ['country', 'place_id', 'idInstructor'],
    required: [],
    flag: 'is_virtual',
    read: readListed('/v2/locations'),
  },
  {
    name: 'PUT /v2/participants/:id',
    method: 'PUT',
    url: participantUrl,
    created: 200,
    minimal: { idPaid: 1 },
    full: {
      ...{ idStatus: 7, idPaid: 1, completed: true, passed: true, no_show: false, custom_properties: { room: 'A' } },
      ...{
        user: { ...names, email: 'liv@people.example' },
        user_comment: 'Vegan',
        certificate_issued_at: '2030-01-02',
      },
    },
    required: [],
    title: null,
    flag: 'completed',
    read: readParticipant,
  },
  {
    name: 'PUT /v2/orders/:id',
    method: 'PUT',
    url: orderUrl,
    created: 200,
    minimal: {},
    full: {
      ...{ is_paid: true, your_reference: 'Rød +1', invoice_address: 'Gate 1', invoice_address_2: 'A & B' },
      ...{ invoice_address_3: 'C', invoice_zipcode: '0155', invoice_city: 'Oslo', invoice_email: 'a@b.example' },
    },
    required: [],
    title: null,
    flag: 'is_paid',
    read: readOrder,
  },
  {
    name: 'PUT /v2/booking/:id/deregister',
    method: 'PUT',
    url: deregisterUrl,
    created: 200,
    minimal: {},
    full: { config: { with_fee: true, send_receipt_email_to_participant: true } },
    required: [],
    title: null,
    flag: null,
    read: readDeregistered,
  },
  {
    name: 'POST /v2/webhooks',
    method: 'POST',
    url: '/v2/webhooks',
    created: 201,
    minimal: { url: fullWebhook.url },
    full: fullWebhook,
    title: null,
    flag: 'is_active',
    read: readAndDeleteWebhook,
  },
  {
    name: 'PUT /v2/webhooks/:id',
    method: 'PUT',
    url: itemPath('/v2/webhooks', { url: 'https://hooks.example' }),
    created: 200,
    minimal: { url: fullWebhook.url },
    full: fullWebhook,
    required: [],
    title: null,
    flag: 'is_active',
    read: readById('/v2/webhooks'),
  },
  {
    name: 'POST /v2/customers',
    method: 'POST',
    url: '/v2/customers',
    created: 201,
    minimal: { title: 'Fjord Energy AS' },
    full: fullCustomer,
    ids: ['seller_id'],
    flag: null,
    read: readById('/v2/customers', 'customer_id'),
  },
  {
    name: 'PUT /v2/customers/:id',
    method: 'PUT',
    url: itemPath('/v2/customers', { title: 'To be changed' }, 'customer_id'),
    created: 200,
    minimal: { title: 'Fjord Energy AS' },
    full: fullCustomer,
    ids: ['seller_id'],
    required: [],
    flag: null,
    read: readById('/v2/customers', 'customer_id'),
  },
  {
    name: 'POST /v2/course-users',
    method: 'POST',
    url: '/v2/course-users',
    created: 201,
    get minimal() {
      return { ...minimalUser, email: newEmail() };
    },
    get full() {
      return { ...fullUser, email: newEmail(), username: newUsername() };
    },
    fresh: ['email', 'username'],
    ids: ['customer_id'],
    title: 'lastname',
    flag: null,
    read: readById('/v2/course-users'),
  },
  {
    name: 'PUT /v2/course-users/:id',
    method: 'PUT',
    url: itemPath('/v2/course-users', minimalUser),
    created: 200,
    minimal: { lastname: 'Nordmann' },
    full: { ...fullUser, username: 'Åse & co' },
    ids: ['customer_id'],
    required: [],
    title: 'lastname',
    flag: null,
    read: readById('/v2/course-users'),
  },
  {
    name: 'POST /v2/instructors',
    method: 'POST',
    url: '/v2/instructors',
    created: 201,
    minimal: names,
    full: fullInstructor,
    title: 'lastname',
    flag: 'show_on_web',
    ids: ['idUser'],
    read: readById('/v2/instructors'),
  },
  {
    name: 'PUT /v2/instructors/:id',
    method: 'PUT',
    url: itemPath('/v2/instructors', { firstname: 'Kari', lastname: 'Nordmann' }),
    created: 200,
    minimal: names,
    full: fullInstructor,
    required: [],
    title: 'lastname',
    flag: 'show_on_web',
    ids: ['idUser'],
    read: readById('/v2/instructors'),
  },
  {
    name: 'POST /v2/campaigns',
    method: 'POST',
    url: '/v2/campaigns',
    created: 201,
    minimal: minimalCampaign,
    get full() {
      return { ...fullCampaign, campaign_code: newCode() };
    },
    fresh: ['campaign_code'],
    ids: ['courses', 'customers', 'tags'],
    read: readById('/v2/campaigns'),
  },
  {
    name: 'PUT /v2/campaigns/:id',
    method: 'PUT',
    url: itemPath('/v2/campaigns', minimalCampaign),
    created: 200,
    minimal: { title: 'Changed' },
    full: { ...fullCampaign, campaign_code: 'Only & once' },
    ids: ['courses', 'customers', 'tags'],
    required: [],
    read: readById('/v2/campaigns'),
  },
  {
    name: 'POST /v2/vouchers',
    method: 'POST',
    url: '/v2/vouchers',
    created: 201,
    minimal: minimalVoucher,
    full: { ...minimalVoucher, currency: 'eur', expires_at: '2030-12-31' },
    title: null,
    flag: null,
    read: readById('/v2/vouchers'),
  },
  {
    name: 'PUT /v2/vouchers/:id',
    method: 'PUT',
    url: itemPath('/v2/vouchers', { code: 'To be changed', amount: 1 }),
    created: 200,
    minimal: minimalVoucher,
    full: { ...minimalVoucher, expires_at: '2030-12-31' },
    required: [],
    title: null,
    flag: null,
    read: readById('/v2/vouchers'),
  },
  {
    name: 'POST /v2/admin-users',
    method: 'POST',
    url: '/v2/admin-users',
    created: 201,
    get minimal() {
      return minimalPerson();
    },
    get full() {
      return fullPerson();
    },
    fresh: ['email'],
    required: ['email', 'role_ids'],
    title: 'lastname',
    flag: 'send_invite',
    read: readListed('/v2/admin-users'),
  },
];

/** Writes with tests of their own. */
const writesApart = ['POST /v2/booking', 'POST /v2/batch/booking', 'POST /v2/check-user-credentials'];
/** The creates of the isolation table that are not described above, whose items are read in their list. */
const otherCreates = writeTable
  .filter(({ route }) => /^POST [^{]+$/.test(route) && !writesApart.includes(route))
  .filter(({ route }) => !describedEndpoints.some(({ name }) => name === route))
  .map(({ route, stranger, bodies }): WriteEndpoint => {
    const [url, sent] = [route.slice('POST '.length), bodies({} as Owner['ids']) as Fields[]];
    const [minimal, full, created] = [sent[0]!, sent.at(-1)!, stranger[0]!];
    const title = 'title' in minimal ? 'title' : null;
    return { name: route, method: 'POST', url, created, minimal, full, title, flag: null, read: readListed(url) };
  });

const served = describedEndpoints.filter(({ name }) => isServed({ route: name }));
export const writeEndpoints = [...served, ...otherCreates];

export const endpointUrl = async (provider: Provider, { url }: WriteEndpoint) =>
  typeof url === 'string' ? url : url(provider);

export const fieldNames = ({ full, ids = [] }: WriteEndpoint) => [...Object.keys(full), ...ids];

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
