import { Type } from '@sinclair/typebox';
import { sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import {
  Count,
  CustomProperties,
  Flag,
  Line,
  OneOf,
  StoredMoment,
  Title,
  UpperCode,
} from '../../../core/schema/types.ts';
import { bookings, orderLines, orders } from '../../../database/tables/orders.ts';
import { attendances, orderLineParticipants, participants } from '../../../database/tables/participants.ts';
import { teachingLanguageCodes } from '../../../core/reference/courses.ts';
import { currencyCodes } from '../../../core/reference/currencies.ts';
import { BookingBody, ParticipantBody } from '../../../resources/booking/body-schema.ts';
import { paidStates, participantStatuses } from '../../../resources/participants/schema.ts';
import { agreedTotals, type AgreedLine } from '../../../resources/quotes/price-service.ts';
import { bodyFields, field, Ref, refersTo, type BulkRecordType, type Fields, type Item } from '../record-type.ts';
import { Amount, Day, Percentage } from './value-formats.ts';

const { Optional } = Type;
const { properties } = BookingBody;
const line = Optional(Line());

/** Participants refer to it. */
const booking: Item = {
  table: bookings,
  fields: {
    coursedate_id: refersTo('coursedate', bookings.courseDateId, Ref),
    ...bodyFields(properties, {
      booker_name: bookings.bookerName,
      booker_email: bookings.bookerEmail,
      booker_phone: bookings.bookerPhone,
    }),
    booker_language_id: field(bookings.bookerLanguageId, Optional(OneOf(teachingLanguageCodes))),
  },
};

const amount = Optional(Amount);
const percentage = Optional(Percentage);

const orderLine: Item = {
  table: orderLines,
  fields: {
    product_id: refersTo('product', orderLines.productId, Ref),
    quantity: field(orderLines.quantity, Count({ minimum: 1 })),
    vat_percentage: field(orderLines.vatPercentage, percentage),
    price_at_order_per_item_vat_excluded: field(orderLines.priceAtOrder, Amount),
    discount_percent_at_order: field(orderLines.discountPercentAtOrder, percentage),
    discount_amount_at_order: field(orderLines.discountAmountAtOrder, amount),
    discount_calculated_at_order: field(orderLines.discountCalculatedAtOrder, amount),
    price_at_invoice_per_item_vat_excluded: field(orderLines.priceAtInvoice, amount),
    discount_percent_at_invoice: field(orderLines.discountPercentAtInvoice, percentage),
    discount_calculated_at_invoice: field(orderLines.discountCalculatedAtInvoice, amount),
    price_at_export_per_item_vat_excluded: field(orderLines.priceAtExport, amount),
    discount_percent_at_export: field(orderLines.discountPercentAtExport, percentage),
    discount_calculated_at_export: field(orderLines.discountCalculatedAtExport, amount),
  },
};

export const order: BulkRecordType = {
  kind: 'order',
  table: orders,
  fields: {
    customer_id: refersTo('customer', orders.customerId),
    idCampaign: refersTo('campaign', orders.campaignId),
    seller_id: refersTo('admin_user', orders.sellerId),
    title: field(orders.title, Title()),
    // Room for two dates and the title of a place.
    title_detailed: field(orders.titleDetailed, Optional(Line({ maxLength: 300 }))),
    currency: field(orders.currency, Optional(UpperCode(currencyCodes, { default: 'NOK' }))),
    is_paid: field(orders.isPaid, Optional(Flag())),
    payment_method: field(orders.paymentMethod, line),
    your_reference: field(orders.yourReference, properties.invoice_reference),
    booker: field(orders.booker, properties.booker_name),
    ...bodyFields(properties, {
      gln_number: orders.glnNumber,
      invoice_address_1: orders.invoiceAddress,
      invoice_address_2: orders.invoiceAddress2,
      invoice_address_3: orders.invoiceAddress3,
      invoice_zipcode: orders.invoiceZipcode,
      invoice_city: orders.invoiceCity,
      invoice_email: orders.invoiceEmail,
    }),
    custom_properties: field(orders.customProperties, Optional(CustomProperties)),
    invoiced_at: field(orders.invoicedAt, Optional(StoredMoment())),
    exported_at: field(orders.exportedAt, Optional(StoredMoment())),
  },
  derived: {
    total_before_discounts: orders.totalBeforeDiscounts,
    total_discounts: orders.totalDiscounts,
    total_vat: orders.totalVat,
  },
  // The title ends with the order's id, which a file cannot contain.
  computed: { title: "v.title || ' #' || v.id" },
  exported: { title: "regexp_replace(t.title, ' #' || t.id || '$', '')" },
  parts: {
    booking: { form: 'one', kind: 'booking', owner: bookings.orderId, item: booking },
    lines: { form: 'list', kind: 'order_line', owner: orderLines.orderId, item: orderLine },
  },
  complete(fields) {
    const lines = (fields['lines'] ?? []) as Fields[];
    if (new Set(lines.map((one) => one['product_id'])).size < lines.length)
      throw Problem.invalidFields({ notValid: ['lines'] });
    const totals = agreedTotals(lines.map(toAgreedLine));
    return {
      total_before_discounts: totals.totalBeforeDiscounts,
      total_discounts: totals.totalDiscounts,
      total_vat: totals.totalVat,
    };
  },
};

const toAgreedLine = (fields: Fields): AgreedLine => ({
  quantity: fields['quantity'] as number,
  priceAtOrder: fields['price_at_order_per_item_vat_excluded'] as string,
  discountCalculatedAtOrder: (fields['discount_calculated_at_order'] as string | undefined) ?? '0',
  vatPercentage: (fields['vat_percentage'] as string | undefined) ?? '0',
});

/** A participant's attendance of a session of the course date. */
const attendance: Item = {
  table: attendances,
  fields: {
    gathering_id: refersTo('gathering', attendances.gatheringId, Ref),
    attended: field(attendances.attended, Optional(Flag())),
    registered_at: field(attendances.registeredAt, Optional(StoredMoment())),
  },
};

/** Order lines of another order than the booking's. Either both are staged or both are imported: an order is one line. */
const linesOfOtherOrders = `
  select l.line from staged_lines l join staged_lines p on p.provider_id = $1 and p.line = l.line and p.part = 0
  left join staged_lines b on b.provider_id = $1 and b.ref_kind = 'booking' and b.ref = p.refs->'booking_id'->>1
  left join staged_lines o on o.provider_id = $1 and o.ref_kind = 'order_line' and o.ref = l.refs->'order_line_id'->>1
  left join import_refs bi on bi.provider_id = $1 and bi.kind = 'booking' and bi.ref = p.refs->'booking_id'->>1
  left join bookings bk on bk.provider_id = $1 and bk.id = bi.item_id
  left join import_refs oi on oi.provider_id = $1 and oi.kind = 'order_line' and oi.ref = l.refs->'order_line_id'->>1
  left join order_lines ol on ol.provider_id = $1 and ol.id = oi.item_id
  where l.provider_id = $1 and l.kind = 'participant' and l."table" = 'order_line_participants' and p.bad is not true
    and b.bad is not true and o.bad is not true
    and (b.refs->'order_id' is distinct from o.refs->'order_id' or bk.order_id is distinct from ol.order_id)`;

const gatheringsOfOtherDates = `
  select a.line from staged_lines a join staged_lines p on p.provider_id = $1 and p.line = a.line and p.part = 0
  left join staged_lines g on g.provider_id = $1 and g.ref_kind = 'gathering' and g.ref = a.refs->'gathering_id'->>1
  left join import_refs gi on gi.provider_id = $1 and gi.kind = 'gathering' and gi.ref = a.refs->'gathering_id'->>1
  left join gatherings t on t.provider_id = $1 and t.id = gi.item_id
  left join import_refs di on di.provider_id = $1 and di.kind = 'coursedate' and di.ref = p.refs->'course_date_id'->>1
  where a.provider_id = $1 and a.kind = 'participant' and a."table" = 'attendances' and p.bad is not true and g.bad is not true
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
    { field: 'attendance', text: gatheringsOfOtherDates },
    { field: 'status_updated_at', text: statusInTheFuture },
  ],
  fields: {
    idBooking: refersTo('booking', participants.bookingId, Ref),
    coursedate_id: refersTo('coursedate', participants.courseDateId, Ref),
    user_id: refersTo('user', participants.userId, Ref),
    idStatus: field(participants.statusId, Optional(OneOf([...participantStatuses.keys()]))),
    status_updated_at: field(participants.statusUpdatedAt, Optional(StoredMoment())),
    idPaid: field(participants.paidId, Optional(OneOf([...paidStates.keys()]))),
    entry_source: field(participants.entrySource, Optional(OneOf(['User', 'School'], { default: 'School' }))),
    completed: field(participants.completed, Optional(Flag())),
    no_show: field(participants.noShow, Optional(Flag())),
    passed: field(participants.passed, Optional(Flag())),
    certificate_issued_at: field(participants.certificateIssuedAt, Optional(Day)),
    user_comment: field(participants.userComment, ParticipantBody.properties.comment),
    invoice_reference: field(participants.invoiceReference, properties.invoice_reference),
    custom_properties: field(participants.customProperties, Optional(CustomProperties)),
    archived_at: field(participants.archivedAt, Optional(StoredMoment())),
  },
  derived: { course_id: participants.courseId },
  computed: {
    course_id:
      '(select d.course_id from course_dates d where d.provider_id = v.provider_id and d.id = v.course_date_id)',
    status_updated_at: 'coalesce(v.status_updated_at, v.created_at)',
  },
  parts: {
    order_lines: {
      form: 'links',
      owner: orderLineParticipants.participantId,
      other: orderLineParticipants.orderLineId,
      to: 'order_line',
    },
    attendance: { form: 'list', owner: attendances.participantId, item: attendance },
  },
  // An order shows its participants.
  touches: (providerId, now, ids) => sql`
    update orders set updated_at = ${now} where provider_id = ${providerId} and updated_at < ${now} and id = any(array(
      select (select order_id from bookings b where b.provider_id = ${providerId} and b.id = (
        select booking_id from participants p where p.provider_id = ${providerId} and p.id = created.id
      )) from (${ids}) created
    ))`,
};
