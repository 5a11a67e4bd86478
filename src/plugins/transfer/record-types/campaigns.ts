import { Type } from '@sinclair/typebox';
import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import { Problem } from '../../../core/errors.ts';
import { Flag, Line, OneOf, coercionKind, StoredEnd, StoredMoment, UpperCode } from '../../../core/schema/types.ts';
import {
  campaignCourses,
  campaignCustomers,
  campaigns,
  campaignTags,
  vouchers,
} from '../../../database/tables/campaigns.ts';
import { currencyCodes } from '../../../core/reference/currencies.ts';
import { field, type BulkRecordType } from '../record-type.ts';
import { Amount } from './value-formats.ts';

const { Optional } = Type;
const Code = { ...Line(), [coercionKind]: 'title' as const };
const Currency = Optional(UpperCode(currencyCodes, { default: 'NOK' }));

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
  fields: {
    title: field(campaigns.title, Optional(Line())),
    type: field(campaigns.type, Optional(OneOf(['Campaign', 'Agreement'], { default: 'Campaign' }))),
    active: field(campaigns.isActive, Optional(Flag())),
    is_archived: field(campaigns.isArchived, Optional(Flag())),
    campaign_code: field(campaigns.campaignCode, Optional(Code)),
    starts_at: field(campaigns.startsAt, Optional(StoredMoment())),
    ends_at: field(campaigns.endsAt, Optional(StoredEnd())),
    currency: field(campaigns.currency, Currency),
    discount_type: field(campaigns.discountType, OneOf(['Percent', 'Value'])),
    discount_value: field(campaigns.discountValue, Amount),
  },
  parts: {
    courses: { form: 'links', owner: campaignCourses.campaignId, other: campaignCourses.courseId, to: 'course' },
    customers: {
      form: 'links',
      owner: campaignCustomers.campaignId,
      other: campaignCustomers.customerId,
      to: 'customer',
    },
    tags: { form: 'links', owner: campaignTags.campaignId, other: campaignTags.tagId, to: 'tag', maxItems: 100 },
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
  fields: {
    code: field(vouchers.code, { ...Code, minLength: 1 }),
    currency: field(vouchers.currency, Currency),
    amount: field(vouchers.amount, Amount),
    balance: field(vouchers.balance, Optional(Amount)),
    expires_at: field(vouchers.expiresAt, Optional(StoredEnd())),
    archived_at: field(vouchers.archivedAt, Optional(StoredMoment())),
    deleted_at: field(vouchers.deletedAt, Optional(StoredMoment())),
  },
  derived: { spent_before: vouchers.spentBefore },
  complete(fields) {
    fields['balance'] ??= fields['amount'];
    const spent = toMinorUnits(String(fields['amount'])) - toMinorUnits(String(fields['balance']));
    if (spent < 0n) throw Problem.invalidFields({ notValid: ['balance'] });
    return { spent_before: toDecimal(spent) };
  },
};
