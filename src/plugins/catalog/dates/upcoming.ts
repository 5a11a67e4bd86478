import type { Ctx } from '../../../database/context.ts';
import type { PageOptions } from '../../../lists/list-types.ts';
import { canceled } from '../../../core/reference/statuses.ts';
import { todayIn } from '../../../core/timestamps.ts';
import { courseDateList, nextCourseDateList } from '../../../resources/coursedates/list.ts';
import { dateIncludes, toCatalogDate, type CatalogDate, type DateItem } from './model.ts';
import { listWholeDates } from './service.ts';
import { createVersionedCache } from './versioned-cache.ts';

const pageSize = 250;
/** More dates are found by the interface alone. */
export const maxDates = 2_000;

const cache = createVersionedCache<CatalogDate[]>(16_000_000);

/** The public dates from today on, in order of time; the first 2,000. */
export const loadUpcoming = (ctx: Ctx) => cache(ctx, '', () => readUpcoming(ctx));

async function readUpcoming(ctx: Ctx) {
  const query = { limit: pageSize, include: ['course.products', 'instructors'] };
  return readPages(ctx, (after) => nextCourseDateList.page(ctx, query, { after }), maxDates);
}

/** Of public dates those from today on that are no part of another date: dates of the start page, and canceled ones. */
export async function selectComing(ctx: Ctx, dates: CatalogDate[]): Promise<CatalogDate[]> {
  const coming = dates.filter(({ startAt, zone }) => startAt >= todayIn(zone));
  if (coming.length === 0) return [];
  const ids = coming.map(({ id }) => id);
  const whole = new Set((await listWholeDates(ctx, ids)).map(({ id }) => id));
  return coming.filter(({ id }) => whole.has(id));
}

const maxCanceled = 500;

/** The public canceled dates from today on, in order of time; the first 500. */
export async function loadCanceled(ctx: Ctx): Promise<CatalogDate[]> {
  // No zone is more than a day behind.
  const from = new Date(Date.now() - 2 * 86_400_000).toISOString();
  const order = { limit: pageSize, include: dateIncludes, order_by: 'startdate' };
  const query = { ...order, status_id: canceled, start_date_at_min: from };
  const found = await readPages(ctx, (after) => courseDateList.page(ctx, query, { after }), maxCanceled);
  return selectComing(ctx, found);
}

type DatePage = Pick<Awaited<ReturnType<typeof nextCourseDateList.page>>, 'items' | 'hasMore' | 'lastKey'>;

async function readPages(ctx: Ctx, readPage: (after: PageOptions['after']) => Promise<DatePage>, max: number) {
  const found: CatalogDate[] = [];
  let after: PageOptions['after'];
  while (found.length < max) {
    const page = await readPage(after);
    found.push(...(page.items as unknown as DateItem[]).map((item) => toCatalogDate(item, ctx.settings)));
    if (!page.hasMore) break;
    after = page.lastKey;
  }
  return found.slice(0, max);
}
