/** The customer and the company of the participant's order; `isAttended` is true once attendance was registered. */
export const findPlace = {
  name: 'find_swapped_place',
  text: `select o.customer_id as "customerId", o.custom_properties->>'company' as company,
      o.custom_properties->>'company_number' as "companyNumber", exists (
        select from attendances a
        where a.provider_id = $1 and a.participant_id = p.id and a.attended is not null) as "isAttended"
    from participants p
      join bookings b on b.provider_id = $1 and b.id = p.booking_id
      join orders o on o.provider_id = $1 and o.id = b.order_id
    where p.provider_id = $1 and p.id = $2`,
};
export type PlaceFound = {
  customerId: number | null;
  company: string | null;
  companyNumber: string | null;
  isAttended: boolean;
};

/** Orders show their participants. */
export const touchOrders = {
  name: 'touch_orders_of_participants',
  text: `update orders set updated_at = $3 where provider_id = $1 and id in (
    select b.order_id from participants p join bookings b on b.provider_id = $1 and b.id = p.booking_id
    where p.provider_id = $1 and p.id = any($2::bigint[])
    union select l.order_id from order_line_participants p
      join order_lines l on l.provider_id = $1 and l.id = p.order_line_id
    where p.provider_id = $1 and p.participant_id = any($2::bigint[]))`,
};

/** Only attendance that was taken back is left here: a registered one forbids a swap or a move. */
export const deleteAttendances = {
  name: 'delete_attendances',
  text: `with marks as (delete from attendance_marks where provider_id = $1 and participant_id = any($2::bigint[]))
    delete from attendances where provider_id = $1 and participant_id = any($2::bigint[])`,
};

/** Notices that named the person of the participant `$2` before a swap, whom `$3` is. */
export const nameFormerUser = {
  name: 'name_former_user_of_notices',
  text: `update outbox set named_user_id = $3
    where provider_id = $1 and participant_id = $2 and num_nonnulls(user_id, named_user_id, booking_id) = 0
      and (sent_at is not null or attempts > 0)`,
};
