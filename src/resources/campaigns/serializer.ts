import { asc, getTableColumns, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { campaignCourses, campaignCustomers, campaigns, campaignTags } from '../../database/tables/campaigns.ts';
import { batchLoader, type Key } from '../../lists/loaders.ts';
import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { Campaign, EmbeddedCampaign, toEmbeddedCampaign, type CampaignRow } from './schema.ts';

/** The columns of a campaign and its state by the database's clock. */
export const campaignColumns = {
  ...getTableColumns(campaigns),
  isWaiting: sql<boolean>`coalesce(now() < ${campaigns.startsAt}, false)`,
  isExpired: sql<boolean>`coalesce(now() >= ${campaigns.endsAt}, false)`,
};

/** SQL: true for a campaign of the course or of one of its tags, or without courses and tags. */
export const isForCourse = (campaign: string, course: string) => {
  const named = (table: string) =>
    `select from ${table} n where n.provider_id = ${campaign}.provider_id and n.campaign_id = ${campaign}.id`;
  return `(exists (${named('campaign_courses')} and n.course_id = ${course})
    or exists (${named('campaign_tags')} and n.tag_id in
      (select t.tag_id from course_tags t where t.provider_id = ${campaign}.provider_id and t.course_id = ${course}))
    or not exists (${named('campaign_courses')}) and not exists (${named('campaign_tags')}))`;
};

/** Campaigns by their ids, archived ones too. */
const fetchCampaigns = batchLoader((ctx, keys) =>
  ctx.db.select(campaignColumns).from(campaigns).where(keys.match(campaigns, campaigns.id)),
);

type Links = typeof campaignCourses | typeof campaignCustomers | typeof campaignTags;

/** The ids that a link table of campaigns stores, ascending. */
const linkedIds = (links: Links, id: PgColumn) =>
  relation.hasMany(
    batchLoader((ctx, keys) =>
      ctx.db
        .select({ ownerId: links.campaignId, id: sql<number>`${id}`.mapWith(Number) })
        .from(links)
        .where(keys.match(links, links.campaignId))
        .orderBy(asc(id)),
    ),
    (row: { ownerId: number; id: number }) => row.id,
  );

export const campaignSerializer = defineSerializer<CampaignRow>()({
  responseSchema: Campaign,
  relations: {
    courses: linkedIds(campaignCourses, campaignCourses.courseId),
    customers: linkedIds(campaignCustomers, campaignCustomers.customerId),
    tags: linkedIds(campaignTags, campaignTags.tagId),
  },
  toResponse: (row, relations) => ({ ...toEmbeddedCampaign(row), ...relations }),
  includes: {},
});

/** A campaign inside an order, without its courses, customers and tags. */
const embeddedCampaignSerializer = defineSerializer<CampaignRow>()({
  responseSchema: EmbeddedCampaign,
  relations: {},
  toResponse: (row) => toEmbeddedCampaign(row),
  includes: {},
});

export const includeCampaign = <Row extends Key>(campaignId: (row: Row) => number | null) =>
  relation.includeOne(campaignId, fetchCampaigns, embeddedCampaignSerializer, 'unset');
