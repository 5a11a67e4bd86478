import { sql } from 'drizzle-orm';
import { expect, test, vi } from 'vitest';
import { sharedTestApp } from '../../support/test-app.ts';
import { allAreas } from '../../../src/database/areas.ts';

const { database, createProvider } = await sharedTestApp();

type Listed = { id: number; course_id?: number };

/**
 * 6,000 courses with a date each, half of them confirmed, and one older course with all tags. Every third and the last
 * 1,200 are red, the last half green, the last 200 blue; every seventh is deleted.
 */
const carried: Record<string, (n: number) => boolean> = {
  red: (n) => n === 0 || n % 3 === 0 || n > 4800,
  green: (n) => n === 0 || n > 3000,
  blue: (n) => n === 0 || n > 5800,
};
const isDeleted = (n: number) => n > 0 && n % 7 === 0;

async function school() {
  const me = await createProvider();
  await me.course({ tags: Object.keys(carried).map((title) => ({ title })) });
  const tags = (await me.get('/v2/course-tags')).json<{ id: number; title: string }[]>();
  const [red, green, blue] = Object.keys(carried).map((name) => tags.find(({ title }) => title === name)!.id);
  const ctx = await me.ctx();
  const numbered = sql`(select id, row_number() over (order by id) - 1 as n from courses where provider_id = ${me.id}) c`;
  await ctx.write(allAreas, async ({ tx, now }) => {
    await tx.execute(sql`insert into courses
      (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id, created_at, updated_at, deleted_at)
      select ${me.id}, 'Course no. ' || n, 'c', 1, 1, 'en', ${now}, ${now}, case when n % 7 = 0 then ${now}::timestamptz end
      from generate_series(1, 6000) n order by n`);
    await tx.execute(sql`insert into course_tags (provider_id, course_id, tag_id)
      select ${me.id}::bigint, id, tag from ${numbered}, unnest(array[
        case when n % 3 = 0 or n > 4800 then ${red}::bigint end,
        case when n > 3000 then ${green}::bigint end,
        case when n > 5800 then ${blue}::bigint end
      ]) tag where n > 0 and tag is not null`);
    await tx.execute(sql`insert into course_dates
      (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, status_id, created_at, updated_at)
      select ${me.id}, id, '2030-05-01', '2030-05-01', '2030-05-01', 'UTC', 'en', 1 + n % 2, ${now}, ${now} from ${numbered}
      where n > 0 order by id`);
  });
  const { rows } = await database.pool.query<{ id: number; n: number }>(
    'select id, row_number() over (order by id)::int - 1 as n from courses where provider_id = $1 order by id',
    [me.id],
  );
  const idsOf = (which: (n: number) => boolean) => rows.filter(({ n }) => which(n)).map(({ id }) => id);
  /** The response, and the statements sent for it. */
  const request = async (path: string) => {
    const spy = vi.spyOn(database.pool, 'query');
    try {
      const response = (await me.get(`/v2/${path}`)).json<Listed[] | { items: Listed[]; pagination: object }>();
      const sent = spy.mock.calls.map(([query]) => (query as unknown as { text: string }).text).join('\n');
      return { items: Array.isArray(response) ? response : response.items, response, sent };
    } finally {
      spy.mockRestore();
    }
  };
  return { red: red!, green: green!, blue: blue!, idsOf, request };
}

test('a frequent tag gives the same results with full and partial pages', async () => {
  const { red, green, blue, idsOf, request } = await school();
  const ids = async (query: string) => (await request(`courses?${query}`)).items.map(({ id }) => id);
  const found = (...names: string[]) => idsOf((n) => !isDeleted(n) && names.every((name) => carried[name]!(n)));
  const reds = found('red');
  for (const limit of [1, 5, 75, 250]) {
    expect(await ids(`tag_ids=${red}&limit=${limit}`)).toEqual(reds.slice(0, limit));
    expect(await ids(`tag_ids=${red}&limit=${limit}&page=3`)).toEqual(reds.slice(2 * limit, 3 * limit));
    expect(await ids(`tag_ids=${red}&limit=${limit}&since_id=${reds[9]}`)).toEqual(reds.slice(10, 10 + limit));
    const all = idsOf(carried['red']!);
    expect(await ids(`tag_ids=${red}&limit=${limit}&include_deleted=1`)).toEqual(all.slice(0, limit));
    const both = found('red', 'green');
    expect(await ids(`tag_ids=${red},${green}&tag_match=all&limit=${limit}`)).toEqual(both.slice(0, limit));
    const few = found('red', 'blue');
    expect(await ids(`tag_ids=${red},${blue}&tag_match=all&limit=${limit}`)).toEqual(few.slice(0, limit));
    expect(await ids(`tag_ids=${blue}&limit=${limit}`)).toEqual(found('blue').slice(0, limit));
  }
  expect(await ids(`tag_ids=${red},${green}&limit=75`)).toEqual(
    idsOf((n) => !isDeleted(n) && (carried['red']!(n) || carried['green']!(n))).slice(0, 75),
  );
});

test('pages of dates by tag continue from the cursor, and the total is counted once', async () => {
  const { red, idsOf, request } = await school();
  const reds = idsOf((n) => n > 0 && carried['red']!(n));
  const first = await request(`coursedates?tag_ids=${red}&limit=20`);
  expect(first.items.map((date) => date.course_id)).toEqual(reds.slice(0, 20));
  expect(first.response).toMatchObject({ pagination: { total_items: reds.length } });
  const second = await request(`coursedates?tag_ids=${red}&limit=20&page=2`);
  expect(second.items.map((date) => date.course_id)).toEqual(reds.slice(20, 40));
  const total = /select count\(\*\) as count from "course_dates"/;
  expect(first.sent).toMatch(total);
  expect(second.sent).not.toMatch(total);
  const odd = await request(`coursedates?tag_ids=${red}&limit=20&status_id=2`);
  expect(odd.items.map((date) => date.course_id)).toEqual(idsOf((n) => n % 2 === 1 && carried['red']!(n)).slice(0, 20));
});
