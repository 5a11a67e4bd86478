import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import * as access from '../../../database/tables/access.ts';
import { auditEntries } from '../../../database/tables/audit.ts';
import { catalogPosts, recipientHashSql } from '../../../database/tables/catalog-posts.ts';
import { caseFoldedSql, columnName, markedColumns } from '../../../database/tables/columns.ts';
import { customers } from '../../../database/tables/customers.ts';
import * as imports from '../../../database/tables/imports.ts';
import { courseInterests } from '../../../database/tables/interests.ts';
import { bookings, orderLines, orders, payments, voucherRedemptions } from '../../../database/tables/orders.ts';
import { outbox, refusedAddresses } from '../../../database/tables/outbox.ts';
import { attendanceMarks, attendances, participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { webhookDeliveries } from '../../../database/tables/webhooks.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

/** A course user, with the orders and customers of which the person is the buyer, and the person's mails. */
export type Person = { providerId: number; userId: number; orders: number[]; customers: number[]; mails: number[] };

type Table = PgTable & { providerId: PgColumn };
type Count = 'participants' | 'attendances' | 'sessions' | 'links' | 'interests' | 'webhook_attempts' | 'import_refs';

/** The rows of a table that are of a person or about one. Conditions are SQL with the members of a person as `:name`. */
export type Entry = {
  table: Table;
  find: string;
  /** An erasure deletes the rows, or sets their personal columns to null, but for those that become these. */
  erase?: 'delete' | Record<string, string | null>;
  /** A merge deletes the rows, or sets these columns to the one that stays. */
  merge?: 'delete' | string[];
  /** The number of erasures and merges that counts the rows, and which of them. */
  count?: [name: Count, only?: string];
  /** An export shows the name of an item, the columns that are left out, the order, and the rows if these are fewer. */
  show?: [name: string, more?: { without?: string; order?: string; find?: string }];
  /** The columns that the invoices of a deleted school need; others of its kept rows are unset. */
  invoice?: string;
};

/** The condition or value that a text with `:name` means for these values. */
export const bind = (text: string, values: object): SQL =>
  sql.join(
    text
      .split(/(?<!:):([a-zA-Z]+)/)
      .map((part, n) => (n % 2 === 0 ? sql.raw(part) : sql`${sql.param((values as Record<string, unknown>)[part])}`)),
  );
export const rowsOf = (entry: Pick<Entry, 'table' | 'find'>, person: Person) =>
  tenantWhere(person, entry.table, bind(`(${entry.find})`, person));

/** A list of what is found in the rows of a table: an array, from which an index is read. */
const list = (column: string, table: string, condition: string) =>
  `any(array(select x.${column} from ${table} x where x.provider_id = :providerId and ${condition}))`;
const ofPlaces = (column: string) => list(column, 'participants', 'x.user_id = :userId');
const ofOrders = (table: string) => list('id', table, 'x.order_id = any(:orders::bigint[])');
const ofPerson = 'user_id = :userId';
const isPlace = `participant_id = ${ofPlaces('id')}`;
const isOfOrder = 'order_id = any(:orders::bigint[])';

const ofUser = (value: string) =>
  `(select ${value} from course_users u where u.provider_id = :providerId and u.id = :userId)`;
const ownEmail = ofUser(caseFoldedSql('u.email'));
const isOwnAddress = (column: string) => `${caseFoldedSql(column)} = ${ownEmail}`;
/** The mails to the person, and the notices that named the person. Those to others who have had the place are theirs. */
export const isMail = `user_id = :userId or named_user_id = :userId or booking_id = ${ofOrders('bookings')}
  or ${isPlace} and num_nonnulls(user_id, named_user_id, booking_id) = 0
  or ${isOwnAddress('address')} or refused_address_id = ${list('id', 'refused_addresses', isOwnAddress('x.email'))}`;
/** The links to offers of the person, and to bookings that the person has paid. */
const isLink = `${isPlace} or booking_id = ${ofOrders('bookings')} and participant_id is null`;

/** An item of the person, by the names that imports and events have for its kind. */
const isItem = (kind: string, id: string) => `(${kind} in ('user', 'courseuser') and ${id} = :userId
    or ${kind} = 'participant' and ${id} = ${ofPlaces('id')} or ${kind} = 'order' and ${id} = any(:orders::bigint[])
    or ${kind} = 'booking' and ${id} = ${ofOrders('bookings')} or ${kind} = 'order_line' and ${id} = ${ofOrders('order_lines')}
    or ${kind} = 'customer' and ${id} = any(:customers::bigint[]))`;
/** True for refs of such items, with the condition of the partial index. */
const isRef = `kind in ('booking', 'customer', 'order', 'order_line', 'participant', 'user') and ${isItem('kind', 'item_id')}
  and not ${imports.isHashedRefSql('ref')}`;
const isAttempt = `exists (select from events e where e.provider_id = :providerId and ${isItem('e.resource', 'e.resource_id')}
  and e.id = substring(message_id from '^evt_(\\d{1,18})_')::bigint)`;
/** True for posts of the catalog's form: the person is on the booking, or was mailed about it. */
const isPost = `booking_id = ${ofOrders('bookings')} or booking_id = ${ofPlaces('booking_id')}
  or recipients @> array[${ofUser(recipientHashSql('u.provider_id', 'u.email'))}]`;
/** True after an import that broke off: one in progress has the lock, and deletes its lines at its end. */
const isStaged = `(select pg_try_advisory_xact_lock(${imports.importLockSql(':providerId::bigint')}))`;

const voucherPart = `(select jsonb_object_agg(key, value) from jsonb_each(custom_properties)
  where key in ('voucher_code', 'voucher_amount'))`;
const ofOrder = `customer_id title_detailed currency is_paid payment_method your_reference booker gln_number
  invoice_address invoice_address_2 invoice_address_3 invoice_zipcode invoice_city total_before_discounts total_discounts
  total_vat invoiced_at exported_at kind first_order_id credit_applied`;
const ofCustomer = `department type status orgnr country customer_reference_id customer_reference duedate_days
  invoice_address invoice_address_2 invoice_address_3 invoice_zipcode invoice_city`;

const entry = (table: Table, find: string, more: Omit<Entry, 'table' | 'find'>): Entry => ({ table, find, ...more });
const deleted = { erase: 'delete' } as const;
const ended = { erase: 'delete', merge: 'delete' } as const;
/** A new text, where a column is unique. */
const erasedText = (more = '') => `'erased-' || id${more}`;

/** Tables by the names of the lists of an export. Links stand before mails, whose keys they have. */
export const register = {
  course_users: entry(courseUsers, 'id = :userId', { erase: { username: erasedText(` || '-' || gen_random_uuid()`) } }),
  participants: entry(participants, ofPerson, {
    ...{ erase: {}, merge: ['userId'], count: ['participants'], show: ['ExportedParticipant'] },
  }),
  attendances: entry(attendances, isPlace, {
    ...{ count: ['attendances'], show: ['ExportedAttendance', { order: 'participantId gatheringId' }] },
  }),
  attendance_marks: entry(attendanceMarks, isPlace, {
    erase: { nonce: erasedText() },
    show: ['ExportedAttendanceMark'],
  }),
  orders: entry(orders, 'id = any(:orders::bigint[])', {
    erase: { customProperties: voucherPart, keptUntil: null, keptUserId: null },
    ...{ show: ['ExportedOrder', { without: 'isUseReturned' }], invoice: ofOrder },
  }),
  order_lines: entry(orderLines, isOfOrder, { show: ['ExportedOrderLine'], invoice: '' }),
  bookings: entry(bookings, isOfOrder, { erase: {}, show: ['ExportedBooking'] }),
  payments: entry(payments, isOfOrder, { erase: {}, show: ['ExportedPayment'] }),
  voucher_redemptions: entry(voucherRedemptions, isOfOrder, { show: ['ExportedRedemption', { order: 'orderId' }] }),
  customers: entry(customers, 'id = any(:customers::bigint[])', {
    ...{ erase: { title: `'Erased'`, keptUntil: null }, show: ['ExportedCustomer'], invoice: ofCustomer },
  }),
  sessions: entry(access.sessions, ofPerson, {
    ...{ ...ended, count: ['sessions'] },
    show: ['ExportedSession', { without: 'hash userId', order: 'createdAt hash' }],
  }),
  links: entry(access.tokens, ofPerson, {
    ...{ ...ended, count: ['links', 'used_at is null'] },
    show: ['ExportedLink', { without: 'hash earlierHashes userId adminUserId', order: 'createdAt hash' }],
  }),
  booking_links: entry(access.bookingLinks, `${isLink} or mail_id = any(:mails::bigint[])`, {
    ...{ ...deleted, count: ['links'] },
    show: ['ExportedBookingLink', { without: 'hash earlierHashes', order: 'createdAt hash', find: isLink }],
  }),
  calendar_feeds: entry(access.calendarFeeds, ofPerson, {
    ...{ ...ended, count: ['links'] },
    show: ['ExportedCalendarFeed', { without: 'hash userId', order: 'createdAt' }],
  }),
  mails: entry(outbox, 'id = any(:mails::bigint[])', {
    ...{ ...deleted, merge: ['userId', 'namedUserId'] },
    // `before` is of the date, not of the person.
    show: ['ExportedMail', { without: 'userId namedUserId adminUserId webhookId failure before' }],
  }),
  refused_addresses: entry(refusedAddresses, isOwnAddress('email'), { ...deleted, show: ['ExportedRefusedAddress'] }),
  // By the address alone: an interest has no person.
  interests: entry(courseInterests, `email = ${ownEmail}`, {
    ...{ ...deleted, count: ['interests'] },
    show: ['ExportedInterest', { without: 'linkHash earlierHashes linkMailId' }],
  }),
  import_refs: entry(imports.importRefs, isRef, {
    ...{ erase: { ref: imports.hashedRefSql('ref') }, count: ['import_refs'] },
    show: [
      'ExportedImportRef',
      { without: 'itemId content', order: 'ref', find: `kind = 'user' and item_id = :userId` },
    ],
  }),
  audit_entries: entry(auditEntries, `actor = 'course_user' and actor_id = :userId`, {
    show: ['ExportedAuditEntry', { without: 'actor actorId itemIds' }],
  }),
  sign_on_failures: entry(
    access.signOnFailures,
    `username_hash = ${ofUser(access.usernameHashSql('u.username'))}`,
    deleted,
  ),
  catalog_posts: entry(catalogPosts, isPost, deleted),
  webhook_deliveries: entry(webhookDeliveries, isAttempt, { ...deleted, count: ['webhook_attempts'] }),
  staged_lines: entry(imports.stagedLines, isStaged, deleted),
};
export const entries = Object.values(register);

/** The tables with personal columns without an entry: of staff, who are no course users, and answers, searched as texts. */
export const otherTables = ['admin_memberships', 'admin_users', 'instructors', 'idempotency_records'];

/** The names of the personal columns of a table that the query builder has for them. */
export const personalKeys = (table: PgTable, marked = markedColumns(table, 'personal')) =>
  Object.entries<PgColumn>(getTableColumns(table)).flatMap(([key, one]) =>
    marked.includes(columnName(one)) ? key : [],
  );

/** The values of the personal columns of an entry after an erasure. */
export function erasedValues({ table, erase }: Entry): Record<string, SQL | null> {
  const own = Object.entries(erase as Record<string, string | null>);
  const replaced = own.map(([key, value]) => [key, value === null ? null : sql.raw(value)] as const);
  return Object.fromEntries([...personalKeys(table).map((key) => [key, null] as const), ...replaced]);
}
