import type { Client } from 'pg';

const schools = 300;

/**
 * Persons, orders and places of many other schools, by statements without triggers; then the tables are analyzed. They
 * share one date and product, since only their number counts.
 */
export async function fillOtherSchools(client: Client, providerId: number, persons: number) {
  const own = `1000 + n % ${schools}, now(), now()`;
  const each = `generate_series(1, ${persons}) n`;
  for (const statement of [
    `set session_replication_role = replica`,
    `create temporary table filling on commit preserve rows as select n,
      nextval('course_users_id_seq') as person, nextval('orders_id_seq') as purchase, nextval('bookings_id_seq') as booking,
      nextval('order_lines_id_seq') as line, nextval('participants_id_seq') as place from ${each}`,
    `insert into course_users (provider_id, created_at, updated_at, id, username, email, firstname, lastname)
      overriding system value
      select ${own}, person, 'other-' || n, 'other-' || n || '@people.example', 'A', 'B' from filling`,
    `insert into orders (provider_id, created_at, updated_at, id, title) overriding system value
      select ${own}, purchase, 'Order' from filling`,
    `insert into bookings (provider_id, created_at, updated_at, id, order_id, course_date_id) overriding system value
      select ${own}, booking, purchase, (select min(id) from course_dates where provider_id = ${providerId}) from filling`,
    `insert into order_lines (provider_id, created_at, updated_at, id, order_id, product_id, quantity, price_at_order)
      overriding system value select ${own}, line, purchase,
        (select min(id) from products where provider_id = ${providerId}), 1, 1000 from filling`,
    `insert into participants (provider_id, created_at, updated_at, status_updated_at, id, booking_id, course_id,
        course_date_id, user_id, entry_source) overriding system value
      select ${own}, now(), place, booking, d.course_id, d.id, person, 'User' from filling, (
        select course_id, id from course_dates where provider_id = ${providerId} order by id limit 1) d`,
    `insert into order_line_participants (provider_id, order_line_id, participant_id)
      select 1000 + n % ${schools}, line, place from filling`,
    'set session_replication_role = default',
    'analyze',
  ])
    await client.query(statement);
}
