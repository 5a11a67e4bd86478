import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import { Problem } from '../../../core/errors.ts';
import {
  campaignCourses,
  campaignCustomers,
  campaigns,
  campaignTags,
  vouchers,
} from '../../../database/tables/campaigns.ts';
import { importedCampaign } from '../../../domains/orders/campaigns/fields.ts';
import { importedVoucher } from '../../../domains/orders/vouchers/fields.ts';
import { links, storedFields, type BulkRecordType } from '../record-type.ts';

const endsBeforeStart = `
  with own as materialized
    (select line, data from staged_lines
      where provider_id = $1 and kind = 'campaign' and part = 0 and bad is not true)
  select line from own where (data->>'ends_at')::timestamptz <= (data->>'starts_at')::timestamptz`;

export const campaign: BulkRecordType = {
  kind: 'campaign',
  table: campaigns,
  checks: [{ field: 'ends_at', text: endsBeforeStart }],
  unique: {
    field: 'campaign_code',
    among: 't.campaign_code is not null and not t.is_archived',
    applies: ({ campaign_code: code, is_archived: isArchived }) => code !== undefined && isArchived !== true,
  },
  fields: storedFields(importedCampaign),
  parts: {
    courses: links(campaignCourses.campaignId, campaignCourses.courseId, 'course'),
    customers: links(campaignCustomers.campaignId, campaignCustomers.customerId, 'customer'),
    tags: links(campaignTags.campaignId, campaignTags.tagId, 'tag', 100),
  },
  complete({ discount_type: type, discount_value: value }) {
    if (type === 'Percent' && Number(value) > 100) throw Problem.invalidFields({ notValid: ['discount_value'] });
    return undefined;
  },
};

export const voucher: BulkRecordType = {
  kind: 'voucher',
  table: vouchers,
  unique: {
    field: 'code',
    among: 't.deleted_at is null',
    applies: ({ deleted_at: deletedAt }) => deletedAt === undefined,
  },
  fields: storedFields(importedVoucher),
  derived: { spent_before: vouchers.spentBefore },
  complete(fields) {
    fields['balance'] ??= fields['amount'];
    const spent = toMinorUnits(String(fields['amount'])) - toMinorUnits(String(fields['balance']));
    if (spent < 0n) throw Problem.invalidFields({ notValid: ['balance'] });
    return { spent_before: toDecimal(spent) };
  },
};
