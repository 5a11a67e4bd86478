import { eq } from 'drizzle-orm';
import { Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { courseDates } from '../../../src/database/tables/coursedates.ts';
import { getEndpoints, includeNames } from '../../support/isolation.ts';
import { withProfile, type KeyOf } from '../../support/key-profiles.ts';
import { write } from '../../support/orders.ts';
import {
  createPublicCatalog,
  foreignMembers,
  publicResponses,
  revealsSecret,
  secret,
} from '../../support/public-catalog.ts';
import {
  connectionTo,
  openTestApp,
  openTestAppForFile,
  openTestDatabase,
  ownDatabase,
  type TestResponse,
} from '../../support/test-app.ts';

const testApp = await openTestAppForFile();
const { me, ids, publicIds } = await createPublicCatalog(testApp);
const key = await withProfile(testApp, me, 'publishable');

/** Replaces `now()` in a database without connections. Returns a function that sets the time in Oslo. */
async function createClock(name: string) {
  const pool = new Pool(connectionTo(name));
  onTestFinished(() => pool.end());
  await pool.query(`create schema clock; create table clock.times (now timestamptz);
    insert into clock.times values (pg_catalog.now());
    create function clock.now() returns timestamptz language sql stable as 'select now from clock.times';
    alter database ${name} set search_path = clock, pg_catalog, public`);
  return (time: string) => pool.query(`update clock.times set now = timezone('Europe/Oslo', $1::timestamp)`, [time]);
}

type Items = Record<string, unknown>[];
const itemsOf = (response: TestResponse) => {
  expect(response.status, response.text).toBe(200);
  const body = response.json<Items | { items: Items }>();
  return Array.isArray(body) ? body : body.items;
};
const idsOf = async (url: string, name = 'id', reader: Pick<KeyOf, 'get'> = key) =>
  itemsOf(await reader.get(url)).map((item) => item[name] as number);

describe('the items', () => {
  test.each<[string, string, () => number[]]>([
    ['/v2/courses', 'id', () => publicIds.courses],
    ['/v2/courses?paginate=1', 'id', () => publicIds.courses],
    ['/v2/coursedates', 'coursedate_id', () => publicIds.dates],
    ['/v2/locations', 'id', () => publicIds.locations],
    ['/v2/instructors', 'id', () => publicIds.instructors],
  ])('%s has the public ones alone', async (url, name, expected) => {
    expect(await idsOf(url, name)).toEqual(expected());
    expect((await idsOf(url, name, me)).length).toBeGreaterThan(expected().length);
  });

  test('are ordered by id instead of a member that is not shown', async () => {
    const [first] = publicIds.dates;
    await write(me, (tx) => tx.update(courseDates).set({ createdAt: '2035-01-01' }).where(eq(courseDates.id, first!)));
    expect(await idsOf('/v2/coursedates?order_by=created_at', 'coursedate_id')).toEqual(publicIds.dates);
    const reversed = await idsOf('/v2/coursedates?order_by=created_at&order_direction=desc', 'coursedate_id');
    expect(reversed).toEqual([...publicIds.dates].reverse());
    const ofSchool = await idsOf('/v2/coursedates?order_by=created_at', 'coursedate_id', me);
    expect(ofSchool.at(-1)).toBe(first);
  });

  test('courses have the orders that dates have', async () => {
    expect(await idsOf('/v2/courses?order_direction=desc')).toEqual(publicIds.courses.toReversed());
    const updated = await idsOf('/v2/courses?order_by=updated_at');
    expect(updated.toSorted((a, b) => a - b)).toEqual(publicIds.courses);
  });

  test('private ones are 404 by their id', async () => {
    const statuses = async (all: number[], path: (id: number) => string) =>
      new Map(await Promise.all(all.map(async (id) => [id, (await key.get(path(id))).status] as const)));
    const expected = (all: number[], open: number[]) => new Map(all.map((id) => [id, open.includes(id) ? 200 : 404]));
    expect(await statuses(ids.courses, (id) => `/v2/courses/${id}`)).toEqual(expected(ids.courses, publicIds.courses));
    expect(await statuses(ids.courses, (id) => `/v2/courses/${id}/coursedates`)).toEqual(
      expected(ids.courses, publicIds.courses),
    );
    expect(await statuses(ids.instructors, (id) => `/v2/instructors/${id}`)).toEqual(
      expected(ids.instructors, publicIds.instructors),
    );
    const course = publicIds.courses[0]!;
    const ofCourse = await idsOf(`/v2/courses/${course}/coursedates`, 'coursedate_id');
    expect(await statuses(ids.dates, (id) => `/v2/courses/${course}/coursedates/${id}`)).toEqual(
      expected(ids.dates, ofCourse),
    );
  });

  test('tags are those of public courses, as are the filters by tags', async () => {
    const tags = itemsOf(await key.get('/v2/course-tags')) as { id: number; title: string }[];
    expect(tags.map(({ title }) => title).sort()).toEqual(['a', 'b']);
    const b = tags.find(({ title }) => title === 'b')!.id;
    expect(await idsOf(`/v2/courses?tag_ids=${b}`)).toEqual(publicIds.courses.slice(0, 2));
    const hidden = ids.tags.find((id) => !tags.some((tag) => tag.id === id))!;
    expect((await key.get(`/v2/courses?tag_ids=${hidden}`)).status).toBe(400);
  });

  test('a school that is not active has none', async () => {
    const other = await createPublicCatalog(testApp);
    const otherKey = await withProfile(testApp, other.me, 'publishable');
    expect(await idsOf('/v2/courses', 'id', otherKey)).toEqual(other.publicIds.courses);
    await write(other.me, (tx) => tx.execute(`update providers set is_active = false where id = ${other.me.id}`));
    for (const url of ['/v2/courses', '/v2/coursedates', '/v2/locations', '/v2/instructors', '/v2/course-tags'])
      expect(await idsOf(url, 'id', otherKey), url).toEqual([]);
    expect((await otherKey.get('/v2/schools')).status).toBe(404);
    expect((await otherKey.get('/v2/whoami')).status).toBe(404);
  });
});

const reads = getEndpoints(testApp).filter(({ name }) => name in publicResponses);
const pathOf = (path: string) =>
  path
    .replace('{course_id}', String(publicIds.courses[0]))
    .replace(
      '{id}',
      String(
        path.includes('coursedates')
          ? publicIds.dates[0]
          : path.includes('instr')
            ? publicIds.instructors[0]
            : publicIds.courses[0],
      ),
    );

const dates = [
  ...['limit', 'page', 'since_id', 'updated_at_min', 'updated_at_max', 'start_date_at_min', 'start_date_at_max'],
  ...['end_date_at_min', 'end_date_at_max', 'order_by', 'order_direction', 'tag_ids', 'tag_match', 'include'],
  ...['course_id', 'coursedate_id', 'status_id'],
];
/** The query parameters that a publishable key may send; all others are refused. */
const publicParameters: Record<string, string[]> = {
  'GET /v2/courses': [
    ...['limit', 'page', 'since_id', 'paginate', 'updated_at_min', 'updated_at_max', 'description_language'],
    ...['tag_ids', 'tag_match', 'order_by', 'order_direction', 'include'],
  ],
  'GET /v2/courses/{id}': ['description_language', 'include'],
  'GET /v2/coursedates': [...dates, 'format', 'delimiter', 'spreadsheet'],
  'GET /v2/nextcoursedates': ['limit', 'page', 'tag_ids', 'tag_match', 'include'],
  'GET /v2/batch/coursedates': ['course_ids', ...dates],
  'GET /v2/courses/{course_id}/coursedates': dates,
  'GET /v2/courses/{course_id}/coursedates/{id}': ['include'],
  'GET /v2/locations': ['limit', 'page', 'since_id'],
  'GET /v2/instructors': ['limit', 'page', 'since_id'],
  'GET /v2/instructors/{id}': [],
  'GET /v2/course-tags': [],
  'GET /v2/durations': [],
  'GET /v2/schools': [],
  'GET /v2/whoami': [],
};

describe.each(reads)('$name', (endpoint) => {
  const required = endpoint.path.includes('batch') ? `course_ids=${publicIds.courses.join(',')}` : '';
  const url = (query: string) => `${pathOf(endpoint.path)}?${[required, query].filter(Boolean).join('&')}`;

  test('it shows public members alone, with every include', async () => {
    const shown: string[] = [];
    for (const include of ['', ...includeNames(endpoint)]) {
      const { status, text } = await key.get(url(include && `include[]=${include}`));
      expect([200, 403], text).toContain(status);
      if (status === 200) shown.push(include);
      expect([foreignMembers(endpoint.name, status === 200 ? text : '{}'), revealsSecret(text)], include).toEqual([
        [],
        false,
      ]);
    }
    const every = await key.get(
      url(
        shown
          .slice(1)
          .map((one) => `include[]=${one}`)
          .join('&'),
      ),
    );
    expect([every.status, foreignMembers(endpoint.name, every.text)]).toEqual([200, []]);
  });

  test('other keys see more, and the secret (control)', async () => {
    const { text } = await me.get(url(''));
    const more = foreignMembers(endpoint.name, text);
    expect(more.length > 0).toBe(endpoint.name !== 'GET /v2/durations');
    const hasSecret = !/durations|course-tags|whoami/.test(endpoint.name);
    if (hasSecret) expect(text).toContain(secret);
  });

  test('parameters that are not public are refused', async () => {
    const names = (endpoint.operation.parameters ?? [])
      .filter((one) => one.in === 'query')
      .map(({ name }) => name.replace('[]', ''));
    for (const name of names) {
      const { status, text } = await key.get(url(`${name}=1`));
      const error = `A publishable key may not use these parameters: ${name}`;
      if (!publicParameters[endpoint.name]!.includes(name))
        expect([status, JSON.parse(text)], name).toEqual([403, { error }]);
      else expect(status, name).not.toBe(403);
    }
  });
});

test('an include that is not public is refused', async () => {
  const { status, text } = await key.get(`/v2/courses/${publicIds.courses[0]}?include[]=labels,products`);
  expect([status, JSON.parse(text)]).toEqual([
    403,
    { error: 'A key with the profile publishable may not include labels' },
  ]);
});

describe('the caches', () => {
  const lists = ['/v2/courses', '/v2/coursedates', '/v2/locations', '/v2/instructors', '/v2/course-tags'];
  const read = async (reader: Pick<KeyOf, 'get'>, url: string, tag?: string) => {
    const { status, headers, text } = await reader.get(url, tag ? { 'if-none-match': tag } : {});
    return { status, etag: String(headers['etag']), text };
  };

  test.each(lists)('%s is separate for publishable and other keys, in either order', async (url) => {
    for (const order of [
      [me, key],
      [key, me],
    ] as const) {
      // A page size of its own makes another entry of the cache.
      const sized = url === '/v2/course-tags' ? url : `${url}?limit=${order[0] === me ? 201 : 202}`;
      const [first, second] = [await read(order[0], sized), await read(order[1], sized)];
      const again = [await read(order[0], sized), await read(order[1], sized)];
      expect(again).toEqual([first, second]);
      expect(first.text).not.toBe(second.text);
      expect(first.etag).not.toBe(second.etag);
      expect((await read(order[1], sized, first.etag)).status).toBe(200);
      expect((await read(order[1], sized, second.etag)).status).toBe(304);
    }
  });

  test('concurrent requests are not shared between publishable and other keys', async () => {
    const url = '/v2/coursedates?limit=203';
    const all = await Promise.all([me, key, me, key, me, key].map((reader) => read(reader, url)));
    const [own, open] = [await read(me, url), await read(key, url)];
    expect(all).toEqual([own, open, own, open, own, open]);
  });

  test('totals are not shared', async () => {
    const total = async (reader: Pick<KeyOf, 'get'>) =>
      (await reader.get('/v2/coursedates?limit=2')).json<{ pagination: { total_items: number } }>().pagination
        .total_items;
    const own = await total(me);
    expect(await total(key)).toBe(publicIds.dates.length);
    expect(await total(me)).toBe(own);
  });

  test('a date whose deadline passes disappears, with the ETag', async () => {
    const name = await ownDatabase();
    const setTime = await createClock(name);
    const clocked = await openTestApp(openTestDatabase(name));
    onTestFinished(clocked.close);
    const school = await clocked.createProvider();
    const course = await school.course();
    const days = { start_at: '2035-06-12', end_at: '2035-06-12', deadline_at: '2035-06-10' };
    for (const visible_when_passed_deadline of [0, 1])
      await school.post(`/v2/courses/${course}/coursedates`, { ...days, visible_when_passed_deadline });
    const other = await withProfile(clocked, school, 'publishable');
    const url = '/v2/coursedates';
    const count = async (reader: Pick<KeyOf, 'get'>) => itemsOf(await reader.get(url)).length;

    await setTime('2035-06-10 23:46');
    const { etag } = await read(other, url);
    const { etag: ownTag } = await read(school, url);
    expect(await count(other)).toBe(2);
    await setTime('2035-06-10 23:59');
    expect((await read(other, url, etag)).status).toBe(304);
    await setTime('2035-06-11 00:00');
    expect((await read(other, url, etag)).status).toBe(200);
    expect(await count(other)).toBe(1);
    expect([(await read(school, url, ownTag)).status, await count(school)]).toEqual([304, 2]);
  });

  test('a date that is hidden disappears from the list of locations', async () => {
    const catalog = await createPublicCatalog(testApp);
    const other = await withProfile(testApp, catalog.me, 'publishable');
    const before = await read(other, '/v2/locations');
    const hide = `update course_dates set is_visible = false where provider_id = ${catalog.me.id}`;
    await (await catalog.me.ctx()).write(['dates'], ({ tx }) => tx.execute(hide));
    const after = await read(other, '/v2/locations', before.etag);
    expect([after.status, after.text]).toEqual([200, '[]']);
  });
});

test.each(['/v2/courses', '/v2/locations', '/v2/instructors'])(
  'Link of %s continues by since_id, to the end of the list',
  async (path) => {
    const all = await idsOf(`${path}?limit=250`);
    expect(all.length).toBeGreaterThan(1);
    const walked: unknown[] = [];
    let next: string | undefined = `${path}?limit=1`;
    while (next !== undefined) {
      const response = await key.get(next);
      walked.push(...itemsOf(response).map(({ id }) => id));
      const link = response.headers['link'] as string | undefined;
      next = link && /^<http:\/\/[^/]+(\/[^>]+)>; rel="next"$/.exec(link)![1];
      if (next !== undefined) expect(next).toMatch(/[?&]since_id=\d+/);
    }
    expect(walked).toEqual(all);
  },
);
