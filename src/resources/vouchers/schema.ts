import { Type, type Static } from '@sinclair/typebox';
import { formatPlainTimestamp } from '../../core/timestamps.ts';
import { t } from '../../core/schema/types.ts';
import type { vouchers } from '../../database/tables/campaigns.ts';

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
    expires_at: t.Nullable(t.PlainDateTime),
    archived_at: t.Nullable(t.PlainDateTime),
    created_at: t.PlainDateTime,
  }),
);

export const ValidVoucher = t.NamedObject(
  'ValidVoucher',
  t.member.financial.all({ successful: Type.Boolean(), voucher: Voucher }),
);

type VoucherRow = typeof vouchers.$inferSelect & { isExpired: boolean };

export const toVoucher = (row: VoucherRow): Voucher => ({
  id: String(row.id),
  currency: row.currency.toLowerCase(),
  code: row.code,
  balance: row.balance,
  is_expired: row.isExpired,
  is_deleted: row.deletedAt !== null,
  expires_at: formatPlainTimestamp(row.expiresAt),
  archived_at: formatPlainTimestamp(row.archivedAt),
  created_at: formatPlainTimestamp(row.createdAt),
});
