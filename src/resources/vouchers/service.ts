import { desc, getTableColumns, sql } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import { vouchers } from '../../database/tables/campaigns.ts';
import { caseFolded } from '../../database/tables/columns.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { toVoucher } from './schema.ts';

/** The voucher with this code, case ignored; a deleted one only if there is no other. */
export async function validateVoucher(ctx: Ctx, code: string) {
  const [voucher] = await ctx.db
    .select({ ...getTableColumns(vouchers), isExpired: sql<boolean>`coalesce(now() >= ${vouchers.expiresAt}, false)` })
    .from(vouchers)
    .where(tenantWhere(ctx, vouchers, sql`${caseFolded(vouchers.code)} = ${caseFolded(code)}`))
    .orderBy(desc(sql`${vouchers.deletedAt} is null`), desc(vouchers.id))
    .limit(1);
  if (!voucher) throw Problem.notFound('Voucher');
  return { successful: true, voucher: toVoucher(voucher) };
}
