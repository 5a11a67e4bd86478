import { caseFoldedSql, foldedSql, markedColumns } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import { hashedRefSql, isHashedRefSql } from '../../../database/tables/imports.ts';
import { bookings, orders as orderTable } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { payingParticipant } from '../../orders/orders/loaders.ts';
import { isInterestOfPerson, isLinkOfPerson, isMailOfPerson } from './mail-sql.ts';

// `$1` is the provider, `$2` the course user.

const clear = (columns: string[]) => columns.map((column) => `${column} = null`).join(', ');

/** The username is replaced. */
const ofUser = markedColumns(courseUsers, 'personal', ['username']);
/** Locked, so that no session or link of the person begins meanwhile. */
export const lockPerson = {
  name: 'lock_erased_person',
  text: `select erased_at is not null and num_nonnulls(${ofUser.join(', ')}) = 0 as "isErased"
    from course_users where provider_id = $1 and id = $2 and not is_placeholder for update`,
};

const nameOfUser = foldedSql(`nullif(concat_ws(' ', u.firstname, u.lastname), '')`);
const person = `person as (
    select u.customer_id, ${caseFoldedSql('u.email')} as email, ${nameOfUser} as name, u.erased_at is not null as is_erased
    from course_users u where u.provider_id = $1 and u.id = $2)`;
const isPerson = (email: string, name: string) =>
  `(${caseFoldedSql(email)} = person.email or ${foldedSql(name)} = person.name)`;

/** Once the person is erased, nothing else names its customer. */
const erasedTitle = "'Erased'";
const isCustomer = `(coalesce(${isPerson('c.email', 'c.title')}, false)
        or person.is_erased and (c.kept_until is not null or c.title = ${erasedTitle}))`;

/** True if the condition is true of another course user with the same e-mail: families share one. */
const isOfRelative = (condition: string) => `exists (
        select from course_users u where u.provider_id = $1 and u.id <> $2 and u.erased_at is null
          and ${caseFoldedSql('u.email')} = person.email and ${nameOfUser} is distinct from person.name and (${condition}))`;
/** Without a name of the booker, a participant is. */
const isRelativesOrder = isOfRelative(`${nameOfUser} = ${foldedSql('o.booker')} or o.booker is null and exists (
          select from bookings b join participants p on p.provider_id = $1 and p.booking_id = b.id
          where b.provider_id = $1 and b.order_id = o.id and p.user_id = u.id)`);
const isRelativesCustomer = isOfRelative(`${nameOfUser} = ${foldedSql('c.title')}`);

/** Both the name and the e-mail of the booker are those of somebody else; without a name, the e-mail of a course user. */
const isBookedByOther = `exists (
        select from bookings b where b.provider_id = $1 and b.order_id = o.id
          and b.booker_email is not null and ${caseFoldedSql('b.booker_email')} is distinct from person.email
          and (${foldedSql('o.booker')} <> coalesce(person.name, '') or o.booker is null and exists (
            select from course_users k where k.provider_id = $1 and k.id <> $2 and k.erased_at is null
              and ${caseFoldedSql('k.email')} = ${caseFoldedSql('b.booker_email')})))`;

/** The first day, at `$3`, on which an order's buyer is not needed any more; `$4` are the years after that of the invoice. */
const keptUntil = (order: string) => `make_date(
    extract(year from greatest(${order}.exported_at, ${order}.invoiced_at) at time zone $3)::int + 1 + $4::int, 1, 1
  )::timestamp at time zone $3`;

const orders = `with ${person},
    booked as (
      select distinct b.order_id as id from participants p
        join bookings b on b.provider_id = $1 and b.id = p.booking_id
      where p.provider_id = $1 and p.user_id = $2),
    named as (
      select o.id from (
          select b.order_id as id from person
            join bookings b on b.provider_id = $1 and ${caseFoldedSql('b.booker_email')} = person.email
          union select o.id from person
            join orders o on o.provider_id = $1 and ${caseFoldedSql('o.invoice_email')} = person.email) found
        join orders o on o.provider_id = $1 and o.id = found.id
        cross join person
      where not ${isRelativesOrder})`;

/** Credits and differences have the buyer of their first order. */
const followingOrders = (first: string) => `
      select o.id, ${keptUntil('o')} as kept, f.is_own, f.is_of_company, f.is_payer, f.is_shared
      from ${first} f join orders o on o.provider_id = $1 and o.first_order_id = f.id`;

