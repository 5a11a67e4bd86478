import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();
const me = await createProvider();
const other = await createProvider();
const tagTitles = ['a', 'b', 'c', 'd'];

type Model = { id: number; titles: string[]; at: bigint };
const created: Omit<Model, 'at'>[] = [];
for (let index = 0; index < 40; index += 1) {
  const titles = tagTitles.filter((_, bit) => ((index * 7) >> bit) & 1);
  created.push({ id: await me.course({ tags: titles.map((title) => ({ title })) }), titles });
  if (index % 5 === 0) await other.course({ tags: [{ title: 'a' }] });
}
const { rows: timestamps } = await database.pool.query<{ id: number; at: string }>(
  'select id, (extract(epoch from created_at) * 1000000)::bigint::text as at from courses where provider_id = $1',
  [me.id],
);
const at = new Map(timestamps.map((row) => [row.id, BigInt(row.at)]));
const courses: Model[] = created.map((course) => ({ ...course, at: at.get(course.id)! }));
const tags = (await me.get('/v2/course-tags')).json<{ id: number; title: string }[]>();
const tagIds = new Map(tags.map(({ id, title }) => [title, id]));
const all = courses.map(({ id }) => id);
const numRuns = runs();

const request = async (query: string) => {
  const response = await me.get(`/v2/courses?${query}`);
  expect(response.status, `${query}: ${response.text}`).toBe(200);
  return response;
};
const idsOf = async (query: string) => (await request(query)).json<{ id: number }[]>().map(({ id }) => id);

const limit = fc.integer({ min: 3, max: 300 });
const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });

test('paging by since_id with any limits returns each course once', async () => {
  const readAllPages = async (limits: number[]) => {
    const visited: number[] = [];
    for (let step = 0; step <= all.length; step += 1) {
      const page = await idsOf(`limit=${limits[step % limits.length]!}&since_id=${visited.at(-1) ?? 0}`);
      if (page.length === 0) break;
      visited.push(...page);
    }
    expect(visited).toEqual(all);
  };
  await fc.assert(fc.asyncProperty(sizes, readAllPages), { numRuns });
});

test('following Link with any limit returns each course once', async () => {
  const readAllPages = async (size: number) => {
    const visited: number[] = [];
    let query: string | undefined = `limit=${size}`;
    while (query !== undefined) {
      const response = await request(query);
      visited.push(...response.json<{ id: number }[]>().map(({ id }) => id));
      query = /<[^?]*\?([^>]*)>; rel="next"/.exec(String(response.headers['link']))?.[1];
    }
    expect(visited).toEqual(all);
  };
  await fc.assert(fc.asyncProperty(limit, readAllPages), { numRuns: runs(0.5) });
});

type Envelope = { pagination: Record<string, number | null>; items: { id: number }[] };
test('pages of any size cover the whole list', async () => {
  const check = async (size: number, page: number) => {
    const [per, pages] = [Math.min(size, 250), Math.ceil(all.length / Math.min(size, 250))];
    const expected = all.slice((page - 1) * per, page * per);
    expect(await idsOf(`limit=${size}&page=${page}`)).toEqual(expected);
    const { pagination, items } = (await request(`paginate=1&limit=${size}&page=${page}`)).json<Envelope>();
    expect(items.map(({ id }) => id)).toEqual(expected);
    expect(pagination).toEqual({
      total_items: all.length,
      per_page: per,
      current_page: page,
      total_pages: pages,
      previous_page: page === 1 ? null : Math.min(page - 1, pages),
      next_page: page < pages ? page + 1 : null,
    });
  };
  await fc.assert(fc.asyncProperty(limit, fc.integer({ min: 1, max: 20 }), check), { numRuns });
});

const zones = { Z: 0, '+00:00': 0, ' 02:00': 2, '+02:00': 2, '-11:30': -11.5, '+0545': 5.75, '-05': -5 };
const spellings = fc.record({ zone: fc.constantFrom(...Object.entries(zones)), separator: fc.constantFrom('T', ' ') });
type Spelling = { zone: [string, number]; separator: string };

