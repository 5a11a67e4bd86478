import { sql } from 'drizzle-orm';
import { expect, test, vi } from 'vitest';
import { sharedWorld } from './support/world.ts';

const { database, newProvider } = await sharedWorld();

type Listed = { id: number; course_id?: number };

/** 600 courses with a date each, of which every second will run. Every third course is red, so are the last 200, and the last 20 are blue too; every seventh is deleted. */
async function school() {
  const me = await newProvider();
  await me.course({ tags: [{ title: 'red' }, { title: 'blue' }] });
  const tags = (await me.get('/v2/course-tags')).json<{ id: number; title: string }[]>();
  const [red, blue] = ['red', 'blue'].map((name) => tags.find(({ title }) => title === name)!.id) as [number, number];
  const ctx = await me.ctx();
  await ctx.write(async (tx, at) => {
    await tx.execute(sql`insert into courses
      (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id, created_at, updated_at, deleted_at)
      select ${me.id}, 'Course no. ' || n, 'c', 1, 1, 'en', ${at}, ${at}, case when n % 7 = 0 then ${at}::timestamptz end
      from generate_series(1, 600) n order by n`);
    const numbered = sql`(select id, row_number() over (order by id) - 1 as n from courses where provider_id = ${me.id}) c`;
    await tx.execute(sql`insert into course_tags (provider_id, tag_id, course_id)
      select ${me.id}::bigint, ${red}::bigint, id from ${numbered} where n > 0 and (n % 3 = 0 or n > 400)
      union all select ${me.id}::bigint, ${blue}::bigint, id from ${numbered} where n > 580`);
    await tx.execute(sql`insert into course_dates
      (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, status_id, created_at, updated_at)
      select ${me.id}, id, '2030-05-01', '2030-05-01', '2030-05-01', 'UTC', 'en', 1 + n % 2, ${at}, ${at} from ${numbered}
      where n > 0 order by id`);
  });
  const { rows } = await database.pool.query<{ id: number; n: number }>(
    'select id, row_number() over (order by id)::int - 1 as n from courses where provider_id = $1 order by id',
    [me.id],
  );
  const idsOf = (which: (n: number) => boolean) => rows.filter(({ n }) => which(n)).map(({ id }) => id);
  return { me, red, blue, idsOf };
}

const isRed = (n: number) => n === 0 || n % 3 === 0 || n > 400;
const isBlue = (n: number) => n === 0 || n > 580;
const isDeleted = (n: number) => n > 0 && n % 7 === 0;

test('what many courses carry is found alike whether a page is full early or not', async () => {
  const { me, red, blue, idsOf } = await school();
  const ids = async (query: string) => (await me.get(`/v2/courses?${query}`)).json<Listed[]>().map(({ id }) => id);
  const found = (which: (n: number) => boolean) => idsOf((n) => which(n) && !isDeleted(n));
  const reds = found(isRed);
  for (const limit of [1, 5, 75, 250]) {
    expect(await ids(`tag_ids=${red}&limit=${limit}`)).toEqual(reds.slice(0, limit));
    expect(await ids(`tag_ids=${red}&limit=${limit}&page=3`)).toEqual(reds.slice(2 * limit, 3 * limit));
    expect(await ids(`tag_ids=${red}&limit=${limit}&since_id=${reds[9]}`)).toEqual(reds.slice(10, 10 + limit));
    expect(await ids(`tag_ids=${red}&limit=${limit}&include_deleted=1`)).toEqual(idsOf(isRed).slice(0, limit));
    expect(await ids(`tag_ids=${red},${blue}&tag_match=all&limit=${limit}`)).toEqual(found(isBlue).slice(0, limit));
    expect(await ids(`tag_ids=${red},${blue}&limit=${limit}`)).toEqual(reds.slice(0, limit));
  }
});

test('a full page is found among the first of the list, a total counts all', async () => {
  const { me, red, blue, idsOf } = await school();
  const askedOf = async (path: string) => {
    const spy = vi.spyOn(database.pool, 'query');
    try {
      const { items, pagination } = (await me.get(path)).json<{
        items: Listed[];
        pagination: { total_items: number };
      }>();
      const texts = spy.mock.calls.map(([asked]) => (asked as unknown as { text: string }).text);
      return { items, total: pagination.total_items, texts };
    } finally {
      spy.mockRestore();
    }
  };
  const reds = idsOf((n) => n > 0 && isRed(n));
  const first = await askedOf(`/v2/coursedates?tag_ids=${red}&limit=20`);
  expect(first.items.map((date) => date.course_id)).toEqual(reds.slice(0, 20));
  expect(first.total).toBe(reds.length);
  // The page was full before it was asked how many carry it, which the total alone had to know.
  const page = first.texts.findIndex((text) => text.includes('looked_at'));
  expect(page).toBeGreaterThan(0);
  expect(first.texts.findIndex((text) => text.includes('some_courses'))).toBeGreaterThan(page);
  // The same total: nothing but the page is asked for.
  const second = await askedOf(`/v2/coursedates?tag_ids=${red}&limit=20&since_id=0`);
  expect(second.items).toEqual(first.items);

  const odd = await askedOf(`/v2/coursedates?tag_ids=${red}&limit=20&status_id=2`);
  expect(odd.items.map((date) => date.course_id)).toEqual(idsOf((n) => n % 2 === 1 && isRed(n)).slice(0, 20));

  const both = await askedOf(`/v2/coursedates?tag_ids=${red},${blue}&tag_match=all&limit=10`);
  const blues = idsOf((n) => n > 0 && isBlue(n));
  expect(both.items.map((date) => date.course_id)).toEqual(blues.slice(0, 10));
  expect(both.total).toBe(blues.length);
  expect((await askedOf(`/v2/coursedates?tag_ids=${red}&limit=20&page=2`)).texts.join()).not.toContain('some_courses');
});
