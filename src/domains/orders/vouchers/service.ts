import { desc, eq, isNull, sql } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { toDecimal, toMinorUnits } from '../../../core/money.ts';
import { vouchers } from '../../../database/tables/campaigns.ts';
import { caseFolded } from '../../../database/tables/columns.ts';
import { voucherRedemptions } from '../../../database/tables/orders.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
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

const { toColumns, toUpdatedColumns, insert } = bodyWriter(vouchers, VoucherBody);

const constraints = {
  vouchers_code: () =>
    Problem.coded('equal_code', 'A voucher with an equal code exists already', { notValid: ['code'] }),
};

const matchVoucher = (ctx: Ctx, id: number) =>
  tenantWhere(ctx, vouchers, eq(vouchers.id, id), isNull(vouchers.deletedAt));

/** Archived ones too. */
export async function getVoucher(ctx: Ctx, id: number): Promise<VoucherDetails> {
  const voucher = Problem.assertFound(await voucherList.byId(ctx, id), 'Voucher');
  const rows = await ctx.db
    .select()
    .from(voucherRedemptions)
    .where(tenantWhere(ctx, voucherRedemptions, eq(voucherRedemptions.voucherId, id)))
    .orderBy(desc(voucherRedemptions.orderId))
    .limit(maxRedemptions + 1);
  const redemptions = rows.slice(0, maxRedemptions).map(toRedemption);
  return { ...voucher, redemptions, ...(rows.length > maxRedemptions && { redemptions_truncated: true as const }) };
}

export async function createVoucher(ctx: Ctx, body: VoucherBody): Promise<VoucherDetails> {
  const { code } = body;
  const amount = body.amount.toFixed(2);
  const work = ctx.write(['money'], async ({ tx, now }) => {
    const own = { providerId: ctx.providerId, createdAt: now, updatedAt: now };
    const id = await insert(tx, { ...toColumns(body), code, amount, balance: amount, ...own });
    return getVoucher({ ...ctx, db: tx }, tx.auditItem(id));
  });
  return Problem.mapConstraints(constraints, work);
}

/** The balance changes by as much as the amount. */
export async function updateVoucher(ctx: Ctx, id: number, body: VoucherChange): Promise<VoucherDetails> {
  const voucher = matchVoucher(ctx, id);
  const work = ctx.write(['money'], async ({ tx, now }) => {
    const [before] = await tx.select().from(vouchers).where(voucher);
    if (!before) throw Problem.notFound('Voucher');
    const amount = body.amount?.toFixed(2) ?? before.amount;
    const balance = toMinorUnits(amount) - toMinorUnits(before.amount) + toMinorUnits(before.balance);
    if (balance < 0n) throw Problem.invalidFields({ rules: { amount: 'amount_below_spent' } });
    const values = { ...toUpdatedColumns(body), amount, balance: toDecimal(balance) };
    if ((await tx.updateChanged(vouchers, voucher, values, now)) === 0) tx.rollBack();
  });
  await Problem.mapConstraints(constraints, work);
  return getVoucher(ctx, id);
}

/** Idempotent. Its code stays taken. */
export async function archiveVoucher(ctx: Ctx, id: number): Promise<VoucherDetails> {
  const voucher = matchVoucher(ctx, id);
  await ctx.write(['money'], async ({ tx, now }) => {
    const [before] = await tx.select().from(vouchers).where(voucher);
    if (!before) throw Problem.notFound('Voucher');
    if (before.archivedAt !== null) tx.rollBack();
    else await tx.update(vouchers).set({ archivedAt: now, updatedAt: now }).where(voucher);
  });
  return getVoucher(ctx, id);
}

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
