import { asc } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { campaigns } from '../../database/tables/campaigns.ts';
import { own } from '../../lists/reach.ts';
import { campaignColumns, campaignShape } from './shape.ts';

/** All campaigns of the provider; the list names no `limit`, so it is not paged. */
export async function listCampaigns(ctx: Ctx) {
  const rows = await ctx.db
    .select(campaignColumns)
    .from(campaigns)
    .where(own(ctx, campaigns))
    .orderBy(asc(campaigns.id));
  return campaignShape.embed(ctx, rows, {}, []);
}
