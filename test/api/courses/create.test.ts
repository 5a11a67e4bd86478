import { expect, test } from 'vitest';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;

/** The item of a provider's only course. */
const onlyCourse = async (me: Provider, query = '') => {
  const courses = (await me.get(`/v2/courses${query}`)).json<Record<string, unknown>[]>();
  expect(courses).toHaveLength(1);
  return courses[0]!;
};

/** Other schools of the database may have the address without the id. */
const addressWith = (slug: string) =>
  expect.stringMatching(new RegExp(`^https://catalog\\.example/${slug}(-\\d+)*$`)) as string;

const unset = {
  id: expect.any(Number) as number,
  title: 'Bare',
  reference: null,
  is_active: true,
  catalog_url: addressWith('bare'),
  is_full_time: false,
  is_part_time: false,
  lessons_hours: null,
  type: 'public',
  level: { id: 6, title: 'Courses' },
  form_of_teaching: { id: 1, title: 'Classroom' },
  teaching_language: { id: 'no', title: 'Norwegian' },
  time_of_day: null,
  publishing_platform: 'both',
  duration: null,
  price: { value: 0, currency: 'NOK', comment: null },
  categories: [],
  external_booking_url: null,
  external_more_info_url: null,
  descriptions: {
    lead: '',
    description: '',
    place: '',
    prerequisites: '',
    duration: '',
    credits: '',
    submissions: '',
    hotelInfo: '',
    audience: '',
  },
  lead_settings: { email_booking: '', email_more_info: '' },
  tags: [],
  custom_properties: null,
  description_languages: [],
  visit_address: null,
  visit_address2: null,
  visit_zipcode: null,
  visit_city: null,
  created_at: dateTime,
  updated_at: dateTime,
  deleted_at: null,
  related_items_updated_at: dateTime,
};

test('only a title is required; all other fields have defaults', async () => {
  const me = await createProvider();
  const response = await me.post('/v2/courses', { title: 'Bare' });
  expect([response.status, response.json()]).toEqual([201, { course_id: expect.any(Number) as number }]);
  const course = await onlyCourse(me);
  expect(course).toEqual(unset);
  expect(course['id']).toBe(response.json().course_id);
});

const everything = {
  title: '  Førstehjelp på jobb  ',
  active: 0,
  reference: 'HMS-1',
  is_full_time: 1,
  is_part_time: 1,
  level: 13,
  form_of_teaching: 21,
  teaching_language: 'en',
  time_of_day: 2,
  duration_value: 1,
  duration_unit: 2,
  price_value: 4500,
  price_currency: 'eur',
  price_comment: 'Lunch included',
  tags: [{ title: 'Safety' }],
  labels: [{ title: 'New' }],
  text_lead: 'Lead',
  text_description: '<p>Description</p>',
  text_place: '<p>Place</p>',
  text_prerequisites: '<p>Prerequisites</p>',
  text_duration: '<p>Duration</p>',
  text_credits: '<p>Credits</p>',
  text_submissions: '<p>Submissions</p>',
  text_hotel_info: '<p>Hotel</p>',
  text_audience: '<p>Audience</p>',
  email_booking: 'booking@school.example',
  email_more_info: 'info@school.example',
  external_booking_url: 'https://school.example/book',
  external_more_info_url: 'http://school.example/more',
  type: 'internal',
  publishing_platform: 'own',
  visit_address: 'Street 1',
  visit_address2: 'Floor 2',
  visit_zipcode: '5003',
  visit_city: 'Bergen',
  custom_properties: { room: 'A', empty: '' },
  translations: { no: { lead: 'Ingress' } },
};
const everythingRead = {
  ...unset,
  title: 'Førstehjelp på jobb',
  catalog_url: addressWith('forstehjelp-pa-jobb'),
  is_active: false,
  reference: 'HMS-1',
  is_full_time: true,
  is_part_time: true,
  type: 'internal',
  publishing_platform: 'own',
  level: { id: 13, title: 'Seminar' },
  form_of_teaching: { id: 21, title: 'Webinar' },
  teaching_language: { id: 'en', title: 'English' },
  time_of_day: { id: 2, title: 'Evening class' },
  duration: { value: 1, code: 'weeks', unit: 'Week' },
  price: { value: 4500, currency: 'EUR', comment: 'Lunch included' },
  external_booking_url: 'https://school.example/book',
  external_more_info_url: 'http://school.example/more',
  descriptions: {
    lead: 'Lead',
    description: '<p>Description</p>',
    place: '<p>Place</p>',
    prerequisites: '<p>Prerequisites</p>',
    duration: '<p>Duration</p>',
    credits: '<p>Credits</p>',
    submissions: '<p>Submissions</p>',
    hotelInfo: '<p>Hotel</p>',
    audience: '<p>Audience</p>',
  },
  lead_settings: { email_booking: 'booking@school.example', email_more_info: 'info@school.example' },
  tags: [{ id: expect.any(Number) as number, title: 'Safety' }],
  custom_properties: { room: 'A' },
  description_languages: ['no'],
  visit_address: 'Street 1',
  visit_address2: 'Floor 2',
  visit_zipcode: '5003',
  visit_city: 'Bergen',
};

