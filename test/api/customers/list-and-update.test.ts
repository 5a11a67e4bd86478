import { expect, test } from 'vitest';
import { CustomerBody, CustomerChange } from '../../../src/domains/people/customers/fields.ts';
import { addAdminUser } from '../../support/dates.ts';
import { dialects, encodeBody, fullCustomer as whole, contentTypeHeader } from '../../support/request-bodies.ts';
import { createCustomer, createUser, write } from '../../support/orders.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const testApp = await openTestAppForFile();
const { createProvider } = testApp;

const get = async (me: Provider, id: number | string, query = '') =>
  (await me.get(`/v2/customers/${id}${query}`)).json();
const create = async (me: Provider, fields: object): Promise<number> =>
  (await me.post('/v2/customers', fields)).json().customer_id;
const [company, privat] = [{ title: 'Company' }, { title: 'Person', type: 2 }];

test("lists the provider's own customers by id with the list parameters", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const at = (day: string) => ({ createdAt: `2026-03-${day} 00:00+01`, updatedAt: `2026-04-${day} 00:00+02` });
  const [a, b] = [await createCustomer(me, at('01')), await createCustomer(me, at('02'))];
  await createCustomer(other);
  const response = await me.get('/v2/customers');
  expect(response.status).toBe(200);
  const ids = async (query: string) =>
    (await me.get(`/v2/customers?${query}`)).json<{ id: number }[]>().map(({ id }) => id);
  expect(await ids('')).toEqual([a, b]);
  expect(await ids('limit=1')).toEqual([a]);
  expect(await ids('limit=1&page=2')).toEqual([b]);
  expect(await ids('page=3')).toEqual([]);
  expect(await ids(`since_id=${a}`)).toEqual([b]);
  expect(await ids('created_at_min=2026-03-02')).toEqual([b]);
  expect(await ids('created_at_max=2026-03-02')).toEqual([a]);
  expect(await ids('updated_at_min=2026-04-02')).toEqual([b]);
  expect(await ids('updated_at_max=2026-04-02')).toEqual([a]);
  expect((await me.get('/v2/customers?limit=1')).headers['link']).toContain(`since_id=${a}`);
  const synced = await me.get('/v2/customers?updated_at_min=2026-01-01');
  expect(synced.headers['x-updated-through']).toMatch(/^\d{4}-/);
  expect((await me.get('/v2/customers', { 'if-none-match': String(response.headers['etag']) })).status).toBe(304);
  for (const query of ['limit=0', 'include=orders', 'created_at_min=2026-02-30']) {
    expect((await me.get(`/v2/customers?${query}`)).status, query).toBe(400);
  }
});

test('GET /v2/customers/:id returns the same item as the list', async () => {
  const me = await createProvider();
  const id = await create(me, { ...company, seller_id: await addAdminUser(me), invoice_due_days: 14 });
  const [listed] = (await me.get('/v2/customers')).json();
  const response = await me.get(`/v2/customers/${id}`);
  expect([response.status, response.json()]).toEqual([200, listed]);
  expect(listed).toMatchObject({ id, title: 'Company', seller: { firstname: 'A' }, duedate_days: 14 });
});

test('employees are embedded on request, and always for a private customer', async () => {
  const me = await createProvider();
  const [firm, person] = [await create(me, company), await create(me, privat)];
  const [kari, ola] = [await createUser(me, { customerId: firm }), await createUser(me, { customerId: firm })];
  const anne = await createUser(me, { customerId: person });
  await createUser(me);
  const whole = async (id: number) => (await me.get(`/v2/course-users/${id}`)).json<object>();
  const [ofFirm, ofPerson] = [[await whole(kari), await whole(ola)], [await whole(anne)]];

  const plain = (await me.get('/v2/customers')).json();
  expect(plain[0]).not.toHaveProperty('employees');
  expect(plain[1]).toMatchObject({ id: person, type: 'Private', employees: ofPerson });
  for (const query of ['include[]=employees', 'include=employees,employees']) {
    const response = (await me.get(`/v2/customers?${query}`)).json();
    expect(response).toEqual([{ ...plain[0], employees: ofFirm }, plain[1]]);
  }
  expect(await get(me, firm)).toEqual(plain[0]);
  expect(await get(me, firm, '?include=employees')).toEqual({ ...plain[0], employees: ofFirm });
  expect(await get(me, person)).toEqual(plain[1]);
  const alone = await create(me, privat);
  expect((await get(me, alone)).employees).toEqual([]);
  expect((await get(me, await create(me, company), '?include=employees')).employees).toEqual([]);
  // A course user includes its customer without employees.
  expect(plain[1].employees[0].customer).not.toHaveProperty('employees');
});

test('course users of another school are never employees', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const person = await create(me, privat);
  await createUser(other, { customerId: await create(other, privat) });
  expect((await get(me, person)).employees).toEqual([]);
});

test('the number of statements per page is constant', async () => {
  const me = await createProvider();
  const add = async () => {
    const seller_id = await addAdminUser(me);
    for (const fields of [company, privat])
      await createUser(me, { customerId: await create(me, { ...fields, seller_id }) });
  };
  const statements = async () => (await recordStatements(() => me.get('/v2/customers?include=employees'))).length;
  await me.get('/v2/customers'); // The first use of a key is noted.
  await add();
  const one = await statements();
  await add();
  await add();
  // Key look-up; rows of the page; sellers; employees, their customers and the sellers of those.
  expect([one, await statements()]).toEqual([6, 6]);
});

test('PUT accepts every field of POST, all optional', () => {
  expect(Object.keys(CustomerChange.properties)).toEqual(Object.keys(CustomerBody.properties));
  expect(CustomerChange.required ?? []).toEqual([]);
});

