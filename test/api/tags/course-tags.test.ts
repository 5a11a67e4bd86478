import { expect, test } from 'vitest';
import { dialects, encoded, typed } from '../../support/generate.ts';
import { sharedWorld } from '../../support/world.ts';

const { newProvider } = await sharedWorld();

test.each(dialects)('a tag is made by its title, trimmed: %s', async (dialect) => {
  const me = await newProvider();
  const answer = await me.post('/v2/course-tags', encoded(dialect, { title: '  Førstehjelp ' }), typed(dialect));
  const tag = { id: expect.any(Number) as number, title: 'Førstehjelp' };
  expect([answer.status, answer.json()]).toEqual([201, tag]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([answer.json()]);
  const id = await me.course({ tags: [answer.json().id] });
  expect((await me.get(`/v2/courses/${id}`)).json().tags).toEqual([answer.json()]);
});

test('the tag of an equal title is found, without regard to case, and stays as it is', async () => {
  const [me, other] = [await newProvider(), await newProvider()];
  const made = await me.post('/v2/course-tags', { title: 'Ålesund' });
  for (const title of ['Ålesund', ' ålesund ', 'ÅLESUND']) {
    const found = await me.post('/v2/course-tags', { title });
    expect([found.status, found.json()]).toEqual([200, made.json()]);
  }
  const theirs = await other.post('/v2/course-tags', { title: 'Ålesund' });
  expect([theirs.status, theirs.json().id === made.json().id]).toEqual([201, false]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([made.json()]);
});

test('of many equal titles at once one makes the tag, the others find it', async () => {
  const me = await newProvider();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => me.post('/v2/course-tags', { title: n % 2 === 0 ? 'Racing' : 'RACING' })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect((await me.get('/v2/course-tags')).json()).toHaveLength(1);
});

test.each<[object, string]>([
  [{}, 'Missing field(s): title'],
  [{ title: ' \t' }, 'Missing field(s): title'],
  [{ title: 'x'.repeat(256) }, 'Field(s) not valid: title'],
  [{ title: ['a'] }, 'Field(s) not valid: title'],
])('%j is refused: %s', async (fields, error) => {
  const me = await newProvider();
  const answer = await me.post('/v2/course-tags', fields);
  expect([answer.status, answer.json()]).toEqual([400, { error }]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
});
