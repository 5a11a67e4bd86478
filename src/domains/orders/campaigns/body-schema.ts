import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { campaigns } from '../../../database/tables/campaigns.ts';
import { CampaignType, DiscountType } from './schema.ts';

const { Optional } = Type;

const code = t.Title({
  description: 'Unique among the campaigns that are not archived, without regard to case; without one it needs no code',
});
const startsAt = t.StoredMoment({ description: 'The first moment at which it applies; at once unless sent' });
const endsAt = t.StoredEnd({
  description: 'The first moment at which it no longer applies, after `starts_at`; a day without a time is its end',
});
const maxUses = t.Count({ minimum: 1, description: 'Orders that may have it; any number unless sent' });
const discountValue = t.Amount({ description: 'A percentage, 100 at most, or an amount in `currency`' });

/** POST /v2/campaigns. */
export type CampaignBody = Static<typeof CampaignBody>;
export const CampaignBody = t.NamedObject(
  'CampaignCreate',
  {
    title: t.stored(campaigns.title, t.Title()),
    type: t.stored(campaigns.type, t.withDefault(CampaignType, 'Campaign')),
    active: t.stored(campaigns.isActive, t.withDefault(Type.Boolean(), true)),
    campaign_code: t.stored(campaigns.campaignCode, Optional(code)),
    courses: Optional(t.JsonList(t.Id, { description: 'Ids of courses that it is for' })),
    customers: Optional(t.JsonList(t.Id, { description: 'Ids of customers that it is for' })),
    tags: Optional(t.JsonList(t.Id, { maxItems: 100, description: 'Ids of tags whose courses it is for' })),
    currency: t.stored(campaigns.currency, t.withDefault(codes.CurrencyCode, 'NOK')),
    discount_type: t.stored(campaigns.discountType, DiscountType),
    discount_value: t.stored(campaigns.discountValue, discountValue),
    starts_at: t.stored(campaigns.startsAt, Optional(startsAt)),
    ends_at: t.stored(campaigns.endsAt, Optional(endsAt)),
    max_uses: t.stored(campaigns.maxUses, Optional(maxUses)),
  },
  {
    examples: [
      {
        ...{ title: 'Early birds', campaign_code: 'EARLY', discount_type: 'Percent', discount_value: 10 },
        ...{ ends_at: '2030-06-30', max_uses: 50 },
      },
    ],
  },
);

/** PUT /v2/campaigns/:id. */
export type CampaignChange = Static<typeof CampaignChange>;
export const CampaignChange = t.NamedObject('CampaignUpdate', t.partialUpdate(CampaignBody.properties), {
  examples: [{ max_uses: 80 }],
});