const moment = { created_at: expect.any(String) as string, updated_at: expect.any(String) as string };

test.each(dialects)('all sent fields change and read as after a create: %s', async (dialect) => {
  const me = await createProvider();
  const seller_id = await addAdminUser(me);
  const created = await get(me, await create(me, { ...whole, seller_id }));
  const id = await create(me, company);
  const response = await me.put(
    `/v2/customers/${id}`,
    encodeBody(dialect, { ...whole, seller_id }),
    contentTypeHeader(dialect),
  );
  expect([response.status, response.json()]).toEqual([200, { customer_id: id }]);
  expect(await get(me, id)).toEqual({ ...created, id, ...moment });
});

test.each(Object.entries(whole))('updating only %s changes nothing else', async (name, value) => {
  const me = await createProvider();
  const id = await create(me, { ...company, email: 'kept@x.example', note: 'Kept' });
  const before = await get(me, id, '?include=employees');
  expect((await me.put(`/v2/customers/${id}`, { [name]: value })).status).toBe(200);
  const after = await get(me, id, '?include=employees');
  const shown: Record<string, string[]> = {
    web_address: ['webaddress'],
    invoice_customer_reference: ['customer_reference'],
    invoice_due_days: ['duedate_days'],
    invoice_email: ['invoice_email'],
    status: ['idStatus', 'status'],
  };
  const part = /^(post|invoice|office)_(address|zipcode|city)/.exec(name)?.[1];
  const expected = shown[name] ?? [part === undefined ? name : `${part === 'office' ? 'visit' : part}_address`];
  const moved = Object.keys(after).filter((member) => JSON.stringify(after[member]) !== JSON.stringify(before[member]));
  expect(moved.filter((member) => member !== 'updated_at').sort()).toEqual(expected.sort());
});

test('fields sent empty are cleared', async () => {
  const me = await createProvider();
  const id = await create(me, { ...whole, seller_id: await addAdminUser(me) });
  const { title, ...optional }: Record<string, unknown> = { ...whole, seller_id: 1 };
  const empty = Object.fromEntries(Object.keys(optional).map((name) => [name, '']));
  expect((await me.put(`/v2/customers/${id}`, empty)).status).toBe(200);
  const bare = await get(me, await create(me, { title }));
  expect(await get(me, id)).toEqual({ ...bare, id, ...moment });
});

test.each<[object, string]>([
  [{ title: '' }, 'Missing field(s): title'],
  [{ title: ' ', status: 3 }, 'Missing field(s): title. Field(s) not valid: status'],
  [{ type: 3, country: 'XX', email: 'x' }, 'Field(s) not valid: type,email,country'],
  [{ invoice_due_days: -1 }, 'Field(s) not valid: invoice_due_days'],
  [{ seller_id: 999_999_999 }, 'Field(s) not valid: seller_id'],
])('%j is rejected and changes nothing: %s', async (fields, error) => {
  const me = await createProvider();
  const id = await create(me, company);
  const before = await get(me, id);
  const response = await me.put(`/v2/customers/${id}`, { note: 'kept out', ...fields });
  expect([response.status, response.json()]).toEqual([400, { error }]);
  expect(await get(me, id)).toEqual(before);
});

test('an admin user of another school is rejected as seller', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const id = await create(me, company);
  const response = await me.put(`/v2/customers/${id}`, { seller_id: await addAdminUser(other) });
  expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: seller_id' }]);
});

test('an update changes updated_at of the customer, not of its employees', async () => {
  const me = await createProvider();
  const id = await create(me, company);
  const user = await createUser(me, { customerId: id });
  const readTimestamps = async () =>
    (
      await write(me, (tx) =>
        tx.execute(
          `select c.updated_at::text as customer, u.updated_at::text as employee
           from customers c join course_users u on u.customer_id = c.id where u.id = ${user}`,
        ),
      )
    ).rows[0]! as { customer: string; employee: string };
  const before = await readTimestamps();
  await me.put(`/v2/customers/${id}`, { note: 'x' });
  const after = await readTimestamps();
  expect([after.customer > before.customer, after.employee]).toEqual([true, before.employee]);
});

test('web_address begins with http; an older one that is sent back stays', async () => {
  const me = await createProvider();
  for (const web_address of ['www.fjord.example', 'javascript:alert(1)', 'not a url', 'ftp://fjord.example']) {
    const refused = await me.post('/v2/customers', { ...company, web_address });
    expect([web_address, refused.status, refused.json()]).toEqual([
      ...[web_address, 400],
      { error: 'Field(s) not valid: web_address' },
    ]);
  }
  const old = await createCustomer(me, { title: 'Old', webaddress: 'www.fjord.example' });
  const put = async (fields: object) => (await me.put(`/v2/customers/${old}`, fields)).status;
  expect(await put({ web_address: 'www.fjord.example', note: 'a' })).toBe(200);
  expect(await put(await get(me, old))).toBe(200);
  expect(await get(me, old)).toMatchObject({ webaddress: 'www.fjord.example', note: 'a' });
  expect(await put({ web_address: 'www.other.example', note: 'b' })).toBe(400);
  expect(await get(me, old)).toMatchObject({ webaddress: 'www.fjord.example', note: 'a' });
  expect(await put({ web_address: 'HTTPS://other.example' })).toBe(200);
  expect(await put({ web_address: '' })).toBe(200);
  expect(await get(me, old)).toMatchObject({ webaddress: null });
  expect((await me.put('/v2/customers/999999999', { web_address: 'x' })).status).toBe(404);
});
