import { eq, asc, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { canceled, participantStatus } from '../../../core/reference/statuses.ts';
import { currentTimeSql } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import { bookings, orders } from '../../../database/tables/orders.ts';
import { firstParticipantId, participants } from '../../../database/tables/participants.ts';
import { courseUsers, fullNameSql } from '../../../database/tables/users.ts';
import { batchLoader, rowLoader } from '../../../lists/loaders.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { orderUserColumns, sharesSql } from '../order-lines/loaders.ts';
import type { OrderInvoicing } from './schema.ts';

/** The course users of the first participants of orders. */
export const fetchFirstUsers = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: bookings.orderId, user: orderUserColumns })
    .from(bookings)
    .innerJoin(participants, sameTenant(participants, bookings, eq(participants.id, firstParticipantId)))
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .where(keys.match(bookings, bookings.orderId)),
);

export const fetchOrders = rowLoader(orders);

export const fetchFollowingOrders = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: sql<number>`${orders.firstOrderId}`, id: orders.id, kind: orders.kind })
    .from(orders)
    .where(keys.match(orders, orders.firstOrderId))
    .orderBy(asc(orders.id)),
);

const { waiting, deregistered } = participantStatus;
const waits = `(participants.status_id = ${waiting} or participants.held_until is not null)`;
const hasEnded = `exists (select from course_dates d
  where d.provider_id = participants.provider_id and d.id = participants.course_date_id
    and (d.ends_at <= ${currentTimeSql} or d.status_id = ${canceled} or d.deleted_at is not null))`;
/** True for the row of `participants` that owes nothing. */
export const owesNothing = `(participants.status_id = ${deregistered} or ${waits} and ${hasEnded})`;

/** The lines of the row of `orders` with those to whom something of them is charged. */
const charged = `from order_lines
  cross join lateral ${sharesSql('order_lines')} s
  join participants on participants.provider_id = order_lines.provider_id and participants.id = s.participant_id
  where order_lines.provider_id = orders.provider_id and order_lines.order_id = orders.id
    and order_lines.quantity > 0 and s.share > 0 and not s.is_credited`;
/** True for the row of `orders` with something in `uncredited`. */
export const hasUncredited = `exists (select ${charged} and ${owesNothing})`;
const uncredited = `(
  select coalesce(json_agg(json_build_object('line_id', line_id, 'participants', people) order by line_id), '[]')
  from (select order_lines.id as line_id, json_agg(participants.id order by participants.id) as people
    ${charged} and ${owesNothing} group by order_lines.id) u)`;

const addressFields = ['address', 'address_2', 'address_3', 'zipcode', 'city'];
const toAddress = (prefix: string) =>
  `json_build_object(${addressFields.map((field) => `'${field}', ${prefix}_${field}`).join(', ')})`;
const ifGiven = (prefix: string) =>
  `case when concat(${addressFields.map((field) => `${prefix}_${field}`).join(', ')}) <> '' then ${toAddress(prefix)} end`;

type Facts = { name: string; companyNumber?: string; emails: string[]; addresses?: string[] };
const ofOrder = 'orders.invoice';
/** What the order has of its own goes first. */
const toPayer = (
  type: string,
  { name, companyNumber = `orders.custom_properties->>'company_number'`, emails, addresses = [] }: Facts,
) => `json_build_object('type', '${type}', 'name', ${name}, 'company_number', ${companyNumber},
    'email', coalesce(orders.invoice_email, ${emails.join(', ')}),
    'invoice_address', coalesce(${[ofOrder, ...addresses].map(ifGiven).join(', ')}, ${toAddress(ofOrder)}))`;

const company = `orders.custom_properties->>'company'`;
const bookerEmail = 'bookings.booker_email';
const payer = `case
  when customers.id is not null then ${toPayer('customer', {
    ...{ name: 'customers.title', companyNumber: 'customers.orgnr' },
    emails: ['customers.invoice_email', 'customers.email'],
    addresses: ['customers.invoice', 'customers.post'],
  })}
  when ${company} <> '' then ${toPayer('company', { name: company, emails: [bookerEmail] })}
  when orders.booker <> '' then ${toPayer('booker', { name: 'orders.booker', emails: [bookerEmail] })}
  else ${toPayer('person', {
    name: `coalesce(nullif(${fullNameSql('course_users')}, ''), ${bookerEmail})`,
    emails: [bookerEmail, 'course_users.email'],
    addresses: ['course_users.invoice', 'course_users.home'],
  })} end`;

/** The participant who pays the row `booking`, if a person does: the first one who is not erased, else the first one. */
export const payingParticipant = (booking: string, provider = `${booking}.provider_id`) => `(
  select p.id from participants p where p.provider_id = ${provider} and p.booking_id = ${booking}.id
  order by exists (
    select from course_users u where u.provider_id = ${provider} and u.id = p.user_id and u.erased_at is not null), p.id
  limit 1)`;

const first = alias(orders, 'first_orders');
const bookedOrder = sql`coalesce(${first.firstOrderId}, ${orders.firstOrderId}, ${orders.id})`;

/** A credit and a difference have the payer of the booking that they belong to. */
export const fetchInvoicing = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ownerId: orders.id,
      payer: sql<OrderInvoicing['payer']>`${sql.raw(payer)}`,
      is_pending: sql<boolean>`exists (select ${sql.raw(`${charged} and ${waits} and not ${hasEnded}`)})`,
      uncredited: sql<OrderInvoicing['uncredited']>`${sql.raw(uncredited)}`,
    })
    .from(orders)
    .leftJoin(first, sameTenant(first, orders, eq(first.id, orders.firstOrderId)))
    .leftJoin(bookings, sameTenant(bookings, orders, eq(bookings.orderId, bookedOrder)))
    .leftJoin(
      participants,
      sameTenant(participants, bookings, eq(participants.id, sql.raw(payingParticipant('bookings')))),
    )
    .leftJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .leftJoin(customers, sameTenant(customers, orders, eq(customers.id, orders.customerId)))
    .where(keys.match(orders, orders.id)),
);
