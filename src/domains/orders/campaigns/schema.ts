import { Type, type Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../../core/timestamps.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import type { campaigns } from '../../../database/tables/campaigns.ts';

const ids = Type.Array(Type.Integer());

export const campaignTypes = ['Campaign', 'Agreement'] as const;
export const CampaignType = t.named('CampaignType', t.OneOf(campaignTypes));
export const discountTypes = new Map<'Percent' | 'Value', string>([
  ['Percent', 'a percentage of the price'],
  ['Value', 'an amount in `currency`'],
]);
export const DiscountType = codes.Code('DiscountType', discountTypes);

export const Campaign = t.NamedObject(
  'Campaign',
  t.member.financial.all({
    id: Type.Integer(),
    title: t.Nullable(Type.String()),
    type: CampaignType,
    active: Type.Boolean(),
    expired: Type.Boolean(),
    running: Type.Boolean(),
    waiting: Type.Boolean(),
    is_archived: Type.Boolean(),
    uses_code: Type.Boolean(),
    campaign_code: t.Nullable(Type.String()),
    courses: ids,
    customers: ids,
    tags: ids,
    currency: Type.String(),
    discount_type: DiscountType,
    discount_value: Type.Number(),
    updated_at: t.DateTime,
  }),
);

/** GET /v2/campaigns/:id. */
export type CampaignDetails = Static<typeof CampaignDetails>;
export const CampaignDetails = t.NamedObject('CampaignDetails', {
  ...Campaign.properties,
  ...t.member.financial.all({
    starts_at: t.Nullable(t.DateTime),
    ends_at: t.Nullable({ ...t.DateTime, description: 'The first moment at which it no longer applies' }),
    max_uses: t.Nullable(Type.Integer({ description: 'Orders that may have it' })),
    uses: Type.Integer({ description: 'Orders that have it' }),
  }),
});

export type EmbeddedCampaign = Static<typeof EmbeddedCampaign>;
export const EmbeddedCampaign = t.named(
  'EmbeddedCampaign',
  Type.Omit(Campaign, ['courses', 'customers', 'tags', 'updated_at']),
);

/** GET /v2/campaigns/validate/:code. */
export const ValidCampaign = t.NamedObject(
  'ValidCampaign',
  t.member.financial.all({
    successful: Type.Boolean(),
    campaign: t.NamedObject('ValidatedCampaign', {
      ...EmbeddedCampaign.properties,
      id: t.member.financial(Type.String()),
    }),
  }),
);

type CampaignState = { isWaiting: boolean; isExpired: boolean; isOpen: boolean; isUsedUp: boolean };
export type CampaignRow = typeof campaigns.$inferSelect & CampaignState;

export const toEmbeddedCampaign = (row: CampaignRow): EmbeddedCampaign => ({
  id: row.id,
  title: row.title,
  type: row.type,
  active: row.isActive,
  expired: row.isExpired,
  running: row.isOpen && !row.isUsedUp,
  waiting: row.isWaiting,
  is_archived: row.isArchived,
  uses_code: row.campaignCode !== null,
  campaign_code: row.campaignCode,
  currency: row.currency.toLowerCase(),
  discount_type: row.discountType,
  discount_value: Number(row.discountValue),
});

/** A campaign as the list has it, without the courses, customers and tags. */
export const toListed = (row: CampaignRow) => ({
  ...toEmbeddedCampaign(row),
  updated_at: formatTimestamp(row.updatedAt),
});

export const toDates = ({ startsAt, endsAt }: CampaignRow) => ({
  starts_at: formatTimestamp(startsAt),
  ends_at: formatTimestamp(endsAt),
});
