import type { Ctx } from '../../core/context.ts';
import { asksForPartners, partnerReach } from '../partners/service.ts';
import type { PartnerQuery } from '../partners/schema.ts';
import { refuseForeignTags } from '../tags/service.ts';
import { courseDateList, nextCourseDateList } from './query.ts';

type CourseDateQuery = Parameters<typeof courseDateList.page>[1];
type CalendarQuery = Omit<Parameters<typeof nextCourseDateList.page>[1], 'since_id' | 'include_deleted'>;

/** A page of course dates, always counted; with partners included every item carries its `provider`. */
export async function listCourseDates(ctx: Ctx, query: CourseDateQuery) {
  const { asked, reach } = await asking(ctx, query);
  return courseDateList.page(ctx, asked, { reach, counted: true });
}

/** The next course dates by their start. */
export async function listNextCourseDates(ctx: Ctx, query: CalendarQuery) {
  const { asked, reach } = await asking(ctx, query);
  return nextCourseDateList.page(ctx, asked, { reach });
}

async function asking<Q extends PartnerQuery & { tag_ids?: number[]; include?: string[] }>(ctx: Ctx, query: Q) {
  const reach = await partnerReach(ctx, query);
  await refuseForeignTags(ctx, query.tag_ids);
  const asked = asksForPartners(query) ? { ...query, include: [...(query.include ?? []), 'provider'] } : query;
  return { asked, reach };
}
