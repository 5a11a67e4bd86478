import { isForCourse } from '../campaigns/shape.ts';

const campaign = (isNamed: boolean) => `select c.id, json_build_object('id', c.id, 'isNamed', ${isNamed},
    'isRunning', c.is_active and not c.is_archived and coalesce(c.starts_at <= $3, true) and coalesce(c.ends_at > $3, true),
    'isExpired', coalesce(c.ends_at <= $3, false),
    'forCourse', ${isForCourse('c', 'b.course_id')},
    'forCustomer', not exists (select from campaign_customers n where n.provider_id = $1 and n.campaign_id = c.id)
      or exists (select from campaign_customers n where n.provider_id = $1 and n.campaign_id = c.id and n.customer_id = (select $7::bigint)),
    'currency', c.currency, 'type', c.discount_type, 'value', c.discount_value::text) as found`;

/** One row of all that a booking names: $2 the date, $3 the clock, then trigger values, products, codes and customer. */
export const findBooking = {
  name: 'find_booking',
  text: `with booked as materialized (
      select d.course_id from course_dates d join courses c on c.provider_id = d.provider_id and c.id = d.course_id
      where d.provider_id = $1 and d.id = $2 and d.deleted_at is null and c.is_active and c.deleted_at is null)
    select
      (select coalesce(json_agg(json_build_object('id', d.id, 'courseId', d.course_id, 'courseTitle', c.title,
          'courseCurrency', c.price_currency, 'triggerValue', d.trigger_value, 'startAt', d.start_at, 'endAt', d.end_at,
          'place', p.title, 'isCanceled', d.status_id = 3,
          'isPassed', timezone(d.zone, $3::timestamptz)::date > d.deadline_at or d.ends_at <= $3,
          'capacityMax', d.capacity_max, 'capacityOverbook', d.capacity_overbook, 'capacityWait', d.capacity_wait,
          'numConfirmed', d.num_confirmed, 'numOverbooked', d.num_overbooked, 'numUnconfirmed', d.num_unconfirmed,
          'numWaiting', d.num_waiting) order by d.id), '[]')
        from course_dates d
          join courses c on c.provider_id = d.provider_id and c.id = d.course_id and c.is_active and c.deleted_at is null
          left join places p on p.id = d.place_id
        where d.provider_id = $1 and d.deleted_at is null
          and (d.id = $2 or d.parent_id = $2 and d.trigger_value in (select json_array_elements_text($4)))) as dates,
      (select coalesce(json_agg(json_build_object('id', p.id, 'courseId', p.course_id, 'isMain', p.is_main_product,
          'price', p.price::text, 'currency', p.currency, 'vatPercentage', p.vat_percentage::text)), '[]')
        from products p
        where p.provider_id = $1 and p.archived_at is null
          and (p.id in (select json_array_elements_text($5)::bigint) or p.is_main_product and p.course_id = (select course_id from booked))) as products,
      (select coalesce(json_agg(n.found order by n.id), '[]') from (
          ${campaign(true)} from campaigns c left join booked b on true
          where c.provider_id = $1 and c.campaign_code is not null and not c.is_archived
            and lower(c.campaign_code collate "und-x-icu") = lower((select $6::text) collate "und-x-icu")
        union all
          ${campaign(false)} from campaign_customers a join campaigns c on c.provider_id = $1 and c.id = a.campaign_id
            left join booked b on true
          where a.provider_id = $1 and a.customer_id = (select $7::bigint) and c.type = 'Agreement') n) as campaigns,
      (select json_build_object('id', v.id, 'currency', v.currency, 'balance', v.balance::text,
          'isArchived', v.archived_at is not null, 'isExpired', coalesce(v.expires_at <= $3, false))
        from vouchers v where v.provider_id = $1 and v.deleted_at is null
          and lower(v.code collate "und-x-icu") = lower((select $8::text) collate "und-x-icu")) as voucher,
      (select json_build_object('id', c.id, 'sellerId', c.seller_id, 'isActive', c.status = 1)
        from customers c where c.provider_id = $1 and c.id = (select $7::bigint)) as customer`,
};

/** The whole of a booking at once, its ids in one row: the order and its title, then all that hangs on it. */
export const makeBooking = {
  name: 'make_booking',
  text: `with made_order as (
      insert into orders (id, provider_id, created_at, updated_at, title, title_detailed, currency, customer_id, seller_id,
        campaign_id, is_paid, payment_method, your_reference, booker, gln_number, invoice_address, invoice_address_2,
        invoice_address_3, invoice_zipcode, invoice_city, invoice_email, total_before_discounts, total_discounts, total_vat,
        custom_properties)
      overriding system value
      select o.id, $1, $2, $2, $3 || ' #' || o.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23
      from (select nextval('orders_id_seq') as id) o
      returning id),
    made_booking as (
      insert into bookings (provider_id, created_at, updated_at, order_id, course_date_id, booker_name, booker_email, booker_phone)
      select $1, $2, $2, o.id, $24, $12, $25, $26 from made_order o
      returning id),
    made_lines as (
      insert into order_lines (provider_id, created_at, updated_at, order_id, product_id, quantity, price_at_order,
        discount_percent_at_order, discount_amount_at_order, discount_calculated_at_order, vat_percentage)
      select $1, $2, $2, o.id, l.product, l.quantity, l.price, l.percent, l.amount, l.calculated, l.vat
      from made_order o, json_to_recordset($27) l (place int, product bigint, quantity int, price numeric, percent numeric,
        amount numeric, calculated numeric, vat numeric)
      order by l.place
      returning id, product_id),
    made_participants as (
      insert into participants (provider_id, created_at, updated_at, status_updated_at, entry_source, booking_id, paid_id,
        invoice_reference, course_id, course_date_id, user_id, status_id, user_comment)
      select $1, $2, $2, $2, 'User', b.id, $28, $11, p.course, p.date, p.person, p.status, p.comment
      from made_booking b, json_to_recordset($29) p (place int, course bigint, date bigint, person bigint, status smallint,
        comment text)
      order by p.place
      returning id),
    placed as (select id, row_number() over (order by id) as place from made_participants),
    paying as (
      insert into order_line_participants (provider_id, order_line_id, participant_id)
      select $1, l.id, p.id
      from json_to_recordset($30) s (product bigint, buyer bigint)
        join made_lines l on l.product_id = s.product join placed p on p.place = s.buyer)
    select (select id from made_order) as "orderId", (select id from made_booking) as "bookingId",
      (select json_agg(id order by id) from placed) as "participantIds"`,
};
export type BookingMade = { orderId: number; bookingId: number; participantIds: number[] };

/** Takes an amount off a voucher that still holds it; no row when it does not. */
export const spendVoucher = {
  name: 'spend_voucher',
  text: `with spent as (
      update vouchers set balance = balance - $4, updated_at = $5
      where provider_id = $1 and id = $2 and (balance >= $4 or not $6) returning id)
    insert into voucher_redemptions (provider_id, voucher_id, order_id, amount, created_at)
    select $1, s.id, $3, $4, $5 from spent s returning voucher_id`,
};

/** Mails to send, each to a course user; those about a participant name it. */
export const announce = {
  name: 'announce',
  text: `insert into outbox (provider_id, purpose, user_id, participant_id, created_at, due_at)
    select $1, m.purpose, m."userId", m."participantId", $2, $2
    from json_to_recordset($3) m (place int, purpose text, "userId" bigint, "participantId" bigint)
    order by m.place`,
};
