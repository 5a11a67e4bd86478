import { and, asc, eq, sql } from 'drizzle-orm';
import { vouchers } from '../database/tables/campaigns.ts';
import { voucherRedemptions } from '../database/tables/redemptions.ts';
import { onPage, type Check } from './check.ts';

const taken = sql`coalesce(sum(${voucherRedemptions.amount}), 0)`;
/** One that orders took more of than it held is spent: no balance is below 0. */
const left = sql<string>`greatest(0.00, ${vouchers.amount} - ${vouchers.spentBefore} - ${taken})::text`;

/** What is left of vouchers, from what was spent before they came here and what orders took of them. */
export const balances: Check = {
  items: 'vouchers',
  table: vouchers,
  recount: async (db, page) =>
    db
      .select({
        providerId: vouchers.providerId,
        id: vouchers.id,
        stored: { balance: sql<string>`${vouchers.balance}::text` },
        counted: { balance: left },
      })
      .from(vouchers)
      .innerJoin(page, onPage(vouchers, page))
      .leftJoin(
        voucherRedemptions,
        and(eq(voucherRedemptions.providerId, vouchers.providerId), eq(voucherRedemptions.voucherId, vouchers.id)),
      )
      .groupBy(vouchers.providerId, vouchers.id)
      .orderBy(asc(vouchers.providerId), asc(vouchers.id)),
};
