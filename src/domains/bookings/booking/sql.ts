// Text: an insert into five tables, and the reads of every quote.
import { canceled } from '../../../core/reference/statuses.ts';
import type { MailSwitches } from '../../../core/reference/mail-kinds.ts';
import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import { hasDueOffersSql, seatReturns, seatsSql } from '../../courses/seats/loaders.ts';
import { isForCourse, isForCustomer, isOpen, isUsedUp } from '../../orders/campaigns/loaders.ts';
import { json, statement, typedOrNull, type RowOf } from '../../../database/statement.ts';

/** Inserts a booking with its order, lines and participants; returns one row with the ids. */
export const createBooking = statement(
  'create_booking',
  {
    takes: {
      ...({ providerId: 'int', now: 'moment', title: 'text', titleDetailed: 'text', currency: 'text' } as const),
      ...({ customerId: 'int?', sellerId: 'int?', campaignId: 'int?', isPaid: 'bool' } as const),
      ...({ paymentMethod: 'text?', yourReference: 'text?', booker: 'text?', glnNumber: 'text?' } as const),
      ...({ invoiceAddress: 'text?', invoiceAddress2: 'text?', invoiceAddress3: 'text?' } as const),
      ...({ invoiceZipcode: 'text?', invoiceCity: 'text?', invoiceEmail: 'text?' } as const),
      ...({ totalBeforeDiscounts: 'numeric', totalDiscounts: 'numeric', totalVat: 'numeric' } as const),
      customProperties: typedOrNull<object>('json'),
      ...({ courseDateId: 'int', waitingTogether: 'bool', bookerLanguageId: 'text?' } as const),
      ...({ bookerEmail: 'text?', bookerPhone: 'text?' } as const),
      lines: {
        rows: {
          ...({ product: 'int', quantity: 'int', price: 'numeric', percent: 'numeric?' } as const),
          ...({ amount: 'numeric?', calculated: 'numeric', vat: 'numeric' } as const),
        },
      },
      paidId: 'int',
      booked: {
        rows: {
          ...({ course: 'int', date: 'int', person: 'int', status: 'int' } as const),
          ...({ heldFor: 'text?', comment: 'text?' } as const),
          properties: typedOrNull<object>('json'),
        },
      },
      purchases: { rows: { product: 'int', buyer: 'int' } },
    },
    returns: { orderId: 'int', bookingId: 'int', participantIds: json<number[]>() },
  },
  `with new_order as (
      insert into orders (id, provider_id, created_at, updated_at, title, title_detailed, currency, customer_id, seller_id,
        campaign_id, is_paid, payment_method, your_reference, booker, gln_number, invoice_address, invoice_address_2,
        invoice_address_3, invoice_zipcode, invoice_city, invoice_email, total_before_discounts, total_discounts, total_vat,
        custom_properties)
      overriding system value
      select o.id, :providerId, :now, :now, :title || ' #' || o.id, :titleDetailed, :currency, :customerId, :sellerId,
        :campaignId, :isPaid, :paymentMethod, :yourReference, :booker, :glnNumber, :invoiceAddress, :invoiceAddress2,
        :invoiceAddress3, :invoiceZipcode, :invoiceCity, :invoiceEmail, :totalBeforeDiscounts, :totalDiscounts, :totalVat,
        :customProperties
      from (select nextval('orders_id_seq') as id) o
      returning id),
    new_booking as (
      insert into bookings (provider_id, created_at, updated_at, order_id, course_date_id, booker_name, booker_email,
        booker_phone, waiting_together, booker_language_id, language)
      select :providerId, :now, :now, o.id, :courseDateId, :booker, :bookerEmail, :bookerPhone, :waitingTogether,
        :bookerLanguageId,
        case when :bookerLanguageId in ('no', 'nb', 'nn') then 'no' when :bookerLanguageId = 'en' then 'en' end
      from new_order o
      returning id),
    new_lines as (
      insert into order_lines (provider_id, created_at, updated_at, order_id, product_id, quantity, price_at_order,
        discount_percent_at_order, discount_amount_at_order, discount_calculated_at_order, vat_percentage)
      select :providerId, :now, :now, o.id, lines.product, lines.quantity, lines.price, lines.percent, lines.amount,
        lines.calculated, lines.vat
      from new_order o, :lines
      order by lines.place
      returning id, product_id),
    new_participants as (
      insert into participants (provider_id, created_at, updated_at, status_updated_at, entry_source, booking_id, paid_id,
        invoice_reference, course_id, course_date_id, user_id, status_id, held_for, user_comment, custom_properties)
      select :providerId, :now, :now, :now, 'User', b.id, :paidId, :yourReference, booked.course, booked.date, booked.person,
        booked.status, booked."heldFor", booked.comment, booked.properties
      from new_booking b, :booked
      order by booked.place
      returning id),
    placed as (select id, row_number() over (order by id) as place from new_participants),
    paying as (
      insert into order_line_participants (provider_id, order_line_id, participant_id)
      select :providerId, l.id, p.id
      from :purchases
        join new_lines l on l.product_id = purchases.product join placed p on p.place = purchases.buyer)
    select (select id from new_order) as "orderId", (select id from new_booking) as "bookingId",
      (select json_agg(id order by id) from placed) as "participantIds"`,
);
export type BookingCreated = RowOf<typeof createBooking>;

