import { canceled } from '../../../core/reference/statuses.ts';
import { caseFoldedSql, currentTimeSql } from '../../../database/tables/columns.ts';
import { hasDueOffersSql, openOffersSql } from '../../courses/seats/loaders.ts';
import { isForCourse, isForCustomer, isOpen, isUsedUp } from '../../orders/campaigns/loaders.ts';
import type { CampaignFound, CustomerFound, VoucherFound } from './schema.ts';

/** Inserts a booking with its order, lines and participants; returns one row with the ids. */
export const createBooking = {
  name: 'create_booking',
  text: `with new_order as (
      insert into orders (id, provider_id, created_at, updated_at, title, title_detailed, currency, customer_id, seller_id,
        campaign_id, is_paid, payment_method, your_reference, booker, gln_number, invoice_address, invoice_address_2,
        invoice_address_3, invoice_zipcode, invoice_city, invoice_email, total_before_discounts, total_discounts, total_vat,
        custom_properties)
      overriding system value
      select o.id, $1, $2, $2, $3 || ' #' || o.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23
      from (select nextval('orders_id_seq') as id) o
      returning id),
    new_booking as (
      insert into bookings (provider_id, created_at, updated_at, order_id, course_date_id, booker_name, booker_email,
        booker_phone, waiting_together, booker_language_id, language)
      select $1, $2, $2, o.id, $24, $12, $25, $26, $31, $32,
        case when $32 in ('no', 'nb', 'nn') then 'no' when $32 = 'en' then 'en' end from new_order o
      returning id),
    new_lines as (
      insert into order_lines (provider_id, created_at, updated_at, order_id, product_id, quantity, price_at_order,
        discount_percent_at_order, discount_amount_at_order, discount_calculated_at_order, vat_percentage)
      select $1, $2, $2, o.id, l.product, l.quantity, l.price, l.percent, l.amount, l.calculated, l.vat
      from new_order o, json_to_recordset($27) l (place int, product bigint, quantity int, price numeric, percent numeric,
        amount numeric, calculated numeric, vat numeric)
      order by l.place
      returning id, product_id),
    new_participants as (
      insert into participants (provider_id, created_at, updated_at, status_updated_at, entry_source, booking_id, paid_id,
        invoice_reference, course_id, course_date_id, user_id, status_id, held_for, user_comment, custom_properties)
      select $1, $2, $2, $2, 'User', b.id, $28, $11, p.course, p.date, p.person, p.status, p."heldFor", p.comment, p.properties
      from new_booking b, json_to_recordset($29) p (place int, course bigint, date bigint, person bigint, status smallint,
        "heldFor" text, comment text, properties jsonb)
      order by p.place
      returning id),
    placed as (select id, row_number() over (order by id) as place from new_participants),
    paying as (
      insert into order_line_participants (provider_id, order_line_id, participant_id)
      select $1, l.id, p.id
      from json_to_recordset($30) s (product bigint, buyer bigint)
        join new_lines l on l.product_id = s.product join placed p on p.place = s.buyer)
    select (select id from new_order) as "orderId", (select id from new_booking) as "bookingId",
      (select json_agg(id order by id) from placed) as "participantIds"`,
};
export type BookingCreated = { orderId: number; bookingId: number; participantIds: number[] };

/** Subtracts an amount from a voucher's balance; returns no row if that is too low. */
export const spendVoucher = {
  name: 'spend_voucher',
  text: `with spent as (
      update vouchers set balance = balance - $4, updated_at = $5
      where provider_id = $1 and id = $2 and balance >= $4 returning id)
    insert into voucher_redemptions (provider_id, voucher_id, order_id, amount, created_at)
    select $1, s.id, $3, $4, $5 from spent s returning voucher_id`,
};

const product = `select p.id, p.course_id as "courseId", p.price::text as price, p.currency,
    p.vat_percentage::text as "vatPercentage"
  from products p where p.provider_id = $1 and p.archived_at is null`;