/**
 * The orders of bookings that the person is on, or that have the e-mail of the person. The person is the buyer if the
 * e-mail or the name says so, or of a booking of nobody else that no other customer pays; not if another one has booked.
 * So is the payer that `invoicing` names without a customer, a company and a booker, unless the booking has the e-mail of
 * somebody else; of an invoice always. Without an invoice another person of the order pays next.
 */
export const findOrders = {
  name: 'find_orders_of_person',
  text: `${orders},
    decided as (
      select o.id, ${keptUntil('o')} as kept, person.is_erased and o.kept_until is not null and not is_of_other
          or coalesce(n.id is not null or ${foldedSql('o.booker')} = person.name, false)
          or is_buyer and ${keptUntil('o')} > now()
          or (c.id is null or c.type = 2 and ${isCustomer}) and (is_buyer or not has_others) and not is_of_other
          and not ${isRelativesOrder} and not ${isBookedByOther} as is_own, coalesce(c.type = 1, false) as is_of_company,
        is_payer, is_buyer and has_others and n.id is null as is_shared
      from (select id from booked union select id from named) found
        join orders o on o.provider_id = $1 and o.id = found.id
        cross join person
        cross join lateral (select coalesce(o.kept_user_id <> $2, false) as is_of_other) kept_for
        left join named n on n.id = o.id
        left join customers c on c.provider_id = $1 and c.id = o.customer_id
        cross join lateral (
          select count(*) > 0 as is_payer, coalesce(bool_or(
              b.booker_email is null or ${caseFoldedSql('b.booker_email')} = person.email), false) as is_buyer
          from bookings b join participants p on p.provider_id = $1 and p.id = ${payingParticipant('b', '$1')}
          where b.provider_id = $1 and b.order_id = o.id and p.user_id = $2
            and c.id is null and concat(o.booker, o.custom_properties->>'company') = '') paid
        cross join lateral (
          select exists (
            select from bookings b join participants p on p.provider_id = $1 and p.booking_id = b.id
              join course_users u on u.provider_id = $1 and u.id = p.user_id
            where b.provider_id = $1 and b.order_id = o.id and u.id <> $2 and u.erased_at is null) as has_others) shared),
    following as (${followingOrders('decided')}),
    later as (${followingOrders('following')})
    select distinct on (id) id, kept > now() as "isKept", to_char(kept at time zone $3, 'YYYY-MM-DD') as until,
      is_own as "isOwn", is_of_company as "isOfCompany", is_payer as "isPayer",
      is_shared and coalesce(kept <= now(), true) as "isShared"
    from (table decided union all table following union all table later) all_orders
    order by id, is_own desc`,
};

/** The private customers that employ the person, pay the orders \`$5\` or have the e-mail: those are the person. */
export const findCustomers = {
  name: 'find_customers_of_person',
  text: `with ${person},
    found as (
      select customer_id as id from person
      union select o.customer_id from orders o where o.provider_id = $1 and o.id = any($5::bigint[])
      union select c.id from person join customers c on c.provider_id = $1 and ${caseFoldedSql('c.email')} = person.email
        where not ${isRelativesCustomer})
    select c.id, ${isCustomer} and not ${isRelativesCustomer} as "isOwn",
      kept.until > now() as "isKept", to_char(kept.until at time zone $3, 'YYYY-MM-DD') as until
    from found join customers c on c.provider_id = $1 and c.id = found.id and c.type = 2
      cross join person
      cross join lateral (
        select max(${keptUntil('o')}) as until from orders o where o.provider_id = $1 and o.customer_id = c.id) kept
    order by c.id`,
};

/** The items of the person, with the orders `$3` and the customers `$4`: kinds of imports, and resources of changes. */
const items = `items as (
      select 'user' as kind, 'courseuser' as resource, $2::bigint as id
      union all select 'participant', 'participant', p.id from participants p where p.provider_id = $1 and p.user_id = $2
      union all select 'order', 'order', id from unnest($3::bigint[]) id
      union all select 'booking', 'booking', b.id from bookings b where b.provider_id = $1 and b.order_id = any($3)
      union all select 'order_line', '', l.id from order_lines l where l.provider_id = $1 and l.order_id = any($3)
      union all select 'customer', 'customer', id from unnest($4::bigint[]) id)`;
