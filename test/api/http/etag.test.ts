import { expect, test } from 'vitest';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();
const lists = [
  '/v2/courses',
  '/v2/courses?paginate=true',
  '/v2/courses?updated_at_min=2020-01-01',
  '/v2/course-tags',
  '/v2/durations',
];
const tagOf = async (provider: Provider, url: string, headers = {}) =>
  (await provider.get(url, headers)).headers['etag'] as string;

test.each(lists)('%s has a weak ETag', async (url) => {
  const me = await createProvider();
  const tag = await tagOf(me, url);
  expect(tag).toMatch(/^W\/"[\w-]+"$/);
  expect(await tagOf(me, url)).toBe(tag);
});

test.each<[string, (tag: string) => string]>([
  ['the tag', (tag) => tag],
  ['a list with the tag', (tag) => `W/"other", ${tag} , "third"`],
  ['a list without blanks', (tag) => `"a",${tag}`],
  ['the tag as a strong one', (tag) => tag.slice(2)],
])('%s returns 304 without a body', async (_name, known) => {
  const me = await createProvider();
  for (const url of lists) {
    const response = await me.get(url, { 'if-none-match': known(await tagOf(me, url)) });
    expect(response, url).toMatchObject({ status: 304, text: '' });
    expect(response.headers).toMatchObject({
      'cache-control': 'private, no-cache',
      vary: 'Accept-Encoding, Accept-Language, X-API-Key',
    });
    expect(response.headers['etag']).toBe(await tagOf(me, url));
  }
});

test.each(['W/"other"', '""', 'nonsense', '"*"', ','])('If-None-Match: %s returns 200', async (known) => {
  const me = await createProvider();
  for (const url of lists) expect((await me.get(url, { 'if-none-match': known })).status).toBe(200);
});

test('If-None-Match does not hide an invalid query', async () => {
  const me = await createProvider();
  for (const url of ['/v2/courses?limit=0', '/v2/courses?tag_ids=999999999']) {
    expect((await me.get(url, { 'if-none-match': '*' })).status, url).toBe(400);
  }
  expect((await me.get('/v2/nothing', { 'if-none-match': '*' })).status).toBe(404);
  expect((await me.get('/v2/courses', { 'if-none-match': '*', 'x-api-key': 'wrong' })).status).toBe(401);
});

test('an error has no ETag', async () => {
  const me = await createProvider();
  for (const query of ['limit=0', 'tag_ids=999999999']) {
    expect((await me.get(`/v2/courses?${query}`)).headers).not.toHaveProperty('etag');
  }
});

test.each<[string, (me: Provider) => Promise<unknown>]>([
  ['POST /v2/courses', (me) => me.post('/v2/courses', { title: 'A' })],
  ['POST /courses', (me) => me.post('/courses', { title: 'A' })],
  ['PUT /v2/schools', (me) => me.put('/v2/schools', minimalSchool)],
])('%s changes the ETag', async (_name, write) => {
  const me = await createProvider();
  const url = '/v2/courses?include[]=provider';
  const before = await tagOf(me, url);
  await write(me);
  expect((await me.get(url, { 'if-none-match': before })).status).toBe(200);
  expect(await tagOf(me, url)).not.toBe(before);
});

test('a rejected write keeps the ETag', async () => {
  const me = await createProvider();
  await me.course({ title: 'A' });
  const before = await tagOf(me, '/v2/courses');
  expect((await me.post('/v2/courses', { title: 'A' })).status).toBe(400);
  expect(await tagOf(me, '/v2/courses')).toBe(before);
});

test('a write of another provider keeps the ETag', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const before = await tagOf(me, '/v2/courses');
  await other.course();
  expect(await tagOf(me, '/v2/courses')).toBe(before);
});

test.each(lists)('%s: ETags differ by provider, language and query', async (url) => {
  const [me, twin] = [await createProvider('Twin'), await createProvider('Twin')];
  const more = url.includes('?') ? '&' : '?';
  const tags = [
    await tagOf(me, url),
    await tagOf(twin, url),
    await tagOf(me, url, { 'accept-language': 'nb' }),
    ...(url.includes('courses')
      ? [await tagOf(me, `${url}${more}limit=10`), await tagOf(me, `${url}${more}limit=11`)]
      : []),
  ];
  expect(new Set(tags).size).toBe(tags.length);
});

test('equivalent queries have the same ETag', async () => {
  const me = await createProvider();
  const tag = await tagOf(me, '/v2/courses?limit=10&page=1&include[]=products');
  for (const query of ['page=1&include=products&limit=10', 'include%5B0%5D=products&limit=10&page=1&x=1']) {
    expect(await tagOf(me, `/v2/courses?${query}`)).toBe(tag);
  }
});

test('lists with partners have no ETag', async () => {
  const [me, partner] = [await createProvider(), await createProvider()];
  await approvePartner(database, me.id, partner.id);
  const course = await me.course();
  for (const list of ['/v2/courses?', '/v2/coursedates?', `/v2/batch/coursedates?course_ids=${course}&`]) {
    for (const query of ['include_partners=1', 'include_partners=YES', `partner_id=${partner.id}`]) {
      const response = await me.get(list + query, { 'if-none-match': '*' });
      expect(response.status, list + query).toBe(200);
      expect(response.headers).not.toHaveProperty('etag');
    }
    expect(await tagOf(me, `${list}include_partners=0`)).toBeTruthy();
  }
});

test('a list by updated_at_min has X-Updated-Through', async () => {
  const me = await createProvider();
  await me.course();
  const first = await me.get('/v2/courses?updated_at_min=2020-01-01');
  const through = String(first.headers['x-updated-through']);
  expect(through).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d:\d\d$/);
  const id = await me.course();
  const next = await me.get(`/v2/courses?updated_at_min=${encodeURIComponent(through)}`);
  expect(next.json<{ id: number }[]>().map((item) => item.id)).toContain(id);
  expect((await me.get('/v2/courses')).headers).not.toHaveProperty('x-updated-through');
});