/** An instant in microseconds, in one of the accepted formats. */
function written(micros: bigint, { zone: [offset, hours], separator }: Spelling) {
  const local = new Date(Number(micros / 1000n) + hours * 3_600_000).toISOString();
  const moment = `${local.slice(0, 10)}${separator}${local.slice(11, 19)}.${String(micros % 1_000_000n).padStart(6, '0')}`;
  return offset.startsWith(' ')
    ? `${moment.replace(' ', '+')}${offset.replace(' ', '+')}`
    : encodeURIComponent(moment + offset);
}

const cut = fc
  .tuple(fc.constantFrom(...courses.map((course) => course.at)), fc.constantFrom(-1n, 0n, 0n, 1n))
  .map(([instant, beside]) => instant + beside);
const cuts = fc.array(fc.tuple(cut, spellings), { minLength: 1, maxLength: 4 });
test.each(['created_at', 'updated_at'])('adjacent windows of %s cover each course once', async (name) => {
  const check = async (input: [bigint, Spelling][]) => {
    const sorted = [...input].sort(([a], [b]) => (a < b ? -1 : 1));
    const seen: number[] = [];
    for (let index = 0; index <= sorted.length; index += 1) {
      const [from, until] = [sorted[index - 1], sorted[index]];
      const bounds = [
        ...(from ? [`${name}_min=${written(...from)}`] : []),
        ...(until ? [`${name}_max=${written(...until)}`] : []),
      ];
      const found = await idsOf(bounds.join('&'));
      const inside = (course: Model) => (!from || course.at >= from[0]) && (!until || course.at < until[0]);
      expect(found).toEqual(courses.filter(inside).map(({ id }) => id));
      seen.push(...found);
    }
    expect(seen.sort((a, b) => a - b)).toEqual(all);
  };
  await fc.assert(fc.asyncProperty(cuts, check), { numRuns });
});

const listSpellings: ((ids: number[]) => string)[] = [
  (ids) => `tag_ids=${ids.join(',')}`,
  (ids) => `tag_ids=${ids.join('%2C%20')},`,
  (ids) => ids.map((id) => `tag_ids[]=${id}`).join('&'),
  (ids) => ids.map((id, index) => `tag_ids%5B${index}%5D=${id}`).join('&'),
  (ids) => `tag_ids[]=${ids.join(',')}&tag_ids[]=${ids[0]!}`,
];
test('tag_ids matches courses with any or all of the tags', async () => {
  const check = async (titles: string[], match: string | undefined, spell: (ids: number[]) => string) => {
    const query = spell(titles.map((title) => tagIds.get(title)!)) + (match === undefined ? '' : `&tag_match=${match}`);
    const tagged = ({ titles: own }: Model) =>
      match === 'all' ? titles.every((title) => own.includes(title)) : titles.some((title) => own.includes(title));
    expect(await idsOf(query)).toEqual(courses.filter(tagged).map(({ id }) => id));
  };
  const chosen = fc.array(fc.constantFrom(...tagTitles), { minLength: 1, maxLength: 5 });
  const match = fc.constantFrom(undefined, 'any', 'all');
  await fc.assert(fc.asyncProperty(chosen, match, fc.constantFrom(...listSpellings), check), { numRuns });
});

test('combined filters give the intersection', async () => {
  const check = async (title: string, instant: bigint, since: number, size: number) => {
    const query = `tag_ids=${tagIds.get(title)!}&created_at_min=${written(instant, { zone: ['Z', 0], separator: 'T' })}`;
    const remaining = courses.filter(({ id, titles, at }) => titles.includes(title) && at >= instant && id > since);
    expect(await idsOf(`${query}&since_id=${since}&limit=${size}`)).toEqual(
      remaining.slice(0, size).map(({ id }) => id),
    );
  };
  const since = fc.constantFrom(0, ...all, 2 ** 53 - 1);
  await fc.assert(fc.asyncProperty(fc.constantFrom(...tagTitles), cut, since, fc.integer({ min: 1, max: 50 }), check), {
    numRuns,
  });
});