const attempts = `webhook_deliveries d, events e, items i
    where d.provider_id = $1 and e.provider_id = $1 and i.resource = e.resource and i.id = e.resource_id
      and e.id = substring(d.message_id from '^evt_(\\d{1,18})_')::bigint`;
/** The kinds of `items`, as the condition of the partial index. */
const refs = `r.provider_id = $1 and r.kind = i.kind and r.item_id = i.id and not ${isHashedRefSql('r.ref')}
    and r.kind in ('booking', 'customer', 'order', 'order_line', 'participant', 'user')`;

export const count = {
  name: 'count_of_person',
  text: `with ${items}
    select
      (select count(*)::int from participants p where p.provider_id = $1 and p.user_id = $2) as participants,
      (select count(*)::int from sessions s where s.provider_id = $1 and s.user_id = $2) as sessions,
      ((select count(*) from tokens t where t.provider_id = $1 and t.user_id = $2 and t.used_at is null)
        + (select count(*) from booking_links where ${isLinkOfPerson})
        + (select count(*) from calendar_feeds f where f.provider_id = $1 and f.user_id = $2))::int as links,
      (select count(*)::int from outbox where ${isMailOfPerson}) as mails,
      (select count(*)::int from course_interests where ${isInterestOfPerson}) as interests,
      (select count(*)::int from ${attempts}) as webhook_attempts,
      (select count(*)::int from import_refs r, items i where ${refs}) as import_refs`,
};

export const deleteAttempts = {
  name: 'erase_attempts',
  text: `with ${items}, found as (select d.webhook_id, d.slot, d.number from ${attempts})
    delete from webhook_deliveries d using found f
    where d.provider_id = $1 and d.webhook_id = f.webhook_id and d.slot = f.slot and d.number = f.number`,
};
export const hashRefs = {
  name: 'erase_import_refs',
  text: `with ${items}
    update import_refs r set ref = ${hashedRefSql('r.ref')}, content = null from items i where ${refs}`,
};

const ofParticipant = markedColumns(participants, 'personal');
/** Up to `$4` of them; null: all. */
export const clearParticipants = {
  name: 'erase_participants',
  text: `update participants set ${clear(ofParticipant)}, updated_at = $3 where provider_id = $1 and id = any(array(
    select id from participants where provider_id = $1 and user_id = $2 and num_nonnulls(${ofParticipant.join(', ')}) > 0
    order by id limit $4)) returning id`,
};

/** Another text, since it is unique for a participant and a gathering. */
export const clearNonces = {
  name: 'erase_attendance_nonces',
  text: `update attendance_marks set nonce = 'erased-' || id where provider_id = $1 and nonce <> 'erased-' || id
    and participant_id in (select p.id from participants p where p.provider_id = $1 and p.user_id = $2)`,
};

const ofBooking = markedColumns(bookings, 'personal');
/** `$2` are the orders, `$3` is the time. */
export const clearBookings = {
  name: 'erase_bookings',
  text: `update bookings set ${clear(ofBooking)}, updated_at = $3
    where provider_id = $1 and order_id = any($2::bigint[]) and num_nonnulls(${ofBooking.join(', ')}) > 0`,
};

/** The part of an order that a voucher has paid stays in its properties. */
const amounts = "('{voucher_code,voucher_amount}'::text[])";
const ofOrder = markedColumns(orderTable, 'personal', ['custom_properties']);
const clearOrder = `${clear(ofOrder)}, kept_until = null, kept_user_id = null,
    custom_properties = (select jsonb_object_agg(key, value) from jsonb_each(custom_properties) where key = any${amounts})`;
const hasBuyer = `(num_nonnulls(${ofOrder.join(', ')}) > 0 or custom_properties - ${amounts} <> '{}')`;
export const clearOrders = {
  name: 'erase_orders',
  text: `update orders set ${clearOrder}, updated_at = $3
    where provider_id = $1 and id = any($2::bigint[]) and ${hasBuyer} returning id`,
};
/** The address is that of the company which pays. */
export const clearBooker = {
  name: 'erase_booker',
  text: `update orders o set booker = null, updated_at = $4,
      invoice_email = case when ${caseFoldedSql('o.invoice_email')} = ${caseFoldedSql('u.email')} then null else o.invoice_email end
    from course_users u where u.provider_id = $1 and u.id = $2 and o.provider_id = $1 and o.id = any($3::bigint[])
      and (o.booker is not null or ${caseFoldedSql('o.invoice_email')} = ${caseFoldedSql('u.email')})`,
};
const clearPayments = (orders: string, time: string) => `update payments set reference = null, updated_at = ${time}
    where provider_id = $1 and order_id ${orders} and reference is not null`;
