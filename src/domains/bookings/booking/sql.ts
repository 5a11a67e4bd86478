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
