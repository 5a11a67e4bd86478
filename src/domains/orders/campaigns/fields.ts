import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { campaigns as c } from '../../../database/tables/campaigns.ts';
import { fieldsOf } from '../../../lists/fields.ts';

const { Optional } = Type;
const ids = Type.Array(Type.Integer());

export const campaignTypes = ['Campaign', 'Agreement'] as const;
const CampaignType = t.named('CampaignType', t.OneOf(campaignTypes));
export const discountTypes = new Map<'Percent' | 'Value', string>([
  ['Percent', 'a percentage of the price'],
  ['Value', 'an amount in `currency`'],
]);
const DiscountType = codes.Code('DiscountType', discountTypes);

type CampaignState = { isWaiting: boolean; isExpired: boolean; isOpen: boolean; isUsedUp: boolean };
export type CampaignRow = typeof c.$inferSelect & CampaignState;

const { define, financial } = fieldsOf<CampaignRow, { courses?: number[]; customers?: number[]; tags?: number[] }>();

const code = t.Title({
  description: 'Unique among the campaigns that are not archived, without regard to case; without one it needs no code',
});
const startsAt = t.StoredMoment({ description: 'The first moment at which it applies; at once unless sent' });
const endsAt = t.StoredEnd({
  description: 'The first moment at which it no longer applies, after `starts_at`; a day without a time is its end',
});
const maxUses = t.Count({ minimum: 1, description: 'Orders that may have it; any number unless sent' });
const discountValue = t.Amount({ description: 'A percentage, 100 at most, or an amount in `currency`' });

const fields = define(
  {
    id: financial(c.id),
    title: financial(c.title, t.Title(), { imported: true }),
    type: financial(c.type, t.withDefault(CampaignType, 'Campaign'), { shown: CampaignType }),
    active: financial(c.isActive, t.withDefault(Type.Boolean(), true)),
    expired: financial.value(Type.Boolean(), (row) => row.isExpired),
    running: financial.value(Type.Boolean(), (row) => row.isOpen && !row.isUsedUp),
    waiting: financial.value(Type.Boolean(), (row) => row.isWaiting),
    is_archived: financial(c.isArchived, undefined, { imported: true }),
    uses_code: financial.value(Type.Boolean(), (row) => row.campaignCode !== null),
    campaign_code: financial(c.campaignCode, Optional(code), { imported: Optional(t.Title({ minLength: 0 })) }),
    courses: financial.value(
      ids,
      (_, { courses = [] }) => courses,
      Optional(t.JsonList(t.Id, { description: 'Ids of courses that it is for' })),
    ),
    customers: financial.value(
      ids,
      (_, { customers = [] }) => customers,
      Optional(t.JsonList(t.Id, { description: 'Ids of customers that it is for' })),
    ),
    tags: financial.value(
      ids,
      (_, { tags = [] }) => tags,
      Optional(t.JsonList(t.Id, { maxItems: 100, description: 'Ids of tags whose courses it is for' })),
    ),
    starts_at: financial(c.startsAt, Optional(startsAt)),
    ends_at: financial(c.endsAt, Optional(endsAt), {
      shown: t.Nullable({ ...t.DateTime, description: 'The first moment at which it no longer applies' }),
    }),
    max_uses: financial(c.maxUses, Optional(maxUses), {
      shown: t.Nullable(Type.Integer({ description: 'Orders that may have it' })),
    }),
    currency: financial(c.currency, t.withDefault(codes.CurrencyCode, 'NOK'), {
      shown: Type.String(),
      read: (row) => row.currency.toLowerCase(),
    }),
    discount_type: financial(c.discountType, DiscountType, { shown: DiscountType }),
    discount_value: financial(c.discountValue, discountValue, {
      shown: Type.Number(),
      read: (row) => Number(row.discountValue),
      imported: true,
    }),
    updated_at: financial(c.updatedAt),
    uses: financial(c.uses, undefined, { shown: Type.Integer({ description: 'Orders that have it' }) }),
  },
  { answer: 'updated_at starts_at ends_at max_uses uses', body: 'starts_at ends_at max_uses' },
);
export const importedCampaign = fields.imported;

export const [Campaign, toListedCampaign] = fields.item('Campaign', ['starts_at', 'ends_at', 'max_uses', 'uses']);

/** GET /v2/campaigns/:id. */
export type CampaignDetails = Static<typeof CampaignDetails>;
export const [CampaignDetails, toCampaignDetails] = fields.item('CampaignDetails');

export const [EmbeddedCampaign, toEmbeddedCampaign] = fields.item('EmbeddedCampaign', [
  ...(['courses', 'customers', 'tags', 'updated_at', 'starts_at', 'ends_at', 'max_uses', 'uses'] as const),
]);

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

/** POST /v2/campaigns. */
export type CampaignBody = Static<typeof CampaignBody>;
export const CampaignBody = fields.body('CampaignCreate', {
  examples: [
    {
      ...{ title: 'Early birds', campaign_code: 'EARLY', discount_type: 'Percent', discount_value: 10 },
      ...{ ends_at: '2030-06-30', max_uses: 50 },
    },
  ],
});

/** PUT /v2/campaigns/:id. */
export type CampaignChange = Static<typeof CampaignChange>;
export const CampaignChange = fields.update('CampaignUpdate', { examples: [{ max_uses: 80 }] });
