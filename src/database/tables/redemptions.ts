import { sql } from 'drizzle-orm';
import { check, index, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import { vouchers } from './campaigns.ts';
import { instant, reference, tenantKey } from './columns.ts';
import { orders } from './orders.ts';

/** Amount that an order redeemed of a voucher, negative where a credit returns it; the balance is the amount less these. */
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
    tenantKey('voucher_redemptions_voucher_fk', t.voucherId, vouchers.id),
    tenantKey('voucher_redemptions_order_fk', t.orderId, orders.id),
    index('voucher_redemptions_order').on(t.providerId, t.orderId),
    check('voucher_redemptions_amount', sql`${t.amount} <> 0`),
  ],
);
