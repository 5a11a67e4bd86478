import { expect, test } from 'vitest';
import { createCustomer, createUser } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

/** The path of an item, the route below it that takes `dry_run`, and the other fields of its body. */
const routes: Record<string, (me: Provider) => Promise<[item: string, route: string, body: object]>> = {
  erase: async (me) => [`/v2/course-users/${await createUser(me, { firstname: 'Kari' })}`, 'erase', {}],
  'merge of course users': async (me) => [
    `/v2/course-users/${await createUser(me, { firstname: 'Kari' })}`,
    'merge',
    { into: await createUser(me) },
  ],
  'merge of customers': async (me) => [
    `/v2/customers/${await createCustomer(me)}`,
    'merge',
    { into: await createCustomer(me) },
  ],
};

test.each(Object.entries(routes))('an empty dry_run of %s is refused, and nothing changes', async (_name, create) => {
  const me = await createProvider();
  const [item, route, body] = await create(me);
  const before = (await me.get(item)).json<object>();
  const send = (query: string, fields: object) => me.post(`${item}/${route}${query}`, { ...body, ...fields });
  const responses = [
    await send('', { dry_run: null }),
    await send('', { dry_run: '' }),
    await send('?dry_run=', {}),
    await send('?dry_run=', { dry_run: false }),
  ];
  for (const response of responses)
    expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: dry_run' }]);
  expect((await me.get(item)).json()).toEqual(before);
  expect((await send('', {})).status).toBe(200);
  expect((await me.get(item)).json()).not.toEqual(before);
});
