import { expect, test } from 'vitest';
import { approvePartner, requestPartner, revokePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { sharedTestApp, type TestResponse } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();
const titles = (response: TestResponse) => response.json<{ title: string }[]>().map(({ title }) => title);

async function connected() {
  const [me, partner] = [await createProvider(), await createProvider()];
  await approvePartner(database, me.id, partner.id);
  return { me, partner };
}

test('include_partners adds the public courses of approved partners, with their provider', async () => {
  const { me, partner } = await connected();
  await me.course({ title: 'Own' });
  await me.course({ title: 'Own internal', type: 'internal' });
  await me.course({ title: 'Own inactive', active: false });
  await partner.course({ title: 'Public' });
  await partner.course({ title: 'Catalog', publishing_platform: 'catalog' });
  await partner.course({ title: 'Inactive', active: false });
  await partner.course({ title: 'Internal', type: 'internal' });
  await partner.course({ title: 'Elsewhere', publishing_platform: 'own' });

  const all = await me.get('/v2/courses?include_partners=true');
  expect(titles(all)).toEqual(['Own', 'Own internal', 'Own inactive', 'Public', 'Catalog']);
  const providers = all.json<{ provider: { id: number; title: string } }[]>().map(({ provider }) => provider);
  expect(providers[0]).toEqual({
    id: me.id,
    title: me.title,
    web_address: '',
    catalog_url: expect.stringContaining('/schools/') as string,
  });
  expect(providers[3]!.id).toBe(partner.id);

  expect(titles(await me.get(`/v2/courses?partner_id=${partner.id}`))).toEqual(['Public', 'Catalog']);
  expect(titles(await me.get(`/v2/courses?partner_id=${partner.id}&limit=1&page=2`))).toEqual(['Catalog']);
  expect((await me.get('/v2/courses?include_partners=1&paginate=1&limit=2')).json().pagination).toMatchObject({
    total_items: 5,
    total_pages: 3,
  });
  expect(titles(await me.get(`/v2/courses?partner_id=${me.id}`))).toHaveLength(3);
  expect((await me.get(`/v2/courses?partner_id=${me.id}`)).json()[0].provider).toMatchObject({ id: me.id });
  expect(titles(await me.get('/v2/courses'))).toHaveLength(3);
});

test('with include_partners Link uses page numbers', async () => {
  const { me, partner } = await connected();
  await me.course();
  await partner.course();
  const response = await me.get('/v2/courses?include_partners=1&limit=1');
  expect(response.headers['link']).toBe(
    '<http://localhost:3000/v2/courses?include_partners=1&limit=1&page=2>; rel="next"',
  );
});

test("a partner's private data is never shown", async () => {
  const { me, partner } = await connected();
  const secret = {
    title: 'Shown',
    reference: 'SECRET-1',
    tags: [{ title: 'SECRET-2' }],
    labels: [{ title: 'SECRET-3' }],
    email_booking: 'SECRET-4@x.example',
    email_more_info: 'SECRET-5@x.example',
    custom_properties: { note: 'SECRET-6' },
  };
  await partner.course(secret);
  expect((await partner.get('/v2/courses')).text).toContain('SECRET-1');
  const response = await me.get('/v2/courses?include_partners=1&include[]=products');
  expect(response.text).not.toContain('SECRET');
  expect(response.json()[0]).toMatchObject({
    title: 'Shown',
    reference: null,
    tags: [],
    lead_settings: { email_booking: '', email_more_info: '' },
    custom_properties: null,
    deleted_at: null,
  });
});

test('X-Updated-Through with partners precedes uncommitted partner changes', async () => {
  const { me, partner } = await connected();
  const id = await partner.course({ title: 'Before' });
  const ctx = await partner.ctx();
  let commit: () => void = () => undefined;
  let confirmUpdate: () => void = () => undefined;
  const isUpdated = new Promise<void>((done) => (confirmUpdate = done));
  const changing = ctx.write(allAreas, async ({ tx, now }) => {
    await tx.execute(`update courses set title = 'After', updated_at = '${now}' where id = ${id}`);
    confirmUpdate();
    await new Promise<void>((done) => (commit = done));
  });
  await isUpdated;
  await me.course();
  const walked = await me.get('/v2/courses?include_partners=1&updated_at_min=2020-01-01');
  commit();
  await changing;
  const through = encodeURIComponent(String(walked.headers['x-updated-through']));
  expect(titles(await me.get(`/v2/courses?include_partners=1&updated_at_min=${through}`))).toContain('After');
});

test('only an approved connection gives access, in one direction, and all others get one error', async () => {
  const [me, pending, revoked, backwards, stranger] = await Promise.all(
    Array.from({ length: 5 }, () => createProvider()),
  );
  await requestPartner(database, me!.id, pending!.id);
  await approvePartner(database, me!.id, revoked!.id);
  await revokePartner(database, me!.id, revoked!.id);
  await approvePartner(database, backwards!.id, me!.id);

  const refusals = await Promise.all(
    [pending!.id, revoked!.id, backwards!.id, stranger!.id, 999_999_999].map((id) =>
      me!.get(`/v2/courses?partner_id=${id}`),
    ),
  );
  for (const response of refusals) {
    expect([response.status, response.json()]).toEqual([403, { error: 'The partner connection is not approved' }]);
  }
  for (const other of [pending!, revoked!, backwards!, stranger!]) await other.course({ title: 'Hidden' });
  expect(titles(await me!.get('/v2/courses?include_partners=1'))).toEqual([]);
});

test('a repeated request keeps an approval and reopens a revoked connection as pending', async () => {
  const { me, partner } = await connected();
  expect(await requestPartner(database, me.id, partner.id)).toBe('approved');
  expect(await revokePartner(database, me.id, partner.id)).toBe('revoked');
  expect(await requestPartner(database, me.id, partner.id)).toBe('requested');
});

test("an inactive school is omitted from partners' lists", async () => {
  const { me, partner } = await connected();
  await partner.course({ title: 'Public' });
  const school = {
    title: 'P',
    org_nr: '1',
    phone: '1',
    email_admin: 'a@b.example',
    post_address: 'a',
    post_zip: '1',
    post_city: 'c',
  };
  await partner.put('/v2/schools', { ...school, active: 0 });
  expect(titles(await me.get('/v2/courses?include_partners=1'))).toEqual([]);
  expect(titles(await me.get(`/v2/courses?partner_id=${partner.id}`))).toEqual([]);
  expect(titles(await partner.get('/v2/courses'))).toEqual(['Public']);
});
