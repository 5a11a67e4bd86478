import { Type } from '@sinclair/typebox';
import { sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { Count, Email, Line, LongLine, OneOf, StoredMoment, Title, UpperCode } from '../../../core/schema/types.ts';
import { bookings, orderLines, orders } from '../../../database/tables/orders.ts';
import {
  attendanceMarks,
  attendances,
  orderLineParticipants,
  participants,
} from '../../../database/tables/participants.ts';
import { paymentMethods, payments } from '../../../database/tables/payments.ts';
import { voucherRedemptions } from '../../../database/tables/redemptions.ts';
import { teachingLanguageCodes } from '../../../core/reference/courses.ts';
import { currencyCodes } from '../../../core/reference/currencies.ts';
import { ParticipantBody } from '../../../resources/booking/body-schema.ts';
import { entrySources, paidStates, participantStatuses } from '../../../resources/participants/schema.ts';
import { agreedTotals } from '../../../resources/quotes/price-service.ts';
import { links, type BulkRecordType, type Fields, type Item } from '../record-type.ts';
import { findInvalid, payPaidOrders, toAgreedLine, updatePaidOrders } from './order-rules.ts';
import { tableFields } from './table-fields.ts';
import { SignedAmount } from './value-formats.ts';

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
  async afterInsert({ providerId }, tx, ids, now) {
    await tx.execute(payPaidOrders(providerId, ids));
    await tx.execute(updatePaidOrders(providerId, ids, now));
    await tx.execute(sql`
      update vouchers v set spent_before = v.spent_before - r.amount
      from (
        select voucher_id, sum(amount) as amount from voucher_redemptions
        where provider_id = ${providerId} and order_id = any(array(${ids})) group by voucher_id
      ) r
      where v.provider_id = ${providerId} and v.id = r.voucher_id`);
  },
};

/** A participant's share in a line of a credit. */
const creditShare: Item = {
  table: orderLineParticipants,
  fields: tableFields(orderLineParticipants, {
    participantId: null,
    orderLineId: { to: 'order_line' },
    amount: { schema: Optional(SignedAmount) },
  }),
  computed: { is_credited: 'coalesce(v.is_credited, false)' },
};

const Minutes = Count({ maximum: 1_440 });

/** A participant's attendance of a session of the course date. */
const attendance: Item = {
  table: attendances,
  fields: tableFields(attendances, {
    participantId: null,
    gatheringId: { to: 'gathering' },
    minutes: { schema: Optional(Minutes) },
  }),
};

/** A mark of a participant's attendance, the one that stands and others. */
const attendanceMark: Item = {
  table: attendanceMarks,
  fields: tableFields(attendanceMarks, {
    participantId: null,
    gatheringId: { to: 'gathering' },
    minutes: { schema: Optional(Minutes) },
    nonce: { schema: Title({ maxLength: 64 }) },
  }),
  // No line refers to a mark.
  computed: { id: "nextval(pg_get_serial_sequence('attendance_marks', 'id'))" },
};

/**
 * Order lines of another order than the booking's. Either both are staged or both are imported: an order is one line.
 * Credits and differences have no booking.
 */
const linesOfOtherOrders = `
  select l.line from staged_lines l join staged_lines p on p.provider_id = $1 and p.line = l.line and p.part = 0
  left join staged_lines b on b.provider_id = $1 and b.ref_kind = 'booking' and b.ref = p.refs->'booking_id'->>1
  left join staged_lines o on o.provider_id = $1 and o.ref_kind = 'order_line' and o.ref = l.refs->'order_line_id'->>1
  left join import_refs bi on bi.provider_id = $1 and bi.kind = 'booking' and bi.ref = p.refs->'booking_id'->>1
  left join bookings bk on bk.provider_id = $1 and bk.id = bi.item_id
  left join import_refs oi on oi.provider_id = $1 and oi.kind = 'order_line' and oi.ref = l.refs->'order_line_id'->>1
  left join order_lines ol on ol.provider_id = $1 and ol.id = oi.item_id
  left join staged_lines so on so.provider_id = $1 and so.ref_kind = 'order' and so.ref = o.refs->'order_id'->>1
  left join orders io on io.provider_id = $1 and io.id = ol.order_id
  where l.provider_id = $1 and l.kind = 'participant' and l."table" = 'order_line_participants' and p.bad is not true
    and b.bad is not true and o.bad is not true
    and coalesce(so.data->>'kind', io.kind, 'order') = 'order'
    and (b.refs->'order_id' is distinct from o.refs->'order_id' or bk.order_id is distinct from ol.order_id)`;