test('every parameter is stored and returned', async () => {
  const me = await createProvider();
  await me.course(everything);
  expect(await onlyCourse(me)).toEqual(everythingRead);
});

test('the legacy interface creates the same course without tags, labels and external URLs', async () => {
  const me = await createProvider();
  const response = await me.post('/courses', everything);
  expect([response.status, response.json()]).toEqual([
    200,
    { status: 'success', course_id: expect.stringMatching(/^\d+$/) as string },
  ]);
  expect(await onlyCourse(me)).toEqual({
    ...everythingRead,
    tags: [],
    external_booking_url: null,
    external_more_info_url: null,
    // Undocumented fields belong to the main interface only.
    type: 'public',
    publishing_platform: 'both',
    visit_address: null,
    visit_address2: null,
    visit_zipcode: null,
    visit_city: null,
    custom_properties: null,
    description_languages: [],
  });
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
});

test('labels are Norwegian when Accept-Language prefers Norwegian', async () => {
  const me = await createProvider();
  await me.course({ title: 'Bare', duration_value: 2, duration_unit: 3, time_of_day: 3 });
  const inLanguage = async (accept: string) =>
    (await me.get('/v2/courses', { 'accept-language': accept })).json<Record<string, unknown>[]>()[0];
  const norwegian = {
    level: { id: 6, title: 'Kurs' },
    teaching_language: { id: 'no', title: 'Norsk' },
    time_of_day: { id: 3, title: 'Helgekurs' },
    duration: { value: 2, code: 'months', unit: 'Måneder' },
  };
  for (const accept of ['no', 'nb-NO,en;q=0.5', 'nn', 'en;q=0.1, nb'])
    expect(await inLanguage(accept)).toMatchObject(norwegian);
  for (const accept of ['en', 'fr', 'en, no;q=0.9', '*']) {
    expect(await inLanguage(accept)).toMatchObject({ duration: { value: 2, code: 'months', unit: 'Months' } });
  }
});

