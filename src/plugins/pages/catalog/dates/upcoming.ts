import type { Ctx } from '../../../../database/context.ts';
import type { PageOptions } from '../../../../lists/list-types.ts';
import { canceled } from '../../../../core/reference/statuses.ts';
import { todayIn } from '../../../../core/timestamps.ts';
import { courseDateList, newestDateList, upcomingDateList } from '../../../../domains/courses/coursedates/list.ts';
import { dateIncludes, type CatalogDate, type DateItem } from './model.ts';
import { listWholeDates, toCatalogDates } from './service.ts';
import { createVersionedCache } from '../../../../database/versioned-cache.ts';

const pageSize = 250;
/** The start page, the search and dates.json have no more. */
export const maxDates = 2_000;

const cache = createVersionedCache<CatalogDate[]>(16_000_000);
const canceledDates = createVersionedCache<CatalogDate[]>(4_000_000);

/** The public dates from today on, in order of time; the first 2,000. */
export const loadUpcoming = (ctx: Ctx) => cache(ctx, '', () => readUpcoming(ctx));

async function readUpcoming(ctx: Ctx) {
  const query = { limit: pageSize, include: dateIncludes };
  const select = (_ctx: Ctx, dates: CatalogDate[]) => Promise.resolve(dates);
  return readPages(ctx, (after) => upcomingDateList.page(ctx, query, { after }), { max: maxDates, select });
}

/** Selects those from today on that are no part of another date, for the start page and the canceled ones. */
export async function selectComing(ctx: Ctx, dates: CatalogDate[]): Promise<CatalogDate[]> {
  const coming = dates.filter(({ startAt, zone }) => startAt >= todayIn(zone));
  const ids = coming.map(({ id }) => id);
  const whole = new Set((await listWholeDates(ctx, ids)).map(({ id }) => id));
  return coming.filter(({ id }) => whole.has(id));
}

const maxCanceled = 500;

/** The public canceled dates from today on, in order of time; the first 500. */
export const loadCanceled = (ctx: Ctx) =>
  canceledDates(ctx, '', () =>
    readComing(ctx, { status_id: canceled, order_by: 'startdate' }, { max: maxCanceled, select: selectComing }),
  );

/** The public dates of a course from today on, canceled ones too, in order of time; the first 2,000. */
export const loadOfCourse = (ctx: Ctx, courseId: number) =>
  readComing(ctx, { course_id: [courseId], order_by: 'startdate' }, { max: maxDates, select: selectComing });

/** The newest dates from today on, at most `max`, among the 2,000 newest of all topics or of those in `topics`. */
export const loadNewest = (ctx: Ctx, topics: number[] | undefined, max: number) =>
  readComing(
    ctx,
    { limit: 2 * max, ...(topics && { tag_ids: topics }) },
    { max, select: async (_ctx, dates) => (await selectComing(ctx, dates)).filter(isHeld) },
    newestDateList,
  );

export const isHeld = ({ state }: CatalogDate) => state !== 'canceled';

type Reading = { max: number; select: (ctx: Ctx, dates: CatalogDate[]) => Promise<CatalogDate[]> };

type DateList = typeof courseDateList | typeof newestDateList;

function readComing(ctx: Ctx, query: Record<string, unknown>, reading: Reading, list: DateList = courseDateList) {
  // No zone is more than a day behind.
  const from = new Date(Date.now() - 2 * 86_400_000).toISOString();
  const all = { limit: pageSize, include: dateIncludes, start_date_at_min: from, ...query };
  return readPages(ctx, (after) => list.page(ctx, all, { after }), reading);
}

type DatePage = Pick<Awaited<ReturnType<typeof upcomingDateList.page>>, 'items' | 'hasMore' | 'lastKey'>;

/** Reads pages until as many dates are selected, or 2,000 are read. */
async function readPages(
  ctx: Ctx,
  readPage: (after: PageOptions['after']) => Promise<DatePage>,
  { max, select }: Reading,
) {
  const found: CatalogDate[] = [];
  let after: PageOptions['after'];
  for (let numRead = 0; found.length < max && numRead < maxDates;) {
    const page = await readPage(after);
    numRead += page.items.length;
    const dates = await toCatalogDates(ctx, page.items as unknown as DateItem[]);
    found.push(...(await select(ctx, dates)));
    if (!page.hasMore) break;
    after = page.lastKey;
  }
  return found.slice(0, max);
}