const gatheringsOfOtherDates = (table: string) => `
  select a.line from staged_lines a join staged_lines p on p.provider_id = $1 and p.line = a.line and p.part = 0
  left join staged_lines g on g.provider_id = $1 and g.ref_kind = 'gathering' and g.ref = a.refs->'gathering_id'->>1
  left join import_refs gi on gi.provider_id = $1 and gi.kind = 'gathering' and gi.ref = a.refs->'gathering_id'->>1
  left join gatherings t on t.provider_id = $1 and t.id = gi.item_id
  left join import_refs di on di.provider_id = $1 and di.kind = 'coursedate' and di.ref = p.refs->'course_date_id'->>1
  where a.provider_id = $1 and a.kind = 'participant' and a."table" = '${table}' and p.bad is not true and g.bad is not true
    and (
      g.refs->'course_date_id' is distinct from p.refs->'course_date_id' and g.line is not null
      or t.course_date_id is distinct from di.item_id and g.line is null
    )`;

/** Waiting lists are ordered by this time; a future one would block its participant's promotion. */
const statusInTheFuture = `
  with own as materialized
    (select line, data from staged_lines
      where provider_id = $1 and kind = 'participant' and part = 0 and bad is not true)
  select line from own where (data->>'status_updated_at')::timestamptz > now()`;

/** The line's status applies regardless of capacities. */
export const participant: BulkRecordType = {
  kind: 'participant',
  table: participants,
  checks: [
    { field: 'order_lines', text: linesOfOtherOrders },
    { field: 'attendance', text: gatheringsOfOtherDates('attendances') },
    { field: 'attendance_marks', text: gatheringsOfOtherDates('attendance_marks') },
    { field: 'status_updated_at', text: statusInTheFuture },
  ],
  fields: tableFields(participants, {
    bookingId: { name: 'idBooking', to: 'booking' },
    courseId: null,
    courseDateId: { name: 'coursedate_id', to: 'coursedate' },
    userId: { to: 'user' },
    statusId: { name: 'idStatus', schema: Optional(OneOf([...participantStatuses.keys()])) },
    statusUpdatedAt: { schema: Optional(StoredMoment()) },
    paidId: { name: 'idPaid', schema: Optional(OneOf([...paidStates.keys()])) },
    entrySource: { schema: Optional(OneOf([...entrySources.keys()], { default: 'School' })) },
    userComment: { schema: ParticipantBody.properties.comment },
    heldFor: { schema: Optional(OneOf(['offer', 'name'])) },
    lapsedOffers: { schema: Optional(Count({ maximum: 32_767 })) },
  }),
  derived: { course_id: participants.courseId },
  computed: {
    course_id:
      '(select d.course_id from course_dates d where d.provider_id = v.provider_id and d.id = v.course_date_id)',
    status_updated_at: 'coalesce(v.status_updated_at, v.created_at)',
    completed_by_hand: 'coalesce(v.completed_by_hand, v.completed)',
  },
  complete({ held_for: heldFor, held_until: heldUntil, idStatus = 1, attendance_marks: marks = [] }) {
    const statuses = heldFor === 'offer' ? [7] : [2, 7];
    const keys = (marks as Fields[]).map(({ gathering_id, nonce }) => JSON.stringify([gathering_id, nonce]));
    const notValid = [
      ...(heldFor !== undefined && !statuses.includes(idStatus as number) ? ['held_for'] : []),
      ...((heldFor === 'offer') !== (heldUntil !== undefined) ? ['held_until'] : []),
      ...(new Set(keys).size < keys.length ? ['attendance_marks'] : []),
    ];
    if (notValid.length > 0) throw Problem.invalidFields({ notValid });
    return undefined;
  },
  parts: {
    order_lines: {
      ...links(orderLineParticipants.participantId, orderLineParticipants.orderLineId, 'order_line'),
      exported: 't.amount is null and not t.is_credited',
    },
    credits: {
      ...{ form: 'list', owner: orderLineParticipants.participantId, item: creditShare },
      exported: '(t.amount is not null or t.is_credited)',
    },
    attendance: { form: 'list', owner: attendances.participantId, item: attendance },
    attendance_marks: { form: 'list', owner: attendanceMarks.participantId, item: attendanceMark, maxItems: 10_000 },
  },
  // An order shows its participants.
  touches: (providerId, now, ids) => sql`
    update orders set updated_at = ${now} where provider_id = ${providerId} and updated_at < ${now} and id = any(array(
      select (select order_id from bookings b where b.provider_id = ${providerId} and b.id = (
        select booking_id from participants p where p.provider_id = ${providerId} and p.id = created.id
      )) from (${ids}) created
    ))`,
};
