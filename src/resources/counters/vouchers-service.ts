import { asc, eq, sql } from 'drizzle-orm';
import { vouchers } from '../../database/tables/campaigns.ts';
import { voucherRedemptions } from '../../database/tables/redemptions.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';
import { matchesPage, type Check } from './recount-sql.ts';

const redeemed = sql`coalesce(sum(${voucherRedemptions.amount}), 0)`;
/** At least 0, even if orders redeemed more than the amount. */
const expectedBalance = sql<string>`greatest(0.00, ${vouchers.amount} - ${vouchers.spentBefore} - ${redeemed})::text`;

/** Balances of vouchers, recounted from redemptions. */
export const balanceCheck: Check = {
  items: 'vouchers',
  table: vouchers,
  recount: async (db, page) =>
    db
      .select({
        providerId: vouchers.providerId,
        id: vouchers.id,
        stored: { balance: sql<string>`${vouchers.balance}::text` },
        counted: { balance: expectedBalance },
      })
      .from(vouchers)
      .innerJoin(page, matchesPage(vouchers, page))
      .leftJoin(
        voucherRedemptions,
        sameTenant(voucherRedemptions, vouchers, eq(voucherRedemptions.voucherId, vouchers.id)),
      )
      .groupBy(vouchers.providerId, vouchers.id)
      .orderBy(asc(vouchers.providerId), asc(vouchers.id)),
};