/** Subtracts an amount from a voucher's balance; returns no row if that is too low. */
export const spendVoucher = statement(
  'spend_voucher',
  {
    takes: { providerId: 'int', voucherId: 'int', orderId: 'int', amount: 'numeric', now: 'moment' },
    returns: { voucherId: 'int' },
  },
  `with spent as (
      update vouchers set balance = balance - :amount, updated_at = :now
      where provider_id = :providerId and id = :voucherId and balance >= :amount returning id)
    insert into voucher_redemptions (provider_id, voucher_id, order_id, amount, created_at)
    select :providerId, s.id, :orderId, :amount, :now from spent s returning voucher_id as "voucherId"`,
);

const productReturns = {
  id: 'int',
  courseId: 'int',
  price: 'numeric',
  currency: 'text',
  vatPercentage: 'numeric',
} as const;
const product = `select p.id, p.course_id as "courseId", p.price::text as price, p.currency,
    p.vat_percentage::text as "vatPercentage"
  from products p where p.provider_id = :providerId and p.archived_at is null`;
export const findProducts = statement(
  'find_products',
  { takes: { providerId: 'int', ids: 'int[]' }, returns: productReturns },
  `${product} and p.id in :ids`,
);

const dateReturns = {
  ...({ id: 'int', courseId: 'int', courseTitle: 'text', courseCurrency: 'text', triggerValue: 'text?' } as const),
  ...({ startAt: 'moment', endAt: 'moment', place: 'text?', isCanceled: 'bool' } as const),
  /** True after the deadline's day in the date's zone, or after the end. */
  isPassed: 'bool',
  ...seatReturns,
  /** True if an offer has ended that still holds its seat. */
  hasDueOffers: 'bool',
  mailSwitches: typedOrNull<MailSwitches>('json'),
  /** Null if archived. */
  mainProduct: typedOrNull<RowOf<typeof findProducts>>('json'),
} as const;
/** Course dates of active courses; neither is deleted. Deadlines follow the real clock. */
const date = `select d.id, d.course_id as "courseId", c.title as "courseTitle", c.price_currency as "courseCurrency",
    d.trigger_value as "triggerValue", d.start_at::text as "startAt", d.end_at::text as "endAt", p.title as place,
    d.status_id = ${canceled} as "isCanceled",
    timezone(d.zone, ${currentTimeSql})::date > d.deadline_at or d.ends_at <= ${currentTimeSql} as "isPassed",
    ${seatsSql('d')}, ${hasDueOffersSql('d')} as "hasDueOffers",
    (select s.mails from booking_settings s where s.provider_id = :providerId) as "mailSwitches",
    (select to_json(m) from (${product} and p.course_id = d.course_id and p.is_main_product) m) as "mainProduct"
  from course_dates d
    join courses c on c.provider_id = :providerId and c.id = d.course_id and c.is_active and c.deleted_at is null
    left join places p on p.id = d.place_id
  where d.provider_id = :providerId and d.deleted_at is null`;

