import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { AmountText, t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import { vouchers as c } from '../../../database/tables/campaigns.ts';
import { fieldsOf } from '../../../lists/fields.ts';

export type VoucherRow = typeof c.$inferSelect & { isExpired: boolean };

const { define, financial, imported } = fieldsOf<VoucherRow>();
const expiresAt = t.StoredEnd({
  description: 'The first moment at which it no longer pays; a day without a time is its end',
});

const fields = define(
  {
    id: financial(c.id),
    code: financial(c.code, t.Title({ description: 'Unique, without regard to case' })),
    currency: financial(c.currency, t.withDefault(codes.CurrencyCode, 'NOK'), {
      read: (row) => row.currency.toLowerCase(),
    }),
    amount: financial(c.amount, t.Amount({ minimum: 0.01, description: 'What it is worth' }), {
      shown: Type.String({ description: 'What it was worth', examples: ['500.00'] }),
      imported: true,
    }),
    balance: financial(c.balance, undefined, {
      shown: Type.String({ description: 'What is left of it', examples: ['120.50'] }),
      imported: Type.Optional(AmountText),
    }),
    is_expired: financial.value(Type.Boolean(), (row) => row.isExpired),
    is_deleted: financial.value(Type.Boolean(), (row) => row.deletedAt !== null),
    expires_at: financial(c.expiresAt, Type.Optional(expiresAt)),
    archived_at: financial(c.archivedAt, undefined, { imported: true }),
    deleted_at: imported(c.deletedAt),
    created_at: financial(c.createdAt),
    updated_at: financial(c.updatedAt),
  },
  {
    answer: 'code balance is_expired is_deleted expires_at archived_at created_at amount updated_at',
    body: 'expires_at currency',
  },
);
export const importedVoucher = fields.imported;

/** GET /v2/vouchers. */
export const [ListedVoucher, toListedVoucher] = fields.item('ListedVoucher');

/** POST /v2/vouchers. */
export type VoucherBody = Static<typeof VoucherBody>;
export const VoucherBody = fields.body('VoucherCreate', {
  examples: [{ code: 'GIFT-2030', amount: 500, expires_at: '2030-12-31' }],
});

/** PUT /v2/vouchers/:id. */
export type VoucherChange = Static<typeof VoucherChange>;
export const VoucherChange = fields.update(
  'VoucherUpdate',
  { examples: [{ expires_at: '2031-12-31' }] },
  { currency: undefined },
);

/** An amount that can be spent in parts. */
const [{ properties }, toWhole] = fields.item('Voucher', ['amount', 'updated_at']);
const Voucher = t.NamedObject('Voucher', {
  ...properties,
  ...t.member.financial.all({ id: Type.String(), balance: Type.String() }),
});
export const toVoucher = (row: VoucherRow, ctx: Ctx): Static<typeof Voucher> => ({
  ...toWhole(row, undefined, ctx),
  id: String(row.id),
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

/** GET /v2/vouchers/validate/:code. */
export const ValidVoucher = t.NamedObject(
  'ValidVoucher',
  t.member.financial.all({ successful: Type.Boolean(), voucher: Voucher }),
);

export const toRedemption = (row: { orderId: number; amount: string; createdAt: string }) => ({
  order_id: row.orderId,
  amount: row.amount,
  created_at: formatTimestamp(row.createdAt),
});
