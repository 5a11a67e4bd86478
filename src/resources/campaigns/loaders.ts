import { asc, getTableColumns, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import {
  campaigns,
  type campaignCourses,
  type campaignCustomers,
  type campaignTags,
} from '../../database/tables/campaigns.ts';
import { batchLoader } from '../../lists/loaders.ts';

/** The columns of a campaign and its state by the database's clock. */
export const campaignColumns = {
  ...getTableColumns(campaigns),
  isWaiting: sql<boolean>`coalesce(now() < ${campaigns.startsAt}, false)`,
  isExpired: sql<boolean>`coalesce(now() >= ${campaigns.endsAt}, false)`,
};

/** SQL: true for a provider's campaign of the course or of one of its tags, or without courses and tags. */
export const isForCourse = (provider: string, campaign: string, course: string) => {
  const named = (table: string) =>
    `select from ${table} n where n.provider_id = ${provider} and n.campaign_id = ${campaign}.id`;
  return `(exists (${named('campaign_courses')} and n.course_id = ${course})
    or exists (${named('campaign_tags')} and n.tag_id in
      (select t.tag_id from course_tags t where t.provider_id = ${provider} and t.course_id = ${course}))
    or not exists (${named('campaign_courses')}) and not exists (${named('campaign_tags')}))`;
};

export const fetchCampaigns = batchLoader((ctx, keys) =>
  ctx.db.select(campaignColumns).from(campaigns).where(keys.match(campaigns, campaigns.id)),
);

type Links = typeof campaignCourses | typeof campaignCustomers | typeof campaignTags;

/** The ids that a link table of campaigns stores, ascending. */
export const fetchLinkedIds = (links: Links, id: PgColumn) =>
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: links.campaignId, id: sql<number>`${id}`.mapWith(Number) })
      .from(links)
      .where(keys.match(links, links.campaignId))
      .orderBy(asc(id)),
  );
