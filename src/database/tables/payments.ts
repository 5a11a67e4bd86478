import { sql } from 'drizzle-orm';
import { check, index, numeric, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { folded, id, instant, reference, tenantKey, timestamps } from './columns.ts';
import { orders } from './orders.ts';

export const paymentMethods = ['invoice', 'cash', 'card', 'bank', 'other'] as const;

/** A payment of an order; of a credit the refund, which is negative. A reversed one stays and no longer counts. */
export const payments = pgTable(
  'payments',
  {
    providerId: reference().notNull(),
    id: id(),
    orderId: reference().notNull(),
    amount: numeric({ precision: 12, scale: 2 }).notNull(),
    method: text({ enum: paymentMethods }).notNull().default('other'),
    /** The client's name for the payment; a repeat with an equal one is the same payment, or refund by several methods. */
    reference: text(),
    paidAt: instant().notNull(),
    reversedAt: instant(),
    ...timestamps(),
  },
  (t) => [
    primaryKey({ name: 'payments_pk', columns: [t.providerId, t.id] }),
    tenantKey('payments_order_fk', t.orderId, orders.id),
    uniqueIndex('payments_reference')
      .on(t.providerId, t.orderId, t.reference, t.method)
      .where(sql`${t.reversedAt} is null and ${t.reference} is not null`),
    index('payments_folded_reference')
      .on(t.providerId, folded(t.reference))
      .where(sql`${t.reference} is not null`),
    index('payments_order').on(t.providerId, t.orderId, t.id),
    index('payments_paid').on(t.providerId, t.paidAt, t.id),
    index('payments_created').on(t.providerId, t.createdAt, t.id),
    index('payments_updated').on(t.providerId, t.updatedAt, t.id),
    check('payments_amount', sql`${t.amount} <> 0`),
    check('payments_method', sql`${t.method} in ('invoice', 'cash', 'card', 'bank', 'other')`),
  ],
);
