import { expect, test } from 'vitest';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

const listed = async (me: Provider, id: number, query = '') =>
  (await me.get(`/v2/courses?limit=1&since_id=${id - 1}${query}`)).json<object[]>()[0];
const notFound = { error: 'Course not found' };

test('GET /v2/courses/:id returns the same item as the list', async () => {
  const me = await createProvider();
  const id = await me.course({ tags: [{ title: 'One' }], custom_properties: { room: 'A' }, price_value: 100 });
  const response = await me.get(`/v2/courses/${id}`);
  expect([response.status, response.json()]).toEqual([200, await listed(me, id)]);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('GET /v2/courses/:id embeds products, labels and provider only on request', async () => {
  const me = await createProvider();
  const id = await me.course({ labels: [{ title: 'Red' }, { title: 'Blue' }], price_value: 100 });
  const plain = (await me.get(`/v2/courses/${id}`)).json();
  for (const name of ['products', 'labels', 'provider']) expect(plain).not.toHaveProperty(name);
  const number = expect.any(Number) as number;
  const whole = (await me.get(`/v2/courses/${id}?include[]=products&include[]=labels&include=provider`)).json();
  expect(whole).toMatchObject({
    ...plain,
    products: [{ title: plain.title, price: 100, is_main_product: true }],
    labels: [
      { id: number, title: 'Red' },
      { id: number, title: 'Blue' },
    ],
    provider: { id: me.id, title: me.title },
  });
  expect((await me.get(`/v2/courses/${await me.course()}?include=labels`)).json().labels).toEqual([]);
  const wrong = await me.get(`/v2/courses/${id}?include=location`);
  expect([wrong.status, wrong.json().error]).toEqual([
    400,
    'Field(s) not valid: include. Supported values of include: products, labels, provider, completion_min_share',
  ]);
  expect((await me.get('/v2/courses?include=labels')).status).toBe(400);
});

test('GET /v2/courses/:id returns the requested language', async () => {
  const me = await createProvider();
  const id = await me.course({ text_lead: 'Egen', translations: { en: { lead: 'Own' } } });
  const lead = async (query: string) => (await me.get(`/v2/courses/${id}${query}`)).json().descriptions.lead;
  expect([await lead(''), await lead('?description_language=en'), await lead('?description_language=fi')]).toEqual([
    ...['Egen', 'Own', 'Egen'],
  ]);
  expect((await me.get(`/v2/courses/${id}?description_language=xx`)).status).toBe(400);
});

test('unknown parameters are named in a header', async () => {
  const me = await createProvider();
  const response = await me.get(`/v2/courses/${await me.course()}?limit=1&tag_ids=1`);
  expect([response.status, response.headers['x-ignored-parameters']]).toEqual([200, 'limit, tag_ids']);
});

test("a partner's public course is found only when partners are included", async () => {
  const [me, partner] = [await createProvider(), await createProvider()];
  await approvePartner(database, me.id, partner.id);
  const id = await partner.course({ reference: 'R', tags: [{ title: 'T' }], labels: [{ title: 'L' }] });
  const own = await me.course();
  for (const query of ['', `?partner_id=${me.id}`])
    expect((await me.get(`/v2/courses/${id}${query}`)).json()).toEqual(notFound);
  for (const query of ['include_partners=1', `partner_id=${partner.id}`]) {
    const response = await me.get(`/v2/courses/${id}?${query}&include=labels`);
    expect(response.json()).toMatchObject({ id, reference: null, tags: [], labels: [], provider: { id: partner.id } });
    expect(response.headers).not.toHaveProperty('etag');
  }
  expect((await me.get(`/v2/courses/${own}?include_partners=1`)).json()).toMatchObject({ provider: { id: me.id } });
  expect((await me.get(`/v2/courses/${own}?partner_id=${partner.id}`)).status).toBe(404);
  expect((await partner.get(`/v2/courses/${own}?include_partners=1`)).status).toBe(404);
  expect((await partner.get(`/v2/courses/${own}?partner_id=${me.id}`)).status).toBe(403);

  for (const hidden of [{ active: 0 }, { type: 'internal' }, { publishing_platform: 'own' }]) {
    const theirs = await partner.course(hidden);
    expect((await me.get(`/v2/courses/${theirs}?include_partners=1`)).status).toBe(404);
  }
});
