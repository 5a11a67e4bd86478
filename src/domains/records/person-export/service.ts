import { and, asc, eq, inArray, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import { bookingLinks, calendarFeeds, sessions, tokens } from '../../../database/tables/access.ts';
import { auditEntries } from '../../../database/tables/audit.ts';
import { caseFolded, markedColumns } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import { importRefs } from '../../../database/tables/imports.ts';
import { courseInterests } from '../../../database/tables/interests.ts';
import { bookings, orderLines, orders, payments, voucherRedemptions } from '../../../database/tables/orders.ts';
import { outbox, refusedAddresses } from '../../../database/tables/outbox.ts';
import { attendanceMarks, attendances, participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { findMailIds, findPurchases } from '../erasures/service.ts';
import { getCourseUser } from '../../people/users/service.ts';
import { pageSize, sectionNames, sections, toLists, type PersonExport, type SectionName } from './schema.ts';

type Selection = { where: SQL | undefined; order: PgColumn[] };
type Row = Record<string, unknown>;

/** Everything held about one course user; a page of each list. */
export async function exportCourseUser(ctx: Ctx, userId: number, page: number): Promise<PersonExport> {
  const user = await getCourseUser(ctx, userId);
  const [state] = await ctx.db
    .select({ hasPassword: sql<boolean>`${courseUsers.passwordHash} is not null`, erasedAt: courseUsers.erasedAt })
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, eq(courseUsers.id, userId)));
  const person = { providerId: ctx.providerId, userId };
  const purchases = await findPurchases(ctx.unlockedStore, person, ctx.settings);
  const own = new Set(purchases.orders.flatMap(({ id, isOwn }) => (isOwn ? [id] : [])));
  const selections = select(ctx, userId, {
    // Each page has some of the orders, with what belongs to them.
    orders: purchases.orders.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id),
    own,
    customers: purchases.customers.flatMap(({ id, isOwn }) => (isOwn ? [id] : [])),
    mails: await findMailIds(ctx.unlockedStore, person, purchases),
  });
  const lists = await readSections(ctx, selections, page);
  for (const name of ['orders', 'bookings'] as const) hideOthers(lists[name].items, name, own);
  const incomplete = sectionNames.filter((name) => lists[name].hasMore);
  if (purchases.orders.length > page * pageSize) incomplete.push('orders');
  return {
    course_user: user,
    has_password: state!.hasPassword,
    erased_at: formatTimestamp(state!.erasedAt),
    ...toLists((name) => lists[name].items),
    page,
    incomplete,
  };
}

type Purchased = { orders: number[]; own: Set<number>; customers: number[]; mails: number[] };

function select(ctx: Ctx, userId: number, purchased: Purchased): Record<SectionName, Selection> {
  const places = ctx.db
    .select({ id: participants.id })
    .from(participants)
    .where(tenantWhere(ctx, participants, eq(participants.userId, userId)));
  const own = purchased.orders.filter((id) => purchased.own.has(id));
  const booked = ctx.db
    .select({ id: bookings.id })
    .from(bookings)
    .where(tenantWhere(ctx, bookings, inArray(bookings.orderId, [...purchased.own])));
  const isOwnAddress = matchOwnAddress(ctx, userId);
  return {
    participants: { where: eq(participants.userId, userId), order: [participants.id] },
    attendances: {
      where: sql`${attendances.participantId} = any(array(${places}))`,
      order: [attendances.participantId, attendances.gatheringId],
    },
    attendance_marks: {
      where: sql`${attendanceMarks.participantId} = any(array(${places}))`,
      order: [attendanceMarks.id],
    },
    orders: { where: inArray(orders.id, purchased.orders), order: [orders.id] },
    order_lines: { where: inArray(orderLines.orderId, own), order: [orderLines.id] },
    bookings: { where: inArray(bookings.orderId, purchased.orders), order: [bookings.id] },
    payments: { where: inArray(payments.orderId, own), order: [payments.id] },
    voucher_redemptions: { where: inArray(voucherRedemptions.orderId, own), order: [voucherRedemptions.orderId] },
    customers: { where: inArray(customers.id, purchased.customers), order: [customers.id] },
    sessions: { where: eq(sessions.userId, userId), order: [sessions.createdAt, sessions.hash] },
    links: { where: eq(tokens.userId, userId), order: [tokens.createdAt, tokens.hash] },
    booking_links: {
      where: or(
        inArray(bookingLinks.participantId, places),
        and(inArray(bookingLinks.bookingId, booked), isNull(bookingLinks.participantId)),
      ),
      order: [bookingLinks.createdAt, bookingLinks.hash],
    },
    calendar_feeds: { where: eq(calendarFeeds.userId, userId), order: [calendarFeeds.createdAt] },
    mails: { where: sql`${outbox.id} = any(${sql.param(purchased.mails)}::bigint[])`, order: [outbox.id] },
    refused_addresses: { where: isOwnAddress(refusedAddresses.email), order: [refusedAddresses.id] },
    interests: { where: eq(courseInterests.email, ownAddress(ctx, userId)), order: [courseInterests.id] },
    import_refs: {
      where: sql`${importRefs.kind} = 'user' and ${importRefs.itemId} = ${userId}`,
      order: [importRefs.ref],
    },
    audit_entries: {
      where: sql`${auditEntries.actor} = 'course_user' and ${auditEntries.actorId} = ${userId}`,
      order: [auditEntries.id],
    },
  };
}

const ownAddress = (ctx: Ctx, userId: number) => {
  const email = ctx.db
    .select({ email: caseFolded(courseUsers.email) })
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, eq(courseUsers.id, userId)));
  return sql`(${email})`;
};

const matchOwnAddress = (ctx: Ctx, userId: number) => (address: PgColumn) =>
  sql`${caseFolded(address)} = ${ownAddress(ctx, userId)}`;

/** Those that a page of orders selects have all rows on it. */
const ofOrders: SectionName[] = ['orders', 'order_lines', 'bookings', 'payments', 'voucher_redemptions'];

/** One after another: a request has one connection. */
async function readSections(ctx: Ctx, selections: Record<SectionName, Selection>, page: number) {
  const lists = {} as Record<SectionName, { items: Row[]; hasMore: boolean }>;
  for (const name of sectionNames) {
    const { table, columns, toItem } = sections[name];
    const { where, order } = selections[name];
    const query = ctx.db
      .select(columns)
      .from(table)
      .where(tenantWhere(ctx, table, where))
      .orderBy(...order.map((column) => asc(column)))
      .$dynamic();
    const isWhole = ofOrders.includes(name);
    const rows = await (isWhole ? query : query.limit(pageSize + 1).offset((page - 1) * pageSize));
    const hasMore = !isWhole && rows.length > pageSize;
    lists[name] = {
      items: (hasMore ? rows.slice(0, pageSize) : rows).map((row) => toItem(row, ctx.language)),
      hasMore,
    };
  }
  return lists;
}

/** The buyer of an order that another person or a company pays is not of this person. */
function hideOthers(items: Row[], table: 'orders' | 'bookings', own: Set<number>) {
  const personal = markedColumns({ orders, bookings }[table], 'personal');
  for (const item of items)
    if (!own.has(Number(item[table === 'orders' ? 'id' : 'order_id']))) for (const name of personal) item[name] = null;
}
