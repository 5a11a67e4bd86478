import { expect, test } from 'vitest';
import { countries, countryCodes } from '../../../src/core/schema/codes.ts';
import { allAreas } from '../../../src/database/areas.ts';
import * as documented from '../../support/documents/people.ts';
import { dialects, encodeBody, contentTypeHeader } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

let created = 0;
const isDateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
const nowhere = { address: null, address_2: null, address_3: null, zipcode: null, city: null };

async function newSeller(me: Provider) {
  const email = `seller-${process.pid}-${(created += 1)}@people.example`;
  const fields = { email, firstname: 'Kari', lastname: 'Nordmann', role_ids: 1 };
  const { id } = (await me.post('/v2/admin-users', fields)).json();
  return { id, firstname: 'Kari', lastname: 'Nordmann', email };
}

/** Customers have no list: they are read as the employer of a course user. */
async function read(me: Provider, customerId: number, headers: Record<string, string> = {}) {
  const ctx = await me.ctx();
  const userId = await ctx.write(allAreas, async ({ tx, now }) => {
    const { rows } = await tx.execute<{ id: number }>(
      `insert into course_users (provider_id, customer_id, username, created_at, updated_at)
       values (${me.id}, ${customerId}, 'reader-${(created += 1)}', '${now}', '${now}') returning id`,
    );
    return rows[0]!.id;
  });
  return (await me.get(`/v2/course-users/${userId}`, headers)).json().customer;
}
const create = (me: Provider, fields: Record<string, unknown>) => me.post('/v2/customers', fields);
async function createAndRead(me: Provider, fields: Record<string, unknown>, headers = {}) {
  const response = await create(me, fields);
  expect(response.status).toBe(201);
  return read(me, response.json().customer_id, headers);
}

test('only a title is required; all other fields have defaults', async () => {
  const me = await createProvider();
  const response = await create(me, { title: ' Fjord Energy AS ' });
  expect([response.status, response.json()]).toEqual([201, { customer_id: expect.any(Number) }]);
  const id = response.json().customer_id;
  const customer = await read(me, id);
  expect(customer).toEqual({
    id,
    title: 'Fjord Energy AS',
    department: null,
    phone: null,
    fax: null,
    email: null,
    webaddress: null,
    orgnr: null,
    invoice_email: null,
    customer_reference_id: null,
    customer_reference: null,
    note: null,
    turnover: null,
    always_use_customer_reference: 0,
    idStatus: '1',
    idParentCustomer: null,
    invoice_method: 'electronic',
    country: { id: 578, title: 'Norway', code: 'NO' },
    status: 'Active',
    type: 'Company',
    duedate_days: 0,
    seller: null,
    invoice_address: nowhere,
    post_address: nowhere,
    visit_address: nowhere,
    custom_properties: null,
    created_at: isDateTime,
    updated_at: customer.created_at,
  });
});

test.each(dialects)('every field is stored and returned under its name (%s)', async (dialect) => {
  const me = await createProvider();
  const seller = await newSeller(me);
  const fields = {
    id: 999_999_999,
    created_at: '1999-01-01',
    title: 'Førstehjelp 🚑 & Sønn',
    department: 'Innkjøp',
    type: 2,
    orgnr: '912 345 678',
    email: 'post@fjord.example',
    phone: '+47 1',
    fax: '+47 2',
    web_address: 'https://www.fjord.example/?a=1&b=2',
    customer_reference_id: 'K-1 %41',
    country: 'se',
    post_address_1: 'p1',
    post_address_2: 'p2',
    post_address_3: 'p3',
    post_zipcode: '0001',
    post_city: 'pc',
    invoice_address_1: 'i1',
    invoice_address_2: 'i2',
    invoice_address_3: 'i3',
    invoice_zipcode: '0002',
    invoice_city: 'ic',
    invoice_customer_reference: 'their reference',
    invoice_due_days: 30,
    invoice_email: 'invoice@fjord.example',
    office_address_1: 'o1',
    office_address_2: 'o2',
    office_address_3: 'o3',
    office_zipcode: '0003',
    office_city: 'oc',
    seller_id: seller.id,
    note: 'line\nline',
    status: 2,
  };
  const response = await me.post('/v2/customers', encodeBody(dialect, fields), contentTypeHeader(dialect));
  expect(response.status).toBe(201);
  const id = response.json().customer_id;
  expect(id).not.toBe(999_999_999);
  expect(await read(me, id)).toEqual({
    id,
    title: fields.title,
    department: fields.department,
    phone: fields.phone,
    fax: fields.fax,
    email: fields.email,
    webaddress: fields.web_address,
    orgnr: fields.orgnr,
    invoice_email: fields.invoice_email,
    customer_reference_id: fields.customer_reference_id,
    customer_reference: fields.invoice_customer_reference,
    note: fields.note,
    turnover: null,
    always_use_customer_reference: 0,
    idStatus: '2',
    idParentCustomer: null,
    invoice_method: 'electronic',
    country: { id: 752, title: 'Sweden', code: 'SE' },
    status: 'Deactivated',
    type: 'Private',
    duedate_days: 30,
    seller,
    invoice_address: { address: 'i1', address_2: 'i2', address_3: 'i3', zipcode: '0002', city: 'ic' },
    post_address: { address: 'p1', address_2: 'p2', address_3: 'p3', zipcode: '0001', city: 'pc' },
    visit_address: { address: 'o1', address_2: 'o2', address_3: 'o3', zipcode: '0003', city: 'oc' },
    custom_properties: null,
    created_at: isDateTime,
    updated_at: isDateTime,
  });
});

