import { expect, test } from 'vitest';
import { createProvider as providerIn, send, sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;

const required = {
  title: 'Fjord School',
  org_nr: '987654321',
  phone: '+47 55 00 00 00',
  email_admin: 'admin@fjord.example',
  post_address: 'Box 1',
  post_zip: '5003',
  post_city: 'Bergen',
};
const optional = {
  active: 1,
  reference: 'F-1',
  email: 'post@fjord.example',
  email_booking: 'booking@fjord.example',
  email_more_info: 'info@fjord.example',
  visit_address: 'Street 1',
  visit_zip: '5004',
  visit_city: 'Voss',
  web_address: 'www.fjord.example',
  text_tagline: 'Courses by the fjord',
  text_description: '<p>Since 1994</p>',
};
const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;
const read = {
  title: 'Fjord School',
  active: true,
  reference: 'F-1',
  org_nr: '987654321',
  phone: '+47 55 00 00 00',
  email_admin: 'admin@fjord.example',
  email_booking: 'booking@fjord.example',
  email_more_info: 'info@fjord.example',
  post_address: { address: 'Box 1', zip: '5003', city: 'Bergen' },
  visit_address: { address: 'Street 1', zip: '5004', city: 'Voss' },
  web_address: 'www.fjord.example',
  text_tagline: 'Courses by the fjord',
  text_description: '<p>Since 1994</p>',
};

test('an update is returned on both interfaces', async () => {
  const me = await createProvider();
  const response = await me.put('/v2/schools', { ...required, ...optional });
  expect([response.status, response.json()]).toEqual([200, { school_id: me.id }]);
  expect((await me.get('/v2/schools')).json()).toEqual({
    school: { ...read, created_at: dateTime, updated_at: dateTime },
  });
  expect((await me.get('/schools')).json()).toEqual({ status: 'success', school: read });
});

test('omitted optional fields keep their value, empty ones are cleared; omitted active is true', async () => {
  const me = await createProvider();
  await me.put('/v2/schools', { ...required, ...optional, active: 0 });
  const school = async () => (await me.get('/v2/schools')).json().school;
  expect(await school()).toMatchObject({ active: false, reference: 'F-1' });

  await me.put('/v2/schools', required);
  expect(await school()).toMatchObject({ ...read, active: true });

  await me.put('/v2/schools', { ...required, reference: '', visit_city: null, text_tagline: '', active: '' });
  expect(await school()).toMatchObject({
    reference: null,
    visit_address: { address: 'Street 1', zip: '5004', city: '' },
    text_tagline: '',
    active: true,
  });
});

test('a new provider has empty fields', async () => {
  const me = await createProvider();
  const { school } = (await me.get('/v2/schools')).json();
  expect(school).toMatchObject({ title: me.title, active: true, reference: null, org_nr: '', text_description: '' });
});

test.each([
  [{ ...required, title: '' }, 'Missing field(s): title'],
  [{ ...required, phone: undefined, post_city: '' }, 'Missing field(s): phone,post_city'],
  [{ ...required, email_admin: 'x', title: ' ' }, 'Missing field(s): title. Field(s) not valid: email_admin'],
  [{ ...required, active: 'maybe' }, 'Field(s) not valid: active'],
])('%j is rejected and nothing changes', async (fields, error) => {
  const me = await createProvider();
  const before = (await me.get('/v2/schools')).json();
  const response = await me.put('/v2/schools', fields);
  expect([response.status, response.json()]).toEqual([400, { error }]);
  expect((await me.get('/v2/schools')).json()).toEqual(before);
  const older = await me.post('/schools', fields);
  expect([older.status, older.json()]).toEqual([400, { status: 'failure', error }]);
});

test('a sub-school gets its own key and the parent has no access to its data', async () => {
  const parent = await createProvider();
  const response = await parent.post('/schools', { ...required, ...optional });
  expect([response.status, response.json()]).toEqual([
    200,
    {
      status: 'success',
      school_id: expect.stringMatching(/^\d+$/) as string,
      api_key: expect.stringMatching(/^cbs_/) as string,
    },
  ]);
  const { api_key } = response.json<{ api_key: string }>();
  const as = (key: string, url: string) => send(testApp.app, { url, headers: { 'x-api-key': key } });
  expect((await as(api_key, '/schools')).json().school).toEqual(read);

  await send(testApp.app, {
    method: 'POST',
    url: '/v2/courses',
    headers: { 'x-api-key': api_key },
    payload: { title: 'Sub' },
  });
  expect((await as(api_key, '/v2/courses')).json()).toHaveLength(1);
  expect((await parent.get('/v2/courses')).json()).toEqual([]);
  const { school_id } = response.json<{ school_id: string }>();
  expect((await parent.get(`/v2/courses?partner_id=${school_id}`)).status).toBe(403);
});

test('a change of the school changes its data version', async () => {
  const me = await providerIn(testApp.app, testApp.database);
  const before = (await me.get('/v2/courses')).headers['etag'];
  await me.put('/v2/schools', required);
  expect((await me.get('/v2/courses')).headers['etag']).not.toBe(before);
});
