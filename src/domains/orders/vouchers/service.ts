import { desc, eq, sql } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import { vouchers } from '../../../database/tables/campaigns.ts';
import { caseFolded } from '../../../database/tables/columns.ts';
import { voucherRedemptions } from '../../../database/tables/orders.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { itemOperations } from '../../../lists/item-operations.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { voucherList } from './list.ts';
import { voucherColumns } from './loaders.ts';
import {
  maxRedemptions,
  toRedemption,
  toVoucher,
  VoucherBody,
  type VoucherChange,
  type VoucherDetails,
} from './fields.ts';

const writer = bodyWriter(vouchers, VoucherBody);

const constraints = {
  vouchers_code: () =>
    Problem.coded('equal_code', 'A voucher with an equal code exists already', { notValid: ['code'] }),
};

async function find(ctx: Ctx, id: number) {
  const voucher = await voucherList.byId(ctx, id);
  if (!voucher) return undefined;
  const rows = await ctx.db
    .select()
    .from(voucherRedemptions)
    .where(tenantWhere(ctx, voucherRedemptions, eq(voucherRedemptions.voucherId, id)))
    .orderBy(desc(voucherRedemptions.orderId))
    .limit(maxRedemptions + 1);
  const redemptions = rows.slice(0, maxRedemptions).map(toRedemption);
  return { ...voucher, redemptions, ...(rows.length > maxRedemptions && { redemptions_truncated: true as const }) };
}

/** The balance changes by as much as the amount. */
function derive({ amount: sent }: VoucherChange, before = { amount: '0', balance: '0' }) {
  const amount = sent?.toFixed(2) ?? before.amount;
  const balance = toMinorUnits(amount) - toMinorUnits(before.amount) + toMinorUnits(before.balance);
  if (balance < 0n) throw Problem.invalidFields({ rules: { amount: 'amount_below_spent' } });
  return { amount, balance: toDecimal(balance) };
}

/** The code of an archived voucher stays taken. */
export const voucherOperations = itemOperations<VoucherDetails, VoucherBody, VoucherChange>({
  ...{ item: 'Voucher', table: vouchers, areas: ['money'], writer, find, derive, constraints },
});

/** The voucher with this code, case ignored; a deleted one only if there is no other. */
export async function validateVoucher(ctx: Ctx, code: string) {
  const [voucher] = await ctx.db
    .select(voucherColumns)
    .from(vouchers)
    .where(tenantWhere(ctx, vouchers, sql`${caseFolded(vouchers.code)} = ${caseFolded(code)}`))
    .orderBy(desc(sql`${vouchers.deletedAt} is null`), desc(vouchers.id))
    .limit(1);
  return { successful: true, voucher: toVoucher(Problem.assertFound(voucher, 'Voucher'), ctx) };
}