/** Course dates of active courses; neither is deleted. Deadlines follow the real clock. */
const date = `select d.id, d.course_id as "courseId", c.title as "courseTitle", c.price_currency as "courseCurrency",
    d.trigger_value as "triggerValue", d.start_at::text as "startAt", d.end_at::text as "endAt", p.title as place,
    d.status_id = ${canceled} as "isCanceled",
    timezone(d.zone, ${currentTimeSql})::date > d.deadline_at or d.ends_at <= ${currentTimeSql} as "isPassed",
    d.capacity_max as "capacityMax", d.capacity_overbook as "capacityOverbook", d.capacity_wait as "capacityWait",
    d.num_confirmed as "numConfirmed", d.num_overbooked as "numOverbooked", d.num_unconfirmed as "numUnconfirmed",
    d.num_waiting as "numWaiting", ${openOffersSql('d')} as "openOffers", ${hasDueOffersSql('d')} as "hasDueOffers",
    (select s.mails from booking_settings s where s.provider_id = $1) as "mailSwitches",
    (select to_json(m) from (${product} and p.course_id = d.course_id and p.is_main_product) m) as "mainProduct"
  from course_dates d
    join courses c on c.provider_id = $1 and c.id = d.course_id and c.is_active and c.deleted_at is null
    left join places p on p.id = d.place_id
  where d.provider_id = $1 and d.deleted_at is null`;

export const findDate = { name: 'find_date', text: `${date} and d.id = $2` };
/** The children of $2 with one of the trigger values $3, without regard to case. */
export const findChildren = {
  name: 'find_children',
  text: `${date} and d.parent_id = $2 and ${caseFoldedSql('btrim(d.trigger_value)')}
    in (select ${caseFoldedSql('v.value')} from json_array_elements_text($3) v) order by d.id`,
};
export const findProducts = {
  name: 'find_products',
  text: `${product} and p.id in (select json_array_elements_text($2)::bigint)`,
};

const campaign = (isNamed: boolean) => `select c.id, ${isNamed} as "isNamed", c.currency, c.discount_type as type,
    c.discount_value::text as value, coalesce(c.ends_at <= ${currentTimeSql}, false) as "isExpired",
    ${isOpen('c')} as "isOpen", ${isForCourse('$1', 'c', '$2::bigint')} as "forCourse",
    ${isUsedUp('c')} as "isUsedUp", c.max_uses - c.uses as "usesLeft",
    ${isForCustomer('$1', 'c', '$4')} as "forCustomer"
  from campaigns c`;

/** For the course $2: the campaign of a code ($3), the customer $4 with its agreements, and the voucher of a code ($5). */
export const findPayers = {
  name: 'find_payers',
  text: `select
      (select json_agg(c order by c.id) from (
        ${campaign(true)} where c.provider_id = $1 and c.campaign_code is not null and not c.is_archived
          and ${caseFoldedSql('c.campaign_code')} = ${caseFoldedSql('$3')}
        union all
        ${campaign(false)} join campaign_customers a on a.campaign_id = c.id
        where c.provider_id = $1 and a.provider_id = $1 and a.customer_id = $4 and c.type = 'Agreement') c) as campaigns,
      (select to_json(v) from (select v.id, v.code, v.currency, v.balance::text as balance, v.archived_at is not null as "isArchived",
          coalesce(v.expires_at <= ${currentTimeSql}, false) as "isExpired"
        from vouchers v where v.provider_id = $1 and v.deleted_at is null and ${caseFoldedSql('v.code')} = ${caseFoldedSql('$5')}) v) as voucher,
      (select to_json(c) from (select c.id, c.seller_id as "sellerId", c.status = 1 as "isActive"
        from customers c where c.provider_id = $1 and c.id = $4) c) as customer`,
};
export type PayersFound = {
  campaigns: CampaignFound[] | null;
  voucher: VoucherFound | null;
  customer: CustomerFound | null;
};
