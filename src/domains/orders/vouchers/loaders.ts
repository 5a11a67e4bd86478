import { getTableColumns, sql } from 'drizzle-orm';
import { vouchers } from '../../../database/tables/campaigns.ts';
import { batchLoader } from '../../../lists/loaders.ts';

/** The columns of a voucher and its state by the database's clock. */
export const voucherColumns = {
  ...getTableColumns(vouchers),
  isExpired: sql<boolean>`coalesce(now() >= ${vouchers.expiresAt}, false)`,
};

export const fetchVouchers = batchLoader((ctx, keys) =>
  ctx.db.select(voucherColumns).from(vouchers).where(keys.match(vouchers, vouchers.id)),
);
