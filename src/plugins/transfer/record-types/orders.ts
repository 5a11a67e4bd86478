import { Type } from '@sinclair/typebox';
import { sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { Email, Line, LongLine, OneOf, StoredMoment, Title, UpperCode } from '../../../core/schema/types.ts';
import {
  bookings,
  orderLines,
  orders,
  paymentMethods,
  payments,
  voucherRedemptions,
} from '../../../database/tables/orders.ts';
import { teachingLanguageCodes } from '../../../core/reference/courses.ts';
import { currencyCodes } from '../../../core/schema/codes.ts';
import { agreedTotals } from '../../../domains/orders/orders/price-service.ts';
import type { BulkRecordType, Fields, Item } from '../record-type.ts';
import { findInvalid, payPaidOrders, toAgreedLine, updatePaidOrders } from './order-rules.ts';
import { tableFields, SignedAmount } from './table-fields.ts';

const { Optional } = Type;

/** Participants refer to it. */
const booking: Item = {
  table: bookings,
  fields: tableFields(bookings, {
    orderId: null,
    courseDateId: { name: 'coursedate_id', to: 'coursedate' },
    bookerEmail: { schema: Optional(Email()) },
    bookerPhone: { schema: Optional(LongLine()) },
    bookerLanguageId: { schema: Optional(OneOf(teachingLanguageCodes)) },
  }),
};

const orderLine: Item = {
  table: orderLines,
  fields: tableFields(orderLines, {
    orderId: null,
    productId: { to: 'product' },
    quantity: { schema: Type.Integer({ minimum: -2_147_483_647, maximum: 2_147_483_647 }) },
    discountCalculatedAtOrder: { schema: Optional(SignedAmount) },
    discountCalculatedAtInvoice: { schema: Optional(SignedAmount) },
    discountCalculatedAtExport: { schema: Optional(SignedAmount) },
    creditsLineId: { to: 'order_line' },
    vatRounding: { schema: Optional(SignedAmount) },
    priceAtOrder: { name: 'price_at_order_per_item_vat_excluded' },
    priceAtInvoice: { name: 'price_at_invoice_per_item_vat_excluded' },
    priceAtExport: { name: 'price_at_export_per_item_vat_excluded' },
  }),
};

function assertAmount({ amount }: Fields) {
  if (Number(amount) === 0) throw Problem.invalidFields({ notValid: ['amount'] });
  return undefined;
}

/** An amount that a voucher has paid. */
const redemption: Item = {
  table: voucherRedemptions,
  fields: tableFields(voucherRedemptions, {
    orderId: null,
    voucherId: { to: 'voucher' },
    amount: { schema: SignedAmount },
  }),
  complete: assertAmount,
};

const payment: Item = {
  table: payments,
  fields: tableFields(payments, {
    orderId: null,
    amount: { schema: SignedAmount },
    method: { schema: Optional(OneOf(paymentMethods)) },
    reference: { schema: Optional(Title()) },
    paidAt: { schema: Optional(StoredMoment()) },
  }),
  computed: { paid_at: 'coalesce(v.paid_at, v.created_at)' },
  complete: assertAmount,
};

/** Lines whose redemptions exceed what the voucher has spent, less those of earlier imports. */
const redemptionsBeyondSpent = `
  with own as (
    select r.line, r.refs->'voucher_id'->>1 as voucher,
      sum((r.data->>'amount')::numeric) over (partition by r.refs->'voucher_id'->>1 order by r.line) as total,
      sum((r.data->>'amount')::numeric) over (partition by r.refs->'voucher_id'->>1) as whole
    from staged_lines r join staged_lines o on o.provider_id = $1 and o.line = r.line and o.part = 0
    where r.provider_id = $1 and r.kind = 'order' and r."table" = 'voucher_redemptions' and o.bad is not true)
  select distinct own.line from own
  left join staged_lines s on s.provider_id = $1 and s.ref_kind = 'voucher' and s.ref = own.voucher and s.bad is not true
  left join import_refs i on i.provider_id = $1 and i.kind = 'voucher' and i.ref = own.voucher
  left join vouchers v on v.provider_id = $1 and v.id = i.item_id
  where least(own.total, own.whole) > coalesce((s.data->>'spent_before')::numeric, v.spent_before)`;

const paidInTheFuture = `
  select distinct p.line from staged_lines p
  where p.provider_id = $1 and p.kind = 'order' and p."table" = 'payments'
    and (p.data->>'paid_at')::timestamptz::date > now()::date`;

const { totalBeforeDiscounts, totalDiscounts, totalVat } = orders;

export const order: BulkRecordType = {
  kind: 'order',
  table: orders,
  checks: [
    { field: 'redemptions', text: redemptionsBeyondSpent },
    { field: 'payments', text: paidInTheFuture },
  ],
  fields: tableFields(orders, {
    customerId: { to: 'customer' },
    campaignId: { name: 'idCampaign', to: 'campaign' },
    sellerId: { to: 'admin_user' },
    // Room for two dates and the title of a place.
    titleDetailed: { schema: Optional(Line({ maxLength: 300 })) },
    currency: { schema: Optional(UpperCode(currencyCodes, { default: 'NOK' })) },
    invoiceAddress: { name: 'invoice_address_1' },
    invoiceEmail: { schema: Optional(Email()) },
    totalBeforeDiscounts: null,
    totalDiscounts: null,
    totalVat: null,
    kind: { name: 'order_kind', schema: Optional(OneOf(orders.kind.enumValues)) },
    firstOrderId: { to: 'order' },
    isUseReturned: null,
    keptUserId: null,
  }),
  derived: { totalBeforeDiscounts, totalDiscounts, totalVat },
  // The title ends with the order's id, which a file cannot contain.
  computed: { title: "v.title || ' #' || v.id" },
  exported: {
    title: "regexp_replace(t.title, ' #' || t.id || '$', '')",
    // The import decides it anew once the credits that reduce the order are imported.
    is_paid: `t.is_paid and not exists (select from orders c
      where c.provider_id = t.provider_id and c.first_order_id = t.id and c.credit_applied > 0)`,
  },
  parts: {
    booking: { form: 'one', kind: 'booking', owner: bookings.orderId, item: booking },
    lines: { form: 'list', kind: 'order_line', owner: orderLines.orderId, item: orderLine },
    redemptions: { form: 'list', owner: voucherRedemptions.orderId, item: redemption },
    payments: { form: 'list', owner: payments.orderId, item: payment },
  },
  complete(fields) {
    const { lines = [] } = fields as Record<string, Fields[] | undefined>;
    const notValid = findInvalid(fields);
    if (notValid.length > 0) throw Problem.invalidFields({ notValid });
    return agreedTotals(lines.map(toAgreedLine));
  },
  // A voucher's balance is that after its redemptions, so what it had spent before them is less.
  async afterInsert({ providerId, tx, now }, ids) {
    await tx.execute(payPaidOrders(providerId, ids));
    await tx.execute(updatePaidOrders(providerId, ids, now));
    // An older version exports credits without the campaign of their order.
    await tx.execute(sql`
      update orders c set campaign_id = f.campaign_id from orders f
      where c.provider_id = ${providerId} and c.id = any(array(${ids})) and c.kind = 'credit' and c.campaign_id is null
        and f.provider_id = ${providerId} and f.id = c.first_order_id and f.campaign_id is not null`);
    await tx.execute(sql`
      update vouchers v set spent_before = v.spent_before - r.amount
      from (
        select voucher_id, sum(amount) as amount from voucher_redemptions
        where provider_id = ${providerId} and order_id = any(array(${ids})) group by voucher_id
      ) r
      where v.provider_id = ${providerId} and v.id = r.voucher_id`);
  },
};