/** A reference is a text that may name who paid. `$2` are the orders, `$3` is the time. */
export const clearReferences = { name: 'erase_payments', text: clearPayments('= any($2::bigint[])', '$3') };
/** Those of the orders `$3` that stay with them, and those with both names of the person of orders other than `$4`. */
export const findReferences = {
  name: 'find_kept_payments',
  text: `select p.id, p.order_id as "orderId" from payments p
      left join course_users u on u.provider_id = $1 and u.id = $2
    where p.provider_id = $1 and p.reference is not null
      and (p.order_id = any($3::bigint[]) or p.order_id <> all($4::bigint[])
        and strpos(lower(p.reference), lower(u.firstname)) > 0 and strpos(lower(p.reference), lower(u.lastname)) > 0
        and to_tsvector('simple', p.reference) @@ phraseto_tsquery('simple', u.firstname || ' ' || u.lastname))
    order by p.id`,
};
/** Those of `$3` that are still kept until the time `$2`. */
export const clearKeptOrders = {
  name: 'erase_kept_orders',
  text: `with cleared as (
      update orders set ${clearOrder}, updated_at = $2 where provider_id = $1 and id = any($3::bigint[])
        and kept_until <= $2
      returning id),
    references_of as (${clearPayments('in (select id from cleared)', '$2')})
    select id from cleared`,
};

const ofCustomer = markedColumns(customers, 'personal', ['title']);
const clearCustomer = `title = ${erasedTitle}, ${clear(ofCustomer)}, kept_until = null`;
export const clearCustomers = {
  name: 'erase_customers',
  text: `update customers set ${clearCustomer}, updated_at = $3
    where provider_id = $1 and id = any($2::bigint[]) and num_nonnulls(${ofCustomer.join(', ')}) + (title <> ${erasedTitle})::int > 0`,
};
export const clearKeptCustomers = {
  name: 'erase_kept_customers',
  text: `update customers set ${clearCustomer}, updated_at = $2 where provider_id = $1 and id = any($3::bigint[])
      and kept_until <= $2`,
};
/** The columns of a customer that an invoice shows. */
const ofInvoice = [
  ...['title', 'orgnr', 'customer_reference_id', 'customer_reference', 'invoice_email', 'invoice_address'],
  ...['invoice_address_2', 'invoice_address_3', 'invoice_zipcode', 'invoice_city'],
];
const notOfInvoice = markedColumns(customers, 'personal', ofInvoice);
export const keepCustomers = {
  name: 'keep_customers',
  text: `update customers c set ${clear(notOfInvoice)}, updated_at = $5,
      kept_until = k.until::timestamp at time zone $4
    from unnest($2::bigint[], $3::text[]) k (id, until) where c.provider_id = $1 and c.id = k.id
      and (num_nonnulls(${notOfInvoice.join(', ')}) > 0 or c.kept_until is distinct from k.until::timestamp at time zone $4)`,
};

/** The username is unique, and no one can guess it. */
export const clearUser = {
  name: 'erase_course_user',
  text: `update course_users set ${clear(ofUser)}, updated_at = $3, erased_at = $3,
      username = 'erased-' || id || '-' || gen_random_uuid()
    where provider_id = $1 and id = $2`,
};

/** Replaces the event of the update. */
export const recordErased = {
  name: 'record_erased',
  text: `with replaced as (
      delete from events where provider_id = $1 and id >= first_event_id()
        and resource = 'courseuser' and resource_id = $2 and change = 'updated')
    insert into events (provider_id, at, resource, change, resource_id) values ($1, $3, 'courseuser', 'erased', $2)`,
};

/** Remembers the person, with those that were merged into it. */
export const rememberErasure = {
  name: 'remember_erasure',
  text: `insert into erasures (provider_id, user_id, created_at, erased_at, mails)
    select provider_id, id, created_at, $3::timestamptz, $4::text[] from course_users where provider_id = $1 and id = $2
    union all
    select provider_id, user_id, created_at, $3, '{}'::text[] from merged_users where provider_id = $1 and into_id = $2`,
};
