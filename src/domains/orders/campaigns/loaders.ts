import { asc, getTableColumns, sql } from 'drizzle-orm';
import {
  campaigns,
  type campaignCourses,
  type campaignCustomers,
  type campaignTags,
} from '../../../database/tables/campaigns.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';
import { batchLoader } from '../../../lists/loaders.ts';

/** SQL: true for a campaign that is active, within its period. */
export const isOpen = (campaign: string) => `(${campaign}.is_active and not ${campaign}.is_archived
  and coalesce(${campaign}.starts_at <= ${currentTimeSql}, true) and coalesce(${campaign}.ends_at > ${currentTimeSql}, true))`;

/** SQL: true for a campaign with as many orders as it may have. */
export const isUsedUp = (campaign: string) => `coalesce(${campaign}.uses >= ${campaign}.max_uses, false)`;

const condition = (expression: string) => sql<boolean>`${sql.raw(expression)}`;

/** The columns of a campaign and its state by its orders and the database's clock. */
export const campaignColumns = {
  ...getTableColumns(campaigns),
  isWaiting: condition(`coalesce(${currentTimeSql} < campaigns.starts_at, false)`),
  isExpired: condition(`coalesce(${currentTimeSql} >= campaigns.ends_at, false)`),
  isOpen: condition(isOpen('campaigns')),
  isUsedUp: condition(isUsedUp('campaigns')),
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

/** SQL: true for a provider's campaign of the customer, or of all. */
export const isForCustomer = (provider: string, campaign: string, customer: string) => {
  const named = `select from campaign_customers n where n.provider_id = ${provider} and n.campaign_id = ${campaign}.id`;
  return `(not exists (${named}) or exists (${named} and n.customer_id = ${customer}))`;
};

/** SQL: true for an order without a campaign, or with one of the course and of the order's customer. */
export const keepsCampaign = (provider: string, order: string, course: string) =>
  `not exists (select from campaigns c where c.provider_id = ${provider} and c.id = ${order}.campaign_id
    and not (${isForCourse(provider, 'c', course)} and ${isForCustomer(provider, 'c', `${order}.customer_id`)}))`;

export const fetchCampaigns = batchLoader((ctx, keys) =>
  ctx.db.select(campaignColumns).from(campaigns).where(keys.match(campaigns, campaigns.id)),
);

type Links = typeof campaignCourses | typeof campaignCustomers | typeof campaignTags;
type LinkedId =
  (typeof campaignCourses)['courseId'] | (typeof campaignCustomers)['customerId'] | (typeof campaignTags)['tagId'];

/** The ids that a link table of campaigns stores, ascending. */
export const fetchLinkedIds = (links: Links, id: LinkedId) =>
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: links.campaignId, id: sql<number>`${id}`.mapWith(Number) })
      .from(links)
      .where(keys.match(links, links.campaignId))
      .orderBy(asc(id)),
  );
