import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { vouchers } from '../../../database/tables/campaigns.ts';

const expiresAt = t.StoredEnd({
  description: 'The first moment at which it no longer pays; a day without a time is its end',
});

const changeable = {
  code: t.stored(vouchers.code, t.Title({ description: 'Unique, without regard to case' })),
  amount: t.stored(vouchers.amount, t.Amount({ minimum: 0.01, description: 'What it is worth' })),
  expires_at: t.stored(vouchers.expiresAt, Type.Optional(expiresAt)),
};

/** POST /v2/vouchers. */
export type VoucherBody = Static<typeof VoucherBody>;
export const VoucherBody = t.NamedObject(
  'VoucherCreate',
  { ...changeable, currency: t.stored(vouchers.currency, t.withDefault(codes.CurrencyCode, 'NOK')) },
  { examples: [{ code: 'GIFT-2030', amount: 500, expires_at: '2030-12-31' }] },
);

/** PUT /v2/vouchers/:id. */
export type VoucherChange = Static<typeof VoucherChange>;
export const VoucherChange = t.NamedObject('VoucherUpdate', t.partialUpdate(changeable), {
  examples: [{ expires_at: '2031-12-31' }],
});
