import { sql } from 'drizzle-orm';
import { check, foreignKey, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import { vouchers } from './campaigns.ts';
import { instant, reference } from './columns.ts';
import { orders } from './orders.ts';

/** Amount that an order redeemed of a voucher; the voucher's balance is its amount less these. */
export const voucherRedemptions = pgTable(
  'voucher_redemptions',
  {
    providerId: reference().notNull(),
    voucherId: reference().notNull(),
    orderId: reference().notNull(),
    amount: numeric({ precision: 12, scale: 2 }).notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'voucher_redemptions_pk', columns: [t.providerId, t.voucherId, t.orderId] }),
    foreignKey({
      name: 'voucher_redemptions_voucher_fk',
      columns: [t.providerId, t.voucherId],
      foreignColumns: [vouchers.providerId, vouchers.id],
    }),
    foreignKey({
      name: 'voucher_redemptions_order_fk',
      columns: [t.providerId, t.orderId],
      foreignColumns: [orders.providerId, orders.id],
    }),
    check('voucher_redemptions_amount', sql`${t.amount} > 0`),
  ],
);