test.each([
  ['duration_value=3', 'Missing field(s): duration_unit'],
  ['duration_unit=2', 'Missing field(s): duration_value'],
  ['level=4', 'Field(s) not valid: level'],
  ['form_of_teaching=3', 'Field(s) not valid: form_of_teaching'],
  ['teaching_language=nb', 'Field(s) not valid: teaching_language'],
  ['time_of_day=4', 'Field(s) not valid: time_of_day'],
  ['price_value=10.5', 'Field(s) not valid: price_value'],
  ['price_value=-1', 'Field(s) not valid: price_value'],
  ['price_currency=XYZ', 'Field(s) not valid: price_currency'],
  ['email_booking=nobody', 'Field(s) not valid: email_booking'],
  ['external_booking_url=javascript:alert(1)', 'Field(s) not valid: external_booking_url'],
  ['type=corporate', 'Missing field(s): customer_id'],
  ['customer_id=1', 'Field(s) not valid: customer_id'],
  ['type=corporate&customer_id=999999999', 'Field(s) not valid: customer_id'],
  ['tags[]=999999999', 'Field(s) not valid: tags'],
  ['tags=[{"name":"x"}]', 'Missing field(s): tags[0].title'],
  ['labels[]=999999999', 'Field(s) not valid: labels'],
  ['translations[xx][lead]=x', 'Field(s) not valid: translations'],
  ['custom_properties[' + 'k'.repeat(41) + ']=x', 'Field(s) not valid: custom_properties'],
])('%s is rejected and nothing is written', async (fields, error) => {
  const me = await createProvider();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await me.post(
    '/v2/courses',
    `title=Refused&tags[0][title]=kept-out&${fields}`.replace(/&tags\[0.*?&(?=tags|)/, '&'),
    form,
  );
  expect([response.status, response.json()]).toEqual([400, { error }]);
  expect((await me.get('/v2/courses')).json()).toEqual([]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
});

test('a tag or label of another provider is unknown', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  await other.course({ tags: [{ title: 'theirs' }] });
  const [tag] = (await other.get('/v2/course-tags')).json<{ id: number }[]>();
  for (const tags of [[tag!.id], [{ id: tag!.id }]]) {
    const response = await me.post('/v2/courses', { title: 'Mine', tags });
    expect([response.status, response.json().error]).toEqual([400, 'Field(s) not valid: tags']);
  }
});

test('tags are found by case-insensitive title or created once', async () => {
  const me = await createProvider();
  await me.course({ tags: [{ title: 'Ålesund' }, { title: 'ålesund' }] });
  await me.course({ tags: '[{"title":" ÅLESUND "}]' });
  const tags = (await me.get('/v2/course-tags')).json<{ id: number; title: string }[]>();
  expect(tags.map(({ title }) => title)).toEqual(['Ålesund']);
  expect((await me.get(`/v2/courses?tag_ids=${tags[0]!.id}`)).json()).toHaveLength(2);
});

test("a title equal to an active course's (trimmed, case-insensitive) is rejected", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  await me.course({ title: 'Ærlig Kurs' });
  const refused = { error: 'An active course with an equal title exists already' };
  for (const title of ['Ærlig Kurs', ' ærlig kurs ', 'ÆRLIG KURS']) {
    const response = await me.post('/v2/courses', { title });
    expect([response.status, response.json()]).toEqual([400, refused]);
    const older = await me.post('/courses', { title });
    expect([older.status, older.json()]).toEqual([400, { status: 'failure', ...refused }]);
  }
  await me.course({ title: 'Ærlig Kurs', active: false });
  await other.course({ title: 'Ærlig Kurs' });
  expect((await me.get('/v2/courses')).json()).toHaveLength(2);
});

test('concurrently created courses each have the product with their own title', async () => {
  const me = await createProvider();
  const titles = Array.from({ length: 30 }, (_, n) => `Course ${n % 20}`);
  const responses = await Promise.all(
    titles.map((title, n) => me.post('/v2/courses', { title, price_value: 100 + n })),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(responses.filter(({ status }) => status === 400)).toHaveLength(10);
  const courses = (await me.get('/v2/courses?include[]=products')).json<
    {
      title: string;
      price: { value: number };
      products: { title: string; price: number; is_main_product: boolean }[];
    }[]
  >();
  expect(courses).toHaveLength(20);
  for (const { title, price, products } of courses)
    expect(products).toMatchObject([{ title, price: price.value, is_main_product: true }]);
});
