import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { Tx } from '../../../src/database/client.ts';
import { addBundle, addDate, changeDate } from '../../support/dates.ts';
import { importObjects } from '../../support/all-responses.ts';
import { mainProduct, createCampaign, createOrder, createProduct, write } from '../../support/orders.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const [statusAndError, tooLarge] = [
  (response: TestResponse) => [response.status, response.json<{ error?: string }>().error] as const,
  (id: number) =>
    `The item ${id} is larger than an answer may be (16 MB, 50,000 embedded items). Leave out include[], or read what belongs to it from a list of its own.`,
];

/** Writes more rows than the statement timeout allows on a busy machine. */
const writeMany = (me: Provider, work: (tx: Tx, now: string) => Promise<unknown>) =>
  write(me, async (tx, now) => {
    await tx.execute(sql`set local statement_timeout = 0`);
    await work(tx, now);
  });

/** Children of a date, all in one bundle. */
const addChildren = (me: Provider, parentId: number, bundleId: number, count: number) =>
  writeMany(me, (tx, now) =>
    tx.execute(sql`insert into course_dates
        (provider_id, course_id, parent_id, bundle_id, start_at, end_at, deadline_at, zone, teaching_language_id, created_at, updated_at)
      select provider_id, course_id, id, ${bundleId}, start_at, end_at, deadline_at, zone, 'no', ${now}, ${now}
      from course_dates, generate_series(1, ${count}::int) where provider_id = ${me.id} and id = ${parentId}`),
  );

test('children and bundles count towards the embedded item limit', async () => {
  const me = await createProvider();
  const course = await me.course();
  const [date, bundleId] = [await addDate(me, course), await addBundle(me, 'Bundle')];
  await changeDate(me, date, { bundleId });
  await addChildren(me, date, bundleId, 26_000);
  const path = `/v2/courses/${course}/coursedates/${date}`;
  const one = await me.get(path);
  expect(one.status).toBe(200);
  const refused = await me.get(`${path}?include[]=subinstances&include[]=bundle`);
  expect(statusAndError(refused)).toEqual([400, tooLarge(date)]);
  const listed = await me.get(`/v2/coursedates?coursedate_id=${date}&include[]=subinstances&include[]=bundle`);
  expect(statusAndError(listed)).toEqual([400, tooLarge(date)]);
});

test('products count once per embedding date', async () => {
  const me = await createProvider();
  const course = await me.course();
  await writeMany(me, (tx, now) =>
    tx.execute(sql`insert into products (provider_id, course_id, title, created_at, updated_at)
      select ${me.id}, ${course}, 'P' || n, ${now}, ${now} from generate_series(1, 999) n`),
  );
  const dates: number[] = [];
  for (let n = 0; n < 110; n += 1) dates.push(await addDate(me, course));
  const path = '/v2/coursedates?include[]=course.products';
  const response = await me.get(`${path}&limit=250`);
  const { items } = response.json<{ items: { coursedate_id: number }[] }>();
  expect(items.length).toBeLessThanOrEqual(50);
  expect(items.map(({ coursedate_id }) => coursedate_id)).toEqual(dates.slice(0, items.length));
  expect(response.headers['x-page-truncated']).toBe(`items=${items.length}`);
  // A later page continues with smaller pages too: none of 50 dates begins after the first 109.
  const [page, last] = await walk(me, `${path}&limit=59&page=2`);
  expect(page).toMatchObject({ truncated: 'items=49', next: { limit: '36', page: '4' } });
  expect([...page!.ids, ...last!.ids]).toEqual(dates.slice(59));
});

type Listed = { id: number }[] | { items: { coursedate_id: number }[] };

/** Follows the next links; returns the ids of each page, the query of the next one, and the header of a short page. */
async function walk(me: Provider, first: string) {
  const pages: { ids: number[]; next: Record<string, string> | undefined; truncated: unknown }[] = [];
  for (let path: string | undefined = first; path !== undefined && pages.length < 20;) {
    const response: TestResponse = await me.get(path);
    expect(response.status).toBe(200);
    const body = response.json<Listed>();
    const ids = Array.isArray(body) ? body.map(({ id }) => id) : body.items.map((item) => item.coursedate_id);
    path = /^<[^>]*?(\/v2[^>]*)>; rel="next"$/.exec(String(response.headers['link']))?.[1];
    const next = path === undefined ? undefined : Object.fromEntries(new URL(path, 'http://host').searchParams);
    pages.push({ ids, next, truncated: response.headers['x-page-truncated'] });
  }
  return pages;
}

test('a walk by since_id over long items ends pages early, and continues after the last item of each', async () => {
  const me = await createProvider();
  const ids: number[] = [];
  for (let n = 0; n < 8; n += 1) ids.push(await me.course());
  await writeMany(me, (tx) =>
    tx.execute(sql`update courses set text_lead = repeat('x', 5000000) where provider_id = ${me.id}`),
  );
  const pages = await walk(me, '/v2/courses?limit=5');
  expect(pages.flatMap((page) => page.ids)).toEqual(ids);
  expect(pages.map((page) => page.ids.length)).toEqual([3, 3, 2]);
  for (const page of pages.slice(0, -1)) {
    expect(page).toMatchObject({
      truncated: `items=${page.ids.length}`,
      next: { limit: '5', since_id: String(page.ids.at(-1)) },
    });
  }
  expect(pages.at(-1)).toMatchObject({ next: undefined, truncated: undefined });
});

