import { campaignCourses, campaignCustomers, campaignTags } from '../../../database/tables/campaigns.ts';
import { t } from '../../../core/schema/types.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { fetchCampaigns, fetchLinkedIds } from './loaders.ts';
import {
  Campaign,
  CampaignDetails,
  EmbeddedCampaign,
  toCampaignDetails,
  toEmbeddedCampaign,
  toListedCampaign,
  type CampaignRow,
} from './fields.ts';

const linkedIds = (...args: Parameters<typeof fetchLinkedIds>) =>
  relation.hasMany(fetchLinkedIds(...args), ({ id }) => id);

const relations = {
  courses: linkedIds(campaignCourses, campaignCourses.courseId),
  customers: linkedIds(campaignCustomers, campaignCustomers.customerId),
  tags: linkedIds(campaignTags, campaignTags.tagId),
};

export const campaignSerializer = defineSerializer<CampaignRow>()({
  reads: ['money'],
  responseSchema: Campaign,
  relations,
  toResponse: toListedCampaign,
});

export const campaignDetailsSerializer = defineSerializer<CampaignRow>()({
  reads: ['money'],
  responseSchema: CampaignDetails,
  relations,
  toResponse: toCampaignDetails,
});

/** A campaign inside an order, without its courses, customers and tags. */
const embeddedCampaignSerializer = defineSerializer<CampaignRow>()({
  reads: ['money'],
  responseSchema: EmbeddedCampaign,
  toResponse: toEmbeddedCampaign,
});

export const includeCampaign = relation.includer(fetchCampaigns, embeddedCampaignSerializer, t.member.financial);
