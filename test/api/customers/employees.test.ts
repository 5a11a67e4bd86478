import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { courseUsers } from '../../../src/database/tables/users.ts';
import { createCustomer, createUser, write } from '../../support/orders.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Customer = { id: number; employees?: { id: number }[]; employees_truncated?: true };
type Envelope = { items: { id: number }[]; pagination: Record<string, number | null> };

const addEmployees = (me: Provider, customerId: number, count: number) =>
  write(me, async (tx, now) => {
    const { rows } = await tx.execute<{ id: string }>(sql`
      insert into course_users (provider_id, customer_id, username, firstname, created_at, updated_at)
      select ${me.id}, ${customerId}, 'e-' || ${customerId}::text || '-' || n, 'E' || n, ${now}, ${now}
      from generate_series(1, ${count}::int) n returning ${courseUsers.id} as id`);
    return rows.map(({ id }) => Number(id));
  });

const idsOf = (items: { id: number }[] | undefined) => items?.map(({ id }) => id);
const linkOf = (response: TestResponse) =>
  /^<[^>]*?(\/v2[^>]*)>; rel="next"$/.exec(String(response.headers['link']))?.[1];

test('a customer embeds its first 100 employees and indicates more', async () => {
  const me = await createProvider();
  const customers: Record<number, { id: number; ids: number[] }> = {};
  for (const count of [99, 100, 101, 300]) {
    const id = await createCustomer(me, { type: count === 101 ? 2 : 1 });
    customers[count] = { id, ids: await addEmployees(me, id, count) };
  }
  const listed = (await me.get('/v2/customers?include=employees')).json<Customer[]>();
  for (const [n, [count, { id, ids }]] of Object.entries(customers).entries()) {
    expect(idsOf(listed[n]!.employees)).toEqual(ids.slice(0, 100));
    expect(listed[n]!.employees_truncated).toBe(Number(count) > 100 ? true : undefined);
    expect((await me.get(`/v2/customers/${id}?include=employees`)).json()).toEqual(listed[n]);
  }
  const withoutInclude = (await me.get('/v2/customers')).json<Customer[]>();
  expect(withoutInclude[0]).not.toHaveProperty('employees');
  expect(withoutInclude[3]).not.toHaveProperty('employees_truncated');
  expect(withoutInclude[2]).toMatchObject({ id: customers[101]!.id, employees_truncated: true });
});

test('pages of customers with many employees stay within the response limit and skip none', async () => {
  const me = await createProvider();
  const { rows } = await write(me, (tx, now) =>
    tx.execute<{ id: string }>(sql`
      with firms as (
        insert into customers (provider_id, title, note, created_at, updated_at)
        select ${me.id}, 'Firm', ${'x'.repeat(5_000)}, ${now}, ${now} from generate_series(1, 40) returning id
      ), employees as (
        insert into course_users (provider_id, customer_id, username, created_at, updated_at)
        select ${me.id}, firms.id, firms.id || '-' || n, ${now}, ${now} from firms, generate_series(1, 110) n
      ) select id from firms order by id`),
  );
  const found: number[] = [];
  let truncated = 0;
  for (let next: string | undefined = '/v2/customers?include=employees&limit=250'; next !== undefined;) {
    const response: TestResponse = await me.get(next);
    expect(response.status).toBe(200);
    expect(Buffer.byteLength(response.text)).toBeLessThanOrEqual(16_010_000);
    found.push(...idsOf(response.json<Customer[]>())!);
    truncated += response.headers['x-page-truncated'] === undefined ? 0 : 1;
    next = linkOf(response);
  }
  expect(found).toEqual(rows.map(({ id }) => Number(id)));
  expect(truncated).toBeGreaterThan(0);
});

test('GET /v2/customers/:id/employees is a paged list', async () => {
  const me = await createProvider();
  const firm = await createCustomer(me);
  const before = await createUser(me, {
    customerId: firm,
    createdAt: '2026-03-01 00:00+01',
    updatedAt: '2026-04-01 00:00+02',
  });
  const ids = [before, ...(await addEmployees(me, firm, 259))];
  await createUser(me, { customerId: await createCustomer(me) });
  await createUser(me);
  const path = `/v2/customers/${firm}/employees`;
  const list = async (query = '') => idsOf((await me.get(`${path}${query}`)).json<{ id: number }[]>());

  const response = await me.get(path);
  expect(idsOf(response.json<{ id: number }[]>())).toEqual(ids.slice(0, 75));
  expect(response.json<object[]>()[0]).toEqual((await me.get(`/v2/course-users/${before}`)).json());
  expect((await me.get(path, { 'if-none-match': String(response.headers['etag']) })).status).toBe(304);
  expect(await list('?limit=1000')).toEqual(ids.slice(0, 250));
  expect(await list('?limit=100&page=3')).toEqual(ids.slice(200));
  expect(await list('?page=9')).toEqual([]);
  expect(await list('?updated_at_max=2026-05-01')).toEqual([before]);
  expect(await list('?created_at_min=2026-05-01&limit=1')).toEqual([ids[1]]);

  const walked: number[] = [];
  for (let next: string | undefined = `${path}?limit=80`; next !== undefined;) {
    const page: TestResponse = await me.get(next);
    walked.push(...idsOf(page.json<{ id: number }[]>())!);
    next = linkOf(page);
  }
  expect(walked).toEqual(ids);

  const { items, pagination } = (await me.get(`${path}?paginate=true&limit=100&page=2`)).json<Envelope>();
  expect(idsOf(items)).toEqual(ids.slice(100, 200));
  expect(pagination).toEqual({
    total_items: 260,
    per_page: 100,
    current_page: 2,
    total_pages: 3,
    previous_page: 1,
    next_page: 3,
  });
  expect((await me.get(`${path}?customer_id=1`)).headers['x-ignored-parameters']).toBe('customer_id');
  expect((await me.get(`${path}?limit=0`)).status).toBe(400);
});

test('a customer without employees has an empty list', async () => {
  const me = await createProvider();
  expect((await me.get(`/v2/customers/${await createCustomer(me)}/employees`)).json()).toEqual([]);
});
