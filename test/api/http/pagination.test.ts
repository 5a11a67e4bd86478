import { expect, onTestFinished, test, vi } from 'vitest';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { countOnce, nearestCursor, rememberCursor, createPageHints } from '../../../src/lists/paging/page-hints.ts';
import { createBookableDate } from '../../support/booking.ts';
import { recordStatements, type RecordedStatement } from '../../support/record-statements.ts';
import { openTestDatabase, openTestApp, ownDatabase, type Provider, type TestApp } from '../../support/test-app.ts';

/** A separate database, since a write to shared data changes the version of every list. */
async function openOwnTestApp() {
  const own = await openTestApp(openTestDatabase(await ownDatabase()));
  onTestFinished(own.close);
  return own;
}

async function withCourses(count: number, own?: TestApp) {
  const testApp = own ?? (await openOwnTestApp());
  const me = await testApp.createProvider();
  const ids: number[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await me.course());
  return { testApp, me, ids };
}

/** Ids of a page, and the OFFSET of the statement that finds them, if any is sent. */
async function query(me: Provider, query: string, list = '/v2/courses') {
  let ids: number[] = [];
  const sent = await recordStatements(async () => {
    const found = (await me.get(`${list}?${query}`)).json<{ id: number }[] | { items: { id: number }[] }>();
    ids = (Array.isArray(found) ? found : found.items).map(({ id }) => id);
  });
  const finding = sent.filter(({ text }) => / limit (\(select )?\$\d+/.test(text));
  if (finding.length === 0) return [ids, 'no query'];
  expect(finding).toHaveLength(1);
  const [{ text, values }] = finding as [RecordedStatement];
  // With a range the ids are scanned first; here so many match that all rows are read.
  const [finds] = text.split(' as is_many').slice(-1);
  const offset = / offset (?:\(select )?\$(\d+)/.exec(finds!);
  return [ids, offset ? values[Number(offset[1]) - 1] : 0];
}

test("the next page starts from the previous page's cursor with unchanged results", async () => {
  const { me, ids } = await withCourses(9);
  for (let page = 1; page <= 5; page += 1) {
    expect(await query(me, `limit=2&page=${page}`)).toEqual([ids.slice(2 * page - 2, 2 * page), 0]);
  }
  // Pages of another size also start at a cursor, and later pages at the nearest one.
  expect(await query(me, 'limit=4&page=2')).toEqual([ids.slice(4, 8), 0]);
  expect(await query(me, 'limit=7&page=2')).toEqual([ids.slice(7), 1]);
  expect(await query(me, 'limit=1&page=2')).toEqual([ids.slice(1, 2), 1]);
});

test('pages are ordered by id regardless of row location, page size and offset', async () => {
  const { me, ids } = await withCourses(9);
  // An updated row moves behind all others.
  for (const id of [ids[4]!, ids[0]!, ids[7]!]) await me.put(`/v2/courses/${id}`, { title: `Moved ${id}` });
  for (const limit of [3, 75, 250]) {
    const [since, page] = [ids.slice(2), ids.slice(2 + limit)];
    expect(await query(me, `limit=${limit}`)).toEqual([ids.slice(0, limit), 0]);
    expect(await query(me, `limit=${limit}&since_id=${ids[1]}`)).toEqual([since.slice(0, limit), 0]);
    expect((await query(me, `limit=${limit}&since_id=${ids[1]}&page=2`))[0]).toEqual(page.slice(0, limit));
  }
});

test('pages past the end run no query until a row is added', async () => {
  const { me, ids } = await withCourses(9);
  expect(await query(me, 'limit=5&page=9')).toEqual([[], 40]);
  expect(await query(me, 'limit=5&page=9&unknown=1')).toEqual([[], 'no query']);
  // Cursors are only known up to there, and only for this query.
  expect(await query(me, 'limit=5&page=8')).toEqual([[], 35]);
  expect(await query(me, 'limit=5&page=9&since_id=1')).toEqual([[], 40]);
  expect(await query(me, 'limit=5&page=9&include_deleted=true')).toEqual([[], 40]);
  // The total is known from a last page, and from a count alone.
  expect(await query(me, 'limit=5&page=2')).toEqual([ids.slice(5), 5]);
  expect(await query(me, 'limit=3&page=4')).toEqual([[], 'no query']);
  expect((await query(me, 'limit=3&paginate=1'))[0]).toEqual(ids.slice(0, 3));
  expect(await query(me, 'limit=3&paginate=1&page=4')).toEqual([[], 'no query']);
  const added = await me.course();
  expect(await query(me, 'limit=3&page=4')).toEqual([[added], 9]);
});

test('time-dependent queries past the last page always run', async () => {
  const me = await (await openOwnTestApp()).createProvider();
  await createBookableDate(me, {});
  for (let n = 0; n < 2; n += 1) {
    const [ids, skipped] = await query(me, 'start_date_at_min=now&page=3', '/v2/coursedates');
    expect([ids, skipped]).toEqual([[], 150]);
  }
});

test('the first page and other queries use OFFSET', async () => {
  const { me, ids } = await withCourses(5);
  await query(me, 'limit=2&page=1');
  expect(await query(me, `limit=2&page=2&since_id=${ids[0]!}`)).toEqual([ids.slice(3), 2]);
  expect(await query(me, 'limit=2&page=2&include_deleted=true')).toEqual([ids.slice(2, 4), 2]);
  expect(await query(me, 'limit=2&page=2&updated_at_min=2020-01-01')).toEqual([ids.slice(2, 4), 2]);
  expect(await query(me, 'limit=2&page=3&updated_at_min=2020-01-01')).toEqual([ids.slice(4), 0]);
  // Includes do not change the pages.
  expect(await query(me, 'limit=2&page=2&include[]=products')).toEqual([ids.slice(2, 4), 0]);
});

test('concurrent page requests return the same as sequential ones', async () => {
  const { me, ids } = await withCourses(12);
  for (const pages of [
    [1, 2, 3],
    [4, 5, 6],
    [3, 1, 6],
  ]) {
    const responses = await Promise.all(
      pages.map((page) => me.get(`/v2/courses?limit=2&page=${page}&at_once=${pages[0]!}`)),
    );
    const found = responses.map((response) => response.json<{ id: number }[]>().map(({ id }) => id));
    expect(found).toEqual(pages.map((page) => ids.slice(2 * page - 2, 2 * page)));
  }
});

test('a data change resets the page cursors', async () => {
  const { me, ids } = await withCourses(6);
  for (const page of [1, 2]) await query(me, `limit=2&page=${page}`);
  expect((await me.request('DELETE')(`/v2/courses/${ids[0]!}`)).status).toBe(200);
  expect(await query(me, 'limit=2&page=3')).toEqual([ids.slice(5), 4]);
});

test('page cursors are not shared between providers nor used with partners', async () => {
  const { testApp, me } = await withCourses(4);
  const other = await withCourses(4, testApp);
  await approvePartner(testApp.database, me.id, other.me.id);
  await query(me, 'limit=2&page=1');
  expect(await query(other.me, 'limit=2&page=2')).toEqual([other.ids.slice(2), 2]);
  await query(me, 'limit=2&page=1&include_partners=true');
  expect((await query(me, 'limit=2&page=2&include_partners=true'))[1]).toBe(2);
});

test('an order other than by id uses OFFSET', async () => {
  const me = await (await openOwnTestApp()).createProvider();
  for (let n = 0; n < 4; n += 1) await createBookableDate(me, {});
  await query(me, 'limit=2&order_by=startdate', '/v2/coursedates');
  expect((await query(me, 'limit=2&page=2&order_by=startdate', '/v2/coursedates'))[1]).toBe(2);
});

test('the last few cursors are remembered, and the nearest earlier one is used', () => {
  const known = createPageHints();
  expect(nearestCursor(known, 75)).toBeUndefined();
  for (let page = 1; page <= 20; page += 1) rememberCursor(known, { count: page * 75, id: page * 1_000 });
  expect(known.cursors.size).toBe(8);
  expect(nearestCursor(known, 12 * 75)).toBeUndefined();
  expect(nearestCursor(known, 15 * 75 + 74)).toEqual({ count: 15 * 75, id: 15_000 });
  expect(nearestCursor(known, 1e9)).toEqual({ count: 20 * 75, id: 20_000 });
  // The recently used entry stays.
  rememberCursor(known, { count: 13 * 75, id: 13_000 });
  rememberCursor(known, { count: 21 * 75, id: 21_000 });
  expect(nearestCursor(known, 14 * 75)).toEqual({ count: 13 * 75, id: 13_000 });
});

test('a failed count is repeated', async () => {
  const known = createPageHints();
  await expect(countOnce(known, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  const count = vi.fn(() => Promise.resolve(7));
  expect(await Promise.all([countOnce(known, count), countOnce(known, count)])).toEqual([7, 7]);
  expect(count).toHaveBeenCalledTimes(1);
});

test('a list of one page stores no cursor', async () => {
  const { testApp, me } = await withCourses(2);
  await query(me, 'limit=2');
  expect(testApp.app.listCache.pageHints.size).toBe(0);
  await query(me, 'limit=1');
  expect(testApp.app.listCache.pageHints.size).toBe(1);
});