test('participants of order lines count towards the embedded item limit', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const productIds = [await mainProduct(me, courseId)];
  for (let n = 1; n < 6; n += 1) productIds.push(await createProduct(me, courseId));
  const lines = productIds.map((productId) => ({ productId }));
  const { orderId } = await createOrder(me, { courseId, lines });
  const pay = (where: ReturnType<typeof sql>) => sql`insert into order_line_participants
      (provider_id, order_line_id, participant_id)
    select p.provider_id, l.id, p.id from participants p join order_lines l using (provider_id)
    where p.provider_id = ${me.id} and ${where} on conflict do nothing`;
  await writeMany(me, async (tx) => {
    await tx.execute(sql`insert into participants (provider_id, booking_id, course_id, course_date_id, user_id,
        status_updated_at, entry_source, created_at, updated_at)
      select provider_id, booking_id, course_id, course_date_id, user_id, status_updated_at, entry_source, created_at, updated_at
      from participants, generate_series(2, 9000) where provider_id = ${me.id}`);
    // Foreign keys are checked by the plans of these statistics: of an empty table they read all rows.
    await tx.execute(sql`analyze participants, order_lines`);
    await tx.execute(pay(sql`l.product_id = ${productIds[0]!}`));
    await tx.execute(sql`analyze order_line_participants`);
  });
  const paths = [`/v2/orders/${orderId}`, '/v2/orders'];
  for (const path of paths) {
    const response = await me.get(path);
    expect(response.status).toBe(200);
    expect(response.text.match(/"participant_id"/g)!.length).toBeGreaterThanOrEqual(9_000);
  }
  await writeMany(me, (tx) => tx.execute(pay(sql`true`)));
  for (const path of paths) expect(statusAndError(await me.get(path))).toEqual([400, tooLarge(orderId)]);
}, 120_000);

test('an unpaged list is rejected when it exceeds the response limit', async () => {
  const me = await createProvider();
  const course = await me.course();
  const campaignId = await createCampaign(me, {}, { courses: [course] });
  const list = () => me.get('/v2/campaigns');
  expect((await list()).status).toBe(200);
  await writeMany(me, async (tx, now) => {
    await tx.execute(sql`insert into courses
        (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id, created_at, updated_at)
      select provider_id, 'C' || n, slug, level_id, form_of_teaching_id, teaching_language_id, ${now}, ${now}
      from courses, generate_series(1, 50001) n where provider_id = ${me.id}`);
    await tx.execute(sql`insert into campaign_courses (provider_id, campaign_id, course_id)
      select provider_id, ${campaignId}, id from courses where provider_id = ${me.id} and id <> ${course}`);
  });
  const message = 'The list is larger than an answer may be (16 MB, 50,000 items with all embedded ones).';
  expect(statusAndError(await list())).toEqual([400, message]);
});

test('import rejects a line with too many gatherings, instructors, tags or labels', async () => {
  const me = await createProvider();
  const count = (length: number) => Array.from({ length }, (_, n) => n + 1);
  const refs = (kind: string, length: number) => count(length).map((n) => `${kind}-${n}`);
  const meetings = (length: number, fields: object = {}) =>
    count(length).map((n) => ({
      ref: `g-${n}`,
      gathering_at: '2030-01-01 10:00',
      gathering_end_at: '2030-01-01 11:00',
      ...fields,
    }));
  const date = { kind: 'coursedate', course_id: 'c', start_at: '2030-01-01', end_at: '2030-01-01' };
  const lines: Record<string, unknown>[] = [
    ...refs('tag', 101).map((ref) => ({ kind: 'tag', ref, title: ref })),
    ...refs('label', 101).map((ref) => ({ kind: 'label', ref, title: ref })),
    ...refs('instructor', 51).map((ref) => ({ kind: 'instructor', ref, firstname: 'A', lastname: ref })),
    { kind: 'course', ref: 'c', title: 'Fits', tags: refs('tag', 100), labels: refs('label', 100) },
    { ...date, ref: 'd', instructors: refs('instructor', 50), gatherings: meetings(200) },
  ];
  const first = lines.length + 1;
  const refused: [string, Record<string, unknown>][] = [
    ['tags', { kind: 'course', ref: 'c1', title: 'Tags', tags: refs('tag', 101) }],
    ['labels', { kind: 'course', ref: 'c2', title: 'Labels', labels: refs('label', 101) }],
    ['instructors', { ...date, ref: 'd1', instructors: refs('instructor', 51) }],
    ['gatherings', { ...date, ref: 'd2', gatherings: meetings(201, { ref: undefined }) }],
    [
      'gatherings[0].instructors',
      { ...date, ref: 'd3', gatherings: meetings(1, { ref: 'x', instructors: refs('instructor', 51) }) },
    ],
  ];
  const { written, reasons } = await importObjects(me, [...lines, ...refused.map(([, line]) => line)]);
  expect(reasons).toEqual(refused.map(([field], n) => `${first + n}: Field(s) not valid: ${field}`));
  expect(written).toBe(0);
  expect(await importObjects(me, lines)).toMatchObject({ written: lines.length, reasons: [] });
});
