import { sql } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import { languages } from '../../core/reference/language.ts';
import { campaigns, vouchers } from './campaigns.ts';
import * as c from './columns.ts';
import { courseDates } from './coursedates.ts';
import { products } from './courses.ts';
import { customers } from './customers.ts';
import { adminMemberships } from './people.ts';
import { providers } from './providers.ts';

const money = () => pg.numeric({ precision: 12, scale: 2 });
const percent = () => pg.numeric({ precision: 5, scale: 2 });

/** An order: payer, invoice address and totals as agreed. */
export const orders = c.tenantTable(
  'orders',
  {
    customerId: c.reference(),
    campaignId: c.reference(),
    sellerId: c.reference(),
    title: c.operational(pg.text()).notNull(),
    titleDetailed: c.operational(pg.text()).notNull().default(''),
    currency: c.financial(pg.text()).notNull().default('NOK'),
    isPaid: pg.boolean().notNull().default(false),
    paymentMethod: c.financial(pg.text()),
    yourReference: c.personal(pg.text()),
    booker: c.personal(pg.text()),
    glnNumber: c.personal(pg.text()),
    invoiceAddress: c.personal(pg.text()),
    invoiceAddress2: c.personal(pg.text('invoice_address_2')),
    invoiceAddress3: c.personal(pg.text('invoice_address_3')),
    invoiceZipcode: c.personal(pg.text()),
    invoiceCity: c.personal(pg.text()),
    invoiceEmail: c.personal(pg.text()),
    totalBeforeDiscounts: money().notNull().default('0'),
    totalDiscounts: money().notNull().default('0'),
    totalVat: money().notNull().default('0'),
    customProperties: c.personal(pg.jsonb()).$type<Record<string, string | null>>(),
    invoicedAt: c.instant(),
    exportedAt: c.instant(),
    /** When an erased buyer whose data an invoice still needs is erased too. */
    keptUntil: c.instant(),
    /** The erased buyer. */
    keptUserId: c.reference(),
    /** A `credit` takes back a part of its first order; a `difference` adds to it what a move costs more. */
    kind: c
      .financial(pg.text({ enum: ['order', 'credit', 'difference'] }))
      .notNull()
      .default('order'),
    firstOrderId: c.reference(),
    creditReason: c.personal(pg.text()),
    /** The amount by which a credit reduces its first order's due amount; the rest is returned or owed. */
    creditApplied: money().notNull().default('0'),
    /** Set by triggers: neither a place nor an amount is left, so that the order no longer counts as a use. */
    isUseReturned: pg.boolean().notNull().default(false),
    ...c.timestamps(),
    ...c.searchWords('your_reference', 'booker'),
  },
  (t) => [
    pg.foreignKey({ name: 'orders_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    c.tenantKey('orders_customer_fk', t.customerId, customers.id),
    c.tenantKey('orders_campaign_fk', t.campaignId, campaigns.id),
    c.tenantKey('orders_seller_fk', t.sellerId, adminMemberships.adminUserId),
    c.tenantKey('orders_first_fk', t.firstOrderId, t.id),
    c.indexWhere('orders_first', [t.providerId, t.firstOrderId, t.id], sql`${t.firstOrderId} is not null`),
    c.indexWhere('orders_not_exported', [t.providerId, t.id], sql`${t.exportedAt} is null`),
    pg.index('orders_exported').on(t.providerId, t.exportedAt, t.id),
    pg.index('orders_paid').on(t.providerId, t.isPaid, t.id),
    c.indexWhere('orders_campaign', [t.providerId, t.campaignId, t.id], sql`${t.campaignId} is not null`),
    c.searchIndex('orders_words', t),
    pg.index('orders_created').on(t.providerId, t.createdAt, t.id),
    pg.index('orders_updated').on(t.providerId, t.updatedAt, t.id),
    pg.index('orders_customer').on(t.providerId, t.customerId, t.id),
    c.indexWhere(
      'orders_invoice_email',
      [t.providerId, c.caseFolded(t.invoiceEmail)],
      sql`${t.invoiceEmail} is not null`,
    ),
    c.indexWhere('orders_kept', [t.providerId, t.keptUntil], sql`${t.keptUntil} is not null`),
    pg.check('orders_kind', sql`${t.kind} in ('order', 'credit', 'difference')`),
    pg.check('orders_first_order', sql`(${t.firstOrderId} is null) = (${t.kind} = 'order')`),
    pg.check(
      'orders_credit_applied',
      sql`${t.creditApplied} >= 0 and (${t.kind} = 'credit' or ${t.creditApplied} = 0)`,
    ),
    pg.check('orders_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
  ],
);

/** One product of an order; prices and discounts of each stage (order, invoice, export) are null until then. */
export const orderLines = c.tenantTable(
  'order_lines',
  {
    orderId: c.reference().notNull(),
    productId: c.reference().notNull(),
    quantity: pg.integer().notNull(),
    vatPercentage: percent().notNull().default('0'),
    priceAtOrder: money().notNull(),
    discountPercentAtOrder: percent().notNull().default('0'),
    discountAmountAtOrder: money().notNull().default('0'),
    discountCalculatedAtOrder: money().notNull().default('0'),
    priceAtInvoice: money(),
    discountPercentAtInvoice: percent(),
    discountCalculatedAtInvoice: money(),
    priceAtExport: money(),
    discountPercentAtExport: percent(),
    discountCalculatedAtExport: money(),
    /** The line that this one takes back a part of. */
    creditsLineId: c.reference(),
    /** Added to the VAT of the percentage, so that the credits of a line add up to its VAT. */
    vatRounding: money().notNull().default('0'),
    ...c.timestamps(),
  },
  (t) => [
    c.tenantKey('order_lines_order_fk', t.orderId, orders.id),
    c.tenantKey('order_lines_product_fk', t.productId, products.id),
    c.tenantKey('order_lines_credits_fk', t.creditsLineId, t.id),
    // An order sells a product once; a credit takes back a part of a line once.
    pg.unique('order_lines_order').on(t.providerId, t.orderId, t.productId, t.creditsLineId).nullsNotDistinct(),
    c.indexWhere('order_lines_credits', [t.providerId, t.creditsLineId], sql`${t.creditsLineId} is not null`),
    pg.index('order_lines_product').on(t.providerId, t.productId, t.orderId),
    pg.check(
      'order_lines_quantity',
      sql`${t.quantity} <> 0 and (${t.quantity} < 0) = (${t.creditsLineId} is not null)`,
    ),
    pg.check(
      'order_lines_amounts',
      sql`least(${t.priceAtOrder}, ${t.discountPercentAtOrder}, ${t.discountAmountAtOrder}, ${t.discountCalculatedAtOrder} * sign(${t.quantity})) >= 0`,
    ),
    pg.check('order_lines_vat_rounding', sql`${t.vatRounding} = 0 or ${t.creditsLineId} is not null`),
  ],
);

/** One booking request: booker, course date and order. */
export const bookings = c.tenantTable(
  'bookings',
  {
    orderId: c.reference().notNull(),
    courseDateId: c.reference().notNull(),
    bookerName: c.personal(pg.text()),
    bookerEmail: c.personal(pg.text()),
    bookerPhone: c.personal(pg.text()),
    /** The language that the request named. */
    bookerLanguageId: c.operational(pg.text()),
    /** Language of mails; null is the school's. */
    language: c.operational(pg.text({ enum: languages })),
    /** True for a group that is offered places when all fit. */
    waitingTogether: pg.boolean().notNull().default(false),
    ...c.timestamps(),
  },
  (t) => [
    c.tenantKey('bookings_order_fk', t.orderId, orders.id),
    c.tenantKey('bookings_date_fk', t.courseDateId, courseDates.id),
    pg.uniqueIndex('bookings_order').on(t.providerId, t.orderId),
    c.indexWhere(
      'bookings_booker_email',
      [t.providerId, c.caseFolded(t.bookerEmail)],
      sql`${t.bookerEmail} is not null`,
    ),
    pg.check('bookings_language', sql`${t.language} in ('en', 'no')`),
  ],
);

export const paymentMethods = ['invoice', 'cash', 'card', 'bank', 'other'] as const;

/** A payment of an order; of a credit the refund, which is negative. A reversed one stays and no longer counts. */
export const payments = c.tenantTable(
  'payments',
  {
    orderId: c.reference().notNull(),
    amount: pg.numeric({ precision: 12, scale: 2 }).notNull(),
    method: c
      .financial(pg.text({ enum: paymentMethods }))
      .notNull()
      .default('other'),
    /** The client's name for the payment; a repeat with an equal one is the same payment, or refund by several methods. */
    reference: c.personal(pg.text()),
    paidAt: c.instant().notNull(),
    reversedAt: c.instant(),
    ...c.timestamps(),
  },
  (t) => [
    c.tenantKey('payments_order_fk', t.orderId, orders.id),
    pg
      .uniqueIndex('payments_reference')
      .on(t.providerId, t.orderId, t.reference, t.method)
      .where(sql`${t.reversedAt} is null and ${t.reference} is not null`),
    c.indexWhere('payments_folded_reference', [t.providerId, c.folded(t.reference)], sql`${t.reference} is not null`),
    pg.index('payments_order').on(t.providerId, t.orderId, t.id),
    pg.index('payments_paid').on(t.providerId, t.paidAt, t.id),
    pg.index('payments_created').on(t.providerId, t.createdAt, t.id),
    pg.index('payments_updated').on(t.providerId, t.updatedAt, t.id),
    pg.check('payments_amount', sql`${t.amount} <> 0`),
    pg.check('payments_method', sql`${t.method} in ('invoice', 'cash', 'card', 'bank', 'other')`),
  ],
);

/** Amount that an order redeemed of a voucher, negative where a credit returns it; the balance is the amount less these. */
export const voucherRedemptions = pg.pgTable(
  'voucher_redemptions',
  {
    providerId: c.reference().notNull(),
    voucherId: c.reference().notNull(),
    orderId: c.reference().notNull(),
    amount: pg.numeric({ precision: 12, scale: 2 }).notNull(),
    createdAt: c.instant().notNull(),
  },
  (t) => [
    pg.primaryKey({ name: 'voucher_redemptions_pk', columns: [t.providerId, t.voucherId, t.orderId] }),
    c.tenantKey('voucher_redemptions_voucher_fk', t.voucherId, vouchers.id),
    c.tenantKey('voucher_redemptions_order_fk', t.orderId, orders.id),
    pg.index('voucher_redemptions_order').on(t.providerId, t.orderId),
    pg.check('voucher_redemptions_amount', sql`${t.amount} <> 0`),
  ],
);