test('empty values are unset', async () => {
  const me = await createProvider();
  const empty = { type: '', country: '', status: null, seller_id: '', invoice_due_days: '', note: '', post_city: null };
  expect(await createAndRead(me, { title: 'Empty', ...empty })).toMatchObject({
    type: 'Company',
    country: { code: 'NO' },
    status: 'Active',
    seller: null,
    duedate_days: 0,
    note: null,
    post_address: nowhere,
  });
});

test('the country name is in the requested language', async () => {
  const me = await createProvider();
  const norwegian = { 'accept-language': 'nb' };
  expect(await createAndRead(me, { title: 'A', country: 'DE' }, norwegian)).toMatchObject({
    country: { id: 276, title: 'Tyskland', code: 'DE' },
    status: 'Active',
  });
});

test.each<[Record<string, unknown>, string]>([
  [{}, 'Missing field(s): title'],
  [{ title: ' ' }, 'Missing field(s): title'],
  [{ type: 3, status: 'x' }, 'Missing field(s): title. Field(s) not valid: type,status'],
  [{ title: 'A', type: 0 }, 'Field(s) not valid: type'],
  [{ title: 'A', status: 3 }, 'Field(s) not valid: status'],
  [{ title: 'A', country: 'XX' }, 'Field(s) not valid: country'],
  [{ title: 'A', country: 'AQ' }, 'Field(s) not valid: country'],
  [{ title: 'A', invoice_due_days: -1 }, 'Field(s) not valid: invoice_due_days'],
  [{ title: 'A', email: 'a', invoice_email: 'b' }, 'Field(s) not valid: email,invoice_email'],
  [{ title: 'A'.repeat(256) }, 'Field(s) not valid: title'],
  [{ title: 'A', seller_id: 999_999_999 }, 'Field(s) not valid: seller_id'],
  [{ title: 'A', seller_id: 0 }, 'Field(s) not valid: seller_id'],
])('%j is rejected: %s', async (fields, error) => {
  const response = await create(await createProvider(), fields);
  expect([response.status, response.json()]).toEqual([400, { error }]);
});

test('an admin user of another provider is rejected as seller until attached', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const seller = await newSeller(other);
  const refused = await create(me, { title: 'A', seller_id: seller.id });
  expect([refused.status, refused.json()]).toEqual([400, { error: 'Field(s) not valid: seller_id' }]);
  const { email, firstname, lastname } = seller;
  await me.post('/v2/admin-users', { email, firstname, lastname, role_ids: 1 });
  expect(await createAndRead(me, { title: 'A', seller_id: seller.id })).toMatchObject({ seller });
});

test('the countries are those of the document in its order, with unique ids', () => {
  expect(countryCodes).toEqual(documented.countryCodes);
  const all = [...countries.values()];
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect(all.filter(({ id }) => id > 900).map(({ title }) => title.en)).toEqual(['Kosovo', 'Netherlands Antilles']);
  expect(all.filter(({ title }) => title.en === '' || title.no === '')).toEqual([]);
});

test('every country of the document is accepted', async () => {
  const me = await createProvider();
  for (const country of documented.countryCodes) {
    expect((await create(me, { title: country, country })).status).toBe(201);
  }
});
