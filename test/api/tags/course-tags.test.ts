import { expect, test } from 'vitest';
import { dialects, encodeBody, contentTypeHeader } from '../../support/request-bodies.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

test.each(dialects)('POST /v2/course-tags creates a tag with the trimmed title: %s', async (dialect) => {
  const me = await createProvider();
  const response = await me.post(
    '/v2/course-tags',
    encodeBody(dialect, { title: '  Førstehjelp ' }),
    contentTypeHeader(dialect),
  );
  const tag = { id: expect.any(Number) as number, title: 'Førstehjelp', updated_at: expect.any(String) as string };
  expect([response.status, response.json()]).toEqual([201, tag]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([response.json()]);
  const id = await me.course({ tags: [response.json().id] });
  const embedded = { id: response.json().id, title: 'Førstehjelp' };
  expect((await me.get(`/v2/courses/${id}`)).json().tags).toEqual([embedded]);
});

test('an existing tag with the same case-insensitive title is returned unchanged', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const created = await me.post('/v2/course-tags', { title: 'Ålesund' });
  for (const title of ['Ålesund', ' ålesund ', 'ÅLESUND']) {
    const found = await me.post('/v2/course-tags', { title });
    expect([found.status, found.json()]).toEqual([200, created.json()]);
  }
  const theirs = await other.post('/v2/course-tags', { title: 'Ålesund' });
  expect([theirs.status, theirs.json().id === created.json().id]).toEqual([201, false]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([created.json()]);
});

test('concurrent posts of one title create one tag', async () => {
  const me = await createProvider();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => me.post('/v2/course-tags', { title: n % 2 === 0 ? 'Racing' : 'RACING' })),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  expect((await me.get('/v2/course-tags')).json()).toHaveLength(1);
});

test.each<[object, string]>([
  [{}, 'Missing field(s): title'],
  [{ title: ' \t' }, 'Missing field(s): title'],
  [{ title: 'x'.repeat(256) }, 'Field(s) not valid: title'],
  [{ title: ['a'] }, 'Field(s) not valid: title'],
])('%j is rejected: %s', async (fields, error) => {
  const me = await createProvider();
  const response = await me.post('/v2/course-tags', fields);
  expect([response.status, response.json()]).toEqual([400, { error }]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
});