export const findDate = statement(
  'find_date',
  { takes: { providerId: 'int', id: 'int?' }, returns: dateReturns },
  `${date} and d.id = :id`,
);
/** A bookable course date, or one of its children. */
export type DateFound = RowOf<typeof findDate>;
/** The children with one of the trigger values, without regard to case. */
export const findChildren = statement(
  'find_children',
  { takes: { providerId: 'int', parentId: 'int', triggers: 'text[]' }, returns: dateReturns },
  `${date} and d.parent_id = :parentId and ${caseFoldedSql('btrim(d.trigger_value)')}
    in (select ${caseFoldedSql('v.value')} from :triggers as v(value)) order by d.id`,
);

/** A campaign by its code (`isNamed`), or an agreement with the customer. */
export type CampaignFound = {
  id: number;
  isNamed: boolean;
  isOpen: boolean;
  isExpired: boolean;
  isUsedUp: boolean;
  /** Uses that are left; null without a limit. */
  usesLeft: number | null;
  forCourse: boolean;
  forCustomer: boolean;
  currency: string;
  type: 'Percent' | 'Value';
  value: string;
};
type VoucherFound = {
  id: number;
  code: string;
  currency: string;
  balance: string;
  isArchived: boolean;
  isExpired: boolean;
};
type CustomerFound = { id: number; sellerId: number | null; isActive: boolean };

const campaign = (isNamed: boolean) => `select c.id, ${isNamed} as "isNamed", c.currency, c.discount_type as type,
    c.discount_value::text as value, coalesce(c.ends_at <= ${currentTimeSql}, false) as "isExpired",
    ${isOpen('c')} as "isOpen", ${isForCourse(':providerId', 'c', ':courseId::bigint')} as "forCourse",
    ${isUsedUp('c')} as "isUsedUp", c.max_uses - c.uses as "usesLeft",
    ${isForCustomer(':providerId', 'c', ':customerId')} as "forCustomer"
  from campaigns c`;

/** The campaign of a code, the customer with its agreements, and the voucher of a code. */
export const findPayers = statement(
  'find_payers',
  {
    takes: { providerId: 'int', courseId: 'int?', campaignCode: 'text?', customerId: 'int?', voucherCode: 'text?' },
    returns: {
      campaigns: typedOrNull<CampaignFound[]>('json'),
      voucher: typedOrNull<VoucherFound>('json'),
      customer: typedOrNull<CustomerFound>('json'),
    },
  },
  `select
      (select json_agg(c order by c.id) from (
        ${campaign(true)} where c.provider_id = :providerId and c.campaign_code is not null and not c.is_archived
          and ${caseFoldedSql('c.campaign_code')} = ${caseFoldedSql(':campaignCode')}
        union all
        ${campaign(false)} join campaign_customers a on a.campaign_id = c.id
        where c.provider_id = :providerId and a.provider_id = :providerId and a.customer_id = :customerId
          and c.type = 'Agreement') c) as campaigns,
      (select to_json(v) from (select v.id, v.code, v.currency, v.balance::text as balance,
          v.archived_at is not null as "isArchived", coalesce(v.expires_at <= ${currentTimeSql}, false) as "isExpired"
        from vouchers v where v.provider_id = :providerId and v.deleted_at is null
          and ${caseFoldedSql('v.code')} = ${caseFoldedSql(':voucherCode')}) v) as voucher,
      (select to_json(c) from (select c.id, c.seller_id as "sellerId", c.status = 1 as "isActive"
        from customers c where c.provider_id = :providerId and c.id = :customerId) c) as customer`,
);

/** The stored items that a booking refers to. */
export type BookingContext = {
  dates: DateFound[];
  products: RowOf<typeof findProducts>[];
  campaigns: CampaignFound[];
  voucher: VoucherFound | null;
  customer: CustomerFound | null;
};
