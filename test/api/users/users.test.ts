import { expect, test, vi } from 'vitest';
import { write } from '../../support/orders.ts';
import { openTestAppForFile, type TestResponse, type Provider } from '../../support/test-app.ts';
import { allAreas } from '../../../src/database/areas.ts';

const { database, createProvider } = await openTestAppForFile();

let created = 0;
const idsOf = (response: TestResponse) => response.json<{ id: number }[]>().map(({ id }) => id);
const nowhere = { address: null, address_2: null, address_3: null, zipcode: null, city: null };

async function newUser(me: Provider, columns: Record<string, string | number> = {}) {
  return write(me, async (tx, now) => {
    const all = {
      provider_id: me.id,
      username: `user-${(created += 1)}`,
      created_at: now,
      updated_at: now,
      ...columns,
    };
    const values = Object.values(all).map((value) => `'${String(value).replaceAll("'", "''")}'`);
    const { rows } = await tx.execute<{ id: number }>(
      `insert into course_users (${Object.keys(all).join(', ')}) values (${values.join(', ')}) returning id`,
    );
    return rows[0]!.id;
  });
}
const search = async (me: Provider, query: Record<string, string>) =>
  idsOf(await me.get(`/v2/search-users?${new URLSearchParams(query).toString()}`));

test('a course user with nothing but a username', async () => {
  const me = await createProvider();
  const id = await newUser(me, { username: 'kari', created_at: '2026-01-01T00:00:00.9Z' });
  const response = await me.get(`/v2/course-users/${id}`);
  expect(response.status).toBe(200);
  expect(response.json()).toEqual({
    id,
    firstname: null,
    lastname: null,
    email: null,
    username: 'kari',
    phone: null,
    company: null,
    orgnr: null,
    position: null,
    department: null,
    legaldepartment: null,
    date_of_birth: null,
    invoice_address: { ...nowhere, invoice_phone: null },
    home_address: nowhere,
    work_address: nowhere,
    external_id: null,
    company_employee_number: null,
    custom_properties: null,
    customer: null,
    created_at: '2026-01-01T01:00:00+01:00',
    updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/),
    information_gathered_at: null,
  });
});

test('every field is returned under its name, and the password never', async () => {
  const me = await createProvider();
  const customer = (await me.post('/v2/customers', { title: 'Employer', country: 'DK' })).json().customer_id;
  const addressOf = (kind: string) => ({
    [`${kind}_address`]: `${kind}1`,
    [`${kind}_address_2`]: `${kind}2`,
    [`${kind}_address_3`]: `${kind}3`,
    [`${kind}_zipcode`]: `${kind}4`,
    [`${kind}_city`]: `${kind}5`,
    [`${kind}_phone`]: `${kind}6`,
  });
  const shown = (kind: string) => ({
    address: `${kind}1`,
    address_2: `${kind}2`,
    address_3: `${kind}3`,
    zipcode: `${kind}4`,
    city: `${kind}5`,
  });
  const plain = {
    firstname: 'Åse',
    lastname: 'Ødegård',
    email: 'ase@people.example',
    username: 'ase',
    phone: '1',
    company: 'Fjord AS',
    orgnr: '2',
    position: 'Boss',
    department: 'North',
    legaldepartment: 'South',
    date_of_birth: '1980-02-29',
    external_id: 'E-1',
    company_employee_number: '007',
  };
  const id = await newUser(me, {
    ...plain,
    ...addressOf('invoice'),
    ...addressOf('home'),
    ...addressOf('work'),
    customer_id: customer,
    password_hash: 'the-secret-hash',
    custom_properties: '{"shoe":"42"}',
    information_gathered_at: '2026-07-01T00:00:00Z',
  });
  const response = await me.get(`/v2/course-users/${id}`);
  expect(response.json()).toEqual({
    ...plain,
    id,
    invoice_address: { ...shown('invoice'), invoice_phone: 'invoice6' },
    home_address: shown('home'),
    work_address: shown('work'),
    custom_properties: { shoe: '42' },
    customer: expect.objectContaining({
      id: customer,
      title: 'Employer',
      country: { id: 208, title: 'Denmark', code: 'DK' },
    }),
    created_at: expect.any(String),
    updated_at: expect.any(String),
    information_gathered_at: '2026-07-01T02:00:00+02:00',
  });
  expect(response.text).not.toContain('secret');
  expect((await me.get('/v2/search-users?username=ase')).json()).toEqual([response.json()]);
});

test.each(['', '?email=', '?firstname=%20&lastname=', '?name=x', '?limit=5'])(
  'a search without a keyword is rejected: %s',
  async (query) => {
    const response = await (await createProvider()).get(`/v2/search-users${query}`);
    expect([response.status, response.json()]).toEqual([
      400,
      { error: 'Missing field(s): email, firstname, lastname or username' },
    ]);
    expect(response.headers).not.toHaveProperty('etag');
  },
);

