import { LRUCache } from 'lru-cache';
import type { Ctx } from '../../../database/context.ts';
import type { PageOptions } from '../../../lists/list-types.ts';
import { nextCourseDateList } from '../../../resources/coursedates/list.ts';
import { toCatalogDate, type CatalogDate, type DateItem } from './model.ts';

const pageSize = 250;
/** More dates are found by the interface alone. */
export const maxDates = 2_000;

/** Public dates by the versions of the data that they depend on. */
const cache = new LRUCache<string, Promise<CatalogDate[]>>({ max: 30 });

/** The public dates from today on, in order of time; the first 2,000. */
export function loadUpcoming(ctx: Ctx): Promise<CatalogDate[]> {
  const { publishableFor, versions, language, settings } = ctx;
  const { shared, school, catalog, dates } = versions!;
  const key = [
    publishableFor!.id,
    publishableFor!.quarter,
    shared,
    school,
    catalog,
    dates,
    language,
    settings.timezone,
  ];
  const name = key.join(' ');
  const known = cache.get(name);
  if (known) return known;
  const loading = readUpcoming(ctx);
  cache.set(name, loading);
  // A failed read is tried again.
  loading.catch(() => cache.delete(name));
  return loading;
}

async function readUpcoming(ctx: Ctx) {
  const found: CatalogDate[] = [];
  const query = { limit: pageSize, include: ['course.products', 'instructors'] };
  let after: PageOptions['after'];
  while (found.length < maxDates) {
    const page = await nextCourseDateList.page(ctx, query, { after });
    found.push(...(page.items as unknown as DateItem[]).map((item) => toCatalogDate(item, ctx.settings)));
    if (!page.hasMore) break;
    after = page.lastKey;
  }
  return found.slice(0, maxDates);
}
