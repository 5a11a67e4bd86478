import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { languages } from '../../core/reference/language.ts';
import { campaigns, vouchers } from './campaigns.ts';
import {
  caseFolded,
  financial,
  folded,
  indexWhere,
  instant,
  operational,
  personal,
  reference,
  searchIndex,
  searchWords,
  tenantKey,
  tenantTable,
  timestamps,
} from './columns.ts';
import { courseDates } from './coursedates.ts';
import { products } from './courses.ts';
import { customers } from './customers.ts';
import { adminMemberships } from './people.ts';
import { providers } from './providers.ts';

const money = () => numeric({ precision: 12, scale: 2 });
const percent = () => numeric({ precision: 5, scale: 2 });

/** An order: payer, invoice address and totals as agreed. */
export const orders = tenantTable(
  'orders',
  {
    customerId: reference(),
    campaignId: reference(),
    sellerId: reference(),
    title: operational(text()).notNull(),
    titleDetailed: operational(text()).notNull().default(''),
    currency: financial(text()).notNull().default('NOK'),
    isPaid: boolean().notNull().default(false),
    paymentMethod: financial(text()),
    yourReference: personal(text()),
    booker: personal(text()),
    glnNumber: personal(text()),
    invoiceAddress: personal(text()),
    invoiceAddress2: personal(text('invoice_address_2')),
    invoiceAddress3: personal(text('invoice_address_3')),
    invoiceZipcode: personal(text()),
    invoiceCity: personal(text()),
    invoiceEmail: personal(text()),
    totalBeforeDiscounts: money().notNull().default('0'),
    totalDiscounts: money().notNull().default('0'),
    totalVat: money().notNull().default('0'),
    customProperties: personal(jsonb()).$type<Record<string, string | null>>(),
    invoicedAt: instant(),
    exportedAt: instant(),
    /** When an erased buyer whose data an invoice still needs is erased too. */
    keptUntil: instant(),
    /** That buyer. */
    keptUserId: reference(),
    /** A `credit` takes back a part of its first order; a `difference` adds to it what a move costs more. */
    kind: financial(text({ enum: ['order', 'credit', 'difference'] }))
      .notNull()
      .default('order'),
    firstOrderId: reference(),
    creditReason: personal(text()),
    /** What a credit lowers the due amount of its first order by; the rest is returned or owed. */
    creditApplied: money().notNull().default('0'),
    /** Set by triggers: neither a place nor an amount is left, so that the order no longer counts as a use. */
    isUseReturned: boolean().notNull().default(false),
    ...timestamps(),
    ...searchWords('your_reference', 'booker'),
  },
  (t) => [
    foreignKey({ name: 'orders_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    tenantKey('orders_customer_fk', t.customerId, customers.id),
    tenantKey('orders_campaign_fk', t.campaignId, campaigns.id),
    tenantKey('orders_seller_fk', t.sellerId, adminMemberships.adminUserId),
    tenantKey('orders_first_fk', t.firstOrderId, t.id),
    indexWhere('orders_first', [t.providerId, t.firstOrderId, t.id], sql`${t.firstOrderId} is not null`),
    indexWhere('orders_not_exported', [t.providerId, t.id], sql`${t.exportedAt} is null`),
    index('orders_exported').on(t.providerId, t.exportedAt, t.id),
    index('orders_paid').on(t.providerId, t.isPaid, t.id),
    indexWhere('orders_campaign', [t.providerId, t.campaignId, t.id], sql`${t.campaignId} is not null`),
    searchIndex('orders_words', t),
    index('orders_created').on(t.providerId, t.createdAt, t.id),
    index('orders_updated').on(t.providerId, t.updatedAt, t.id),
    index('orders_customer').on(t.providerId, t.customerId, t.id),
    indexWhere('orders_invoice_email', [t.providerId, caseFolded(t.invoiceEmail)], sql`${t.invoiceEmail} is not null`),
    indexWhere('orders_kept', [t.providerId, t.keptUntil], sql`${t.keptUntil} is not null`),
    check('orders_kind', sql`${t.kind} in ('order', 'credit', 'difference')`),
    check('orders_first_order', sql`(${t.firstOrderId} is null) = (${t.kind} = 'order')`),
    check('orders_credit_applied', sql`${t.creditApplied} >= 0 and (${t.kind} = 'credit' or ${t.creditApplied} = 0)`),
    check('orders_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
  ],
);

/** One product of an order; prices and discounts of each stage (order, invoice, export) are null until then. */
export const orderLines = tenantTable(
  'order_lines',
  {
    orderId: reference().notNull(),
    productId: reference().notNull(),
    quantity: integer().notNull(),
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
    creditsLineId: reference(),
    /** Added to the VAT of the percentage, so that the credits of a line add up to its VAT. */
    vatRounding: money().notNull().default('0'),
    ...timestamps(),
  },
  (t) => [
    tenantKey('order_lines_order_fk', t.orderId, orders.id),
    tenantKey('order_lines_product_fk', t.productId, products.id),
    tenantKey('order_lines_credits_fk', t.creditsLineId, t.id),
    // An order sells a product once; a credit takes back a part of a line once.
    unique('order_lines_order').on(t.providerId, t.orderId, t.productId, t.creditsLineId).nullsNotDistinct(),
    indexWhere('order_lines_credits', [t.providerId, t.creditsLineId], sql`${t.creditsLineId} is not null`),
    index('order_lines_product').on(t.providerId, t.productId, t.orderId),
    check('order_lines_quantity', sql`${t.quantity} <> 0 and (${t.quantity} < 0) = (${t.creditsLineId} is not null)`),
    check(
      'order_lines_amounts',
      sql`least(${t.priceAtOrder}, ${t.discountPercentAtOrder}, ${t.discountAmountAtOrder}, ${t.discountCalculatedAtOrder} * sign(${t.quantity})) >= 0`,
    ),
    check('order_lines_vat_rounding', sql`${t.vatRounding} = 0 or ${t.creditsLineId} is not null`),
  ],
);

/** One booking request: booker, course date and order. */
export const bookings = tenantTable(
  'bookings',
  {
    orderId: reference().notNull(),
    courseDateId: reference().notNull(),
    bookerName: personal(text()),
    bookerEmail: personal(text()),
    bookerPhone: personal(text()),
    /** The language that the request named. */
    bookerLanguageId: operational(text()),
    /** Language of mails; null is the school's. */
    language: operational(text({ enum: languages })),
    /** True for a group that is offered places when all fit. */
    waitingTogether: boolean().notNull().default(false),
    ...timestamps(),
  },
  (t) => [
    tenantKey('bookings_order_fk', t.orderId, orders.id),
    tenantKey('bookings_date_fk', t.courseDateId, courseDates.id),
    uniqueIndex('bookings_order').on(t.providerId, t.orderId),
    indexWhere('bookings_booker_email', [t.providerId, caseFolded(t.bookerEmail)], sql`${t.bookerEmail} is not null`),
    check('bookings_language', sql`${t.language} in ('en', 'no')`),
  ],
);

export const paymentMethods = ['invoice', 'cash', 'card', 'bank', 'other'] as const;

/** A payment of an order; of a credit the refund, which is negative. A reversed one stays and no longer counts. */
export const payments = tenantTable(
  'payments',
  {
    orderId: reference().notNull(),
    amount: numeric({ precision: 12, scale: 2 }).notNull(),
    method: financial(text({ enum: paymentMethods }))
      .notNull()
      .default('other'),
    /** The client's name for the payment; a repeat with an equal one is the same payment, or refund by several methods. */
    reference: personal(text()),
    paidAt: instant().notNull(),
    reversedAt: instant(),
    ...timestamps(),
  },
  (t) => [
    tenantKey('payments_order_fk', t.orderId, orders.id),
    uniqueIndex('payments_reference')
      .on(t.providerId, t.orderId, t.reference, t.method)
      .where(sql`${t.reversedAt} is null and ${t.reference} is not null`),
    indexWhere('payments_folded_reference', [t.providerId, folded(t.reference)], sql`${t.reference} is not null`),
    index('payments_order').on(t.providerId, t.orderId, t.id),
    index('payments_paid').on(t.providerId, t.paidAt, t.id),
    index('payments_created').on(t.providerId, t.createdAt, t.id),
    index('payments_updated').on(t.providerId, t.updatedAt, t.id),
    check('payments_amount', sql`${t.amount} <> 0`),
    check('payments_method', sql`${t.method} in ('invoice', 'cash', 'card', 'bank', 'other')`),
  ],
);

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