test('each keyword filters own users alone and combined', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const ann = { firstname: 'Ann', lastname: 'Berg', email: 'ann@p.example', username: 'annb' };
  const a = await newUser(me, ann);
  const b = await newUser(me, { firstname: 'Anne', lastname: 'Bø', email: 'anne@p.example', username: 'anneb' });
  const c = await newUser(me, { firstname: 'Joann', lastname: 'Ås', email: 'ann@p.example', username: 'joann' });
  await newUser(other, ann);

  expect(await search(me, { firstname: 'ann' })).toEqual([a, b]);
  expect(await search(me, { firstname: 'ANNE' })).toEqual([b]);
  expect(await search(me, { lastname: 'b' })).toEqual([a, b]);
  expect(await search(me, { lastname: 'BØ' })).toEqual([b]);
  expect(await search(me, { lastname: 'ås' })).toEqual([c]);
  expect(await search(me, { lastname: 'as' })).toEqual([]);
  expect(await search(me, { username: 'ann' })).toEqual([a, b]);
  expect(await search(me, { email: 'ANN@p.example' })).toEqual([a, c]);
  expect(await search(me, { email: 'ann' })).toEqual([]);
  expect(await search(me, { email: 'ann@p.example', firstname: 'a' })).toEqual([a]);
  expect(await search(me, { email: 'ann@p.example', firstname: 'j', lastname: 'å', username: 'jo' })).toEqual([c]);
  expect(await search(me, { email: 'ann@p.example', firstname: 'j', lastname: 'b' })).toEqual([]);
  // An empty keyword is omitted; keywords are Unicode-normalised.
  expect(await search(me, { lastname: 'Ås'.normalize('NFD'), username: '' })).toEqual([c]);
});

test('wildcards and quotes are literal characters', async () => {
  const me = await createProvider();
  await newUser(me, { firstname: 'Ann' });
  const odd = await newUser(me, { firstname: `%_\\'"` });
  const percent = await newUser(me, { firstname: '%' });
  expect(await search(me, { firstname: '%' })).toEqual([odd, percent]);
  expect(await search(me, { firstname: '_' })).toEqual([]);
  expect(await search(me, { firstname: '%n' })).toEqual([]);
  expect(await search(me, { firstname: '%_\\' })).toEqual([odd]);
  expect(await search(me, { firstname: `%_\\'"` })).toEqual([odd]);
  expect(await search(me, { firstname: '\\' })).toEqual([]);
  expect(await search(me, { email: '%' })).toEqual([]);
});

test('returns up to 250 by default, paged by limit, page and Link in id order', async () => {
  const me = await createProvider();
  const ctx = await me.ctx();
  await ctx.write(allAreas, async ({ tx, now }) => {
    await tx.execute(
      `insert into course_users (provider_id, username, lastname, created_at, updated_at)
       select ${me.id}, 'bulk-' || n, 'Bulk', '${now}', '${now}' from generate_series(1, 260) n`,
    );
  });
  const first = await me.get('/v2/search-users?lastname=bulk');
  expect(idsOf(first)).toHaveLength(250);
  expect(idsOf(first)).toEqual(idsOf(first).toSorted((a, b) => a - b));
  const next = new URL(/^<([^>]+)>; rel="next"$/.exec(String(first.headers['link']))![1]!);
  const rest = await me.get(next.pathname + next.search);
  expect(idsOf(rest)).toHaveLength(10);
  expect(rest.headers).not.toHaveProperty('link');
  expect(await search(me, { lastname: 'bulk', limit: '1000' })).toHaveLength(250);
  expect(await search(me, { lastname: 'bulk', page: '2' })).toEqual(idsOf(rest));
  expect(await search(me, { lastname: 'bulk', limit: '3', page: '2' })).toEqual(idsOf(first).slice(3, 6));
  expect((await me.get('/v2/search-users?lastname=bulk&limit=0')).json()).toEqual({
    error: 'Field(s) not valid: limit',
  });
});

test('the number of statements per page is constant, and none with a matching ETag', async () => {
  const me = await createProvider();
  const email = `seller-${process.pid}-users@people.example`;
  const { id: seller_id } = (
    await me.post('/v2/admin-users', { email, firstname: 'K', lastname: 'N', role_ids: 1 })
  ).json();
  for (let n = 0; n < 3; n += 1) {
    const { customer_id } = (await me.post('/v2/customers', { title: `C${n}`, seller_id })).json();
    await newUser(me, { firstname: 'Same', customer_id });
  }
  const spy = vi.spyOn(database.pool, 'query');
  const response = await me.get('/v2/search-users?firstname=same');
  const statements = spy.mock.calls.length;
  spy.mockRestore();
  // Key look-up; ids of the page; its rows; customers; their sellers.
  expect([idsOf(response).length, statements]).toEqual([3, 5]);
  const etag = String(response.headers['etag']);
  expect((await me.get('/v2/search-users?firstname=same', { 'if-none-match': etag })).status).toBe(304);
});
