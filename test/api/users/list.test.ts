import { expect, test } from 'vitest';
import { createCustomer, createUser } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const ids = async (me: Provider, query: string) => {
  const response = await me.get(`/v2/course-users?${query}`);
  expect(response.status, response.text).toBe(200);
  return response.json<{ id: number }[]>().map(({ id }) => id);
};

test('GET /v2/course-users lists course users as GET /v2/course-users/:id reads them', async () => {
  const me = await createProvider();
  const customerId = await createCustomer(me);
  const id = await createUser(me, { firstname: 'Åse', customerId });
  const response = await me.get('/v2/course-users');
  expect(response.json()).toEqual([(await me.get(`/v2/course-users/${id}`)).json()]);
});

test('pages by Link, in each order', async () => {
  const me = await createProvider();
  const users: number[] = [];
  for (let n = 0; n < 5; n += 1) users.push(await createUser(me));
  for (const [order, expected] of [
    ['', users],
    ['&order_direction=desc', users.toReversed()],
    ['&order_by=created_at', users],
    ['&order_by=updated_at&order_direction=desc', users.toReversed()],
  ] as const) {
    const found: number[] = [];
    for (let url: string | undefined = `/v2/course-users?limit=2${order}`; url !== undefined;) {
      const { headers, ...response } = await me.get(url);
      found.push(...response.json<{ id: number }[]>().map(({ id }) => id));
      url = /<[^>]*(\/v2\/[^>]*)>; rel="next"/.exec(String(headers['link'] ?? ''))?.[1];
    }
    expect(found).toEqual(expected);
  }
});

test('filters', async () => {
  const me = await createProvider();
  const customerId = await createCustomer(me);
  const kari = await createUser(me, {
    ...{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari@fjord.example', username: 'kari' },
    ...{ customerId, externalId: 'E-1', createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-02-01T00:00:00Z' },
  });
  const ola = await createUser(me, {
    firstname: 'Ola',
    lastname: 'Nord',
    email: 'ola@fjord.example',
    externalId: 'e-1',
  });
  for (const [query, expected] of [
    ['email=KARI@fjord.example', [kari]],
    ['firstname=k', [kari]],
    ['lastname=nord', [kari, ola]],
    ['lastname=nord&firstname=o', [ola]],
    ['username=KA', [kari]],
    [`customer_id=${customerId}`, [kari]],
    [`customer_id=${customerId + 1_000}`, []],
    ['external_id=E-1', [kari]],
    ['external_id=E', []],
    ['q=fjord', [kari, ola]],
    ['q=ol nor', [ola]],
    ['created_at_max=2026-01-02', [kari]],
    ['updated_at_min=2026-02-02', [ola]],
    ['firstname=', [kari, ola]],
  ] as const)
    expect([query, await ids(me, query)]).toEqual([query, expected]);
});
