import { Type, type Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { t } from '../../../core/schema/types.ts';
import type { vouchers } from '../../../database/tables/campaigns.ts';

/** An amount that can be spent in parts. */
type Voucher = Static<typeof Voucher>;
const Voucher = t.NamedObject(
  'Voucher',
  t.member.financial.all({
    id: Type.String(),
    currency: Type.String(),
    code: Type.String(),
    balance: Type.String(),
    is_expired: Type.Boolean(),
    is_deleted: Type.Boolean(),
    expires_at: t.Nullable(t.DateTime),
    archived_at: t.Nullable(t.DateTime),
    created_at: t.DateTime,
  }),
);

/** GET /v2/vouchers. */
export const ListedVoucher = t.NamedObject('ListedVoucher', {
  ...Voucher.properties,
  ...t.member.financial.all({
    id: Type.Integer(),
    amount: Type.String({ description: 'What it was worth', examples: ['500.00'] }),
    balance: Type.String({ description: 'What is left of it', examples: ['120.50'] }),
    updated_at: t.DateTime,
  }),
});

/** Redemptions of a response. */
export const maxRedemptions = 100;

const Redemption = t.NamedObject(
  'VoucherRedemption',
  t.member.financial.all({ order_id: Type.Integer(), amount: Type.String(), created_at: t.DateTime }),
);

/** GET /v2/vouchers/:id. */
export type VoucherDetails = Static<typeof VoucherDetails>;
export const VoucherDetails = t.NamedObject('VoucherDetails', {
  ...ListedVoucher.properties,
  ...t.member.financial.all({
    redemptions: Type.Array(Redemption, { maxItems: maxRedemptions, description: 'The newest first' }),
    redemptions_truncated: Type.Optional(
      Type.Literal(true, { description: `Only where it has more than ${maxRedemptions} redemptions` }),
    ),
  }),
});

export const ValidVoucher = t.NamedObject(
  'ValidVoucher',
  t.member.financial.all({ successful: Type.Boolean(), voucher: Voucher }),
);

export type VoucherRow = typeof vouchers.$inferSelect & { isExpired: boolean };

export const toVoucher = (row: VoucherRow): Voucher => ({
  id: String(row.id),
  currency: row.currency.toLowerCase(),
  code: row.code,
  balance: row.balance,
  is_expired: row.isExpired,
  is_deleted: row.deletedAt !== null,
  expires_at: formatTimestamp(row.expiresAt),
  archived_at: formatTimestamp(row.archivedAt),
  created_at: formatTimestamp(row.createdAt),
});

export const toListedVoucher = (row: VoucherRow): Static<typeof ListedVoucher> => ({
  ...toVoucher(row),
  id: row.id,
  amount: row.amount,
  updated_at: formatTimestamp(row.updatedAt),
});

export const toRedemption = (row: { orderId: number; amount: string; createdAt: string }) => ({
  order_id: row.orderId,
  amount: row.amount,
  created_at: formatTimestamp(row.createdAt),
});
