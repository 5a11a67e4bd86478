import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { eq, sql, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Label, Language } from '../../../core/reference/language.ts';
import { byName, t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { bookingLinks, calendarFeeds, sessions, tokens } from '../../../database/tables/access.ts';
import { auditEntries } from '../../../database/tables/audit.ts';
import { columnName, storedColumns } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { customers } from '../../../database/tables/customers.ts';
import { importRefs } from '../../../database/tables/imports.ts';
import { courseInterests } from '../../../database/tables/interests.ts';
import { bookings, orderLines, orders, payments, voucherRedemptions } from '../../../database/tables/orders.ts';
import { outbox, refusedAddresses } from '../../../database/tables/outbox.ts';
import { attendanceMarks, attendances, participants } from '../../../database/tables/participants.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { paidStates } from '../../participants/participants/schema.ts';
import { participantStatuses } from '../../../core/reference/participant-statuses.ts';
import { CourseUser } from '../../people/users/schema.ts';

const typeOf = (column: PgColumn) => column.getSQLType().replace(/\W.*/, '');

const memberTypes: Record<string, TSchema> = {
  bigint: Type.Integer(),
  integer: Type.Integer(),
  smallint: Type.Integer(),
  boolean: Type.Boolean(),
  numeric: Type.Number(),
  text: Type.String(),
  date: Type.String({ format: 'date' }),
  timestamp: t.DateTime,
  jsonb: t.CustomProperties,
};

function toMember(column: PgColumn) {
  const schema = memberTypes[typeOf(column)];
  if (schema === undefined) throw new Error(`No member has the type ${column.getSQLType()}`);
  return column.notNull ? schema : t.Nullable(schema);
}

const toValue = (column: PgColumn, value: unknown) => {
  if (value === null) return null;
  const type = typeOf(column);
  return type === 'timestamp' ? formatTimestamp(value as string) : type === 'numeric' ? Number(value) : value;
};

type Row = Record<string, unknown>;

/** The names that the interface has for columns. */
const interfaceNames: Record<string, string> = {
  ...{ course_date_id: 'coursedate_id', parent_customer_id: 'idParentCustomer', campaign_id: 'idCampaign' },
  ...{ address: 'recipient', last_error: 'error', marked_at: 'at' },
  total_before_discounts: 'total_amount_before_discounts',
  ...{ total_discounts: 'total_amount_of_discounts', total_vat: 'total_amount_of_vat' },
  price_at_order: 'price_at_order_per_item_vat_excluded',
  price_at_invoice: 'price_at_invoice_per_item_vat_excluded',
  price_at_export: 'price_at_export_per_item_vat_excluded',
};

/** Texts beside codes and ids: a label by the value of a column, or what is read of another row. */
type Words = { labels: Record<string, [key: string, getLabel: (code: number) => Label]>; read: Record<string, SQL> };

/** The rows of a table as items: a member for each column but those of `without`, so that a new column is exported too. */
function defineSection<T extends PgTable>(
  name: string,
  table: T,
  without: (keyof T['_']['columns'] & string)[] = [],
  { labels, read }: Words = { labels: {}, read: {} },
) {
  const columns = Object.fromEntries(
    Object.entries<PgColumn>(storedColumns(table)).filter(
      ([key]) => key !== 'providerId' && !(without as string[]).includes(key),
    ),
  );
  const toName = (column: PgColumn) => interfaceNames[columnName(column)] ?? columnName(column);
  const entries = Object.entries(columns).map(([key, column]) => [key, toName(column), column] as const);
  const members = Object.fromEntries(entries.map(([, member, column]) => [member, toMember(column)]));
  const texts = byName(Object.keys({ ...labels, ...read }), () => Type.String());
  return {
    table,
    columns: { ...columns, ...read },
    Item: t.NamedObject(name, t.member.personal.all({ ...members, ...texts })),
    toItem: (row: Row, language: Language): Row => ({
      ...Object.fromEntries(entries.map(([key, member, column]) => [member, toValue(column, row[key])])),
      ...byName(Object.keys(labels), (name) => labels[name]![1](row[labels[name]![0]] as number)[language]),
      ...byName(Object.keys(read), (name) => row[name]),
    }),
  };
}

const placeWords: Words = {
  labels: {
    status: ['statusId', (id) => participantStatuses.get(id)!.title],
    paid: ['paidId', (id) => paidStates.get(id)!],
  },
  read: {
    course: sql`(select ${courses.title} from ${courses}
      where ${sameTenant(courses, participants, eq(courses.id, participants.courseId))})`,
    start_at: sql`(select ${courseDates.startAt} from ${courseDates}
      where ${sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId))})`,
  },
};

/** The tables with rows about a person, beside that of course users. */
export const sections = {
  participants: defineSection('ExportedParticipant', participants, [], placeWords),
  attendances: defineSection('ExportedAttendance', attendances),
  attendance_marks: defineSection('ExportedAttendanceMark', attendanceMarks),
  orders: defineSection('ExportedOrder', orders, ['isUseReturned']),
  order_lines: defineSection('ExportedOrderLine', orderLines),
  bookings: defineSection('ExportedBooking', bookings),
  payments: defineSection('ExportedPayment', payments),
  voucher_redemptions: defineSection('ExportedRedemption', voucherRedemptions),
  customers: defineSection('ExportedCustomer', customers),
  sessions: defineSection('ExportedSession', sessions, ['hash', 'userId']),
  links: defineSection('ExportedLink', tokens, ['hash', 'earlierHashes', 'userId', 'adminUserId']),
  booking_links: defineSection('ExportedBookingLink', bookingLinks, ['hash', 'earlierHashes']),
  calendar_feeds: defineSection('ExportedCalendarFeed', calendarFeeds, ['hash', 'userId']),
  mails: defineSection('ExportedMail', outbox, [
    ...(['userId', 'namedUserId', 'adminUserId', 'webhookId', 'failure'] as const),
    // Of the date, not of the person.
    'before',
  ]),
  refused_addresses: defineSection('ExportedRefusedAddress', refusedAddresses),
  interests: defineSection('ExportedInterest', courseInterests, ['linkHash', 'earlierHashes', 'linkMailId']),
  import_refs: defineSection('ExportedImportRef', importRefs, ['itemId', 'content']),
  audit_entries: defineSection('ExportedAuditEntry', auditEntries, ['actor', 'actorId', 'itemIds']),
};
export type SectionName = keyof typeof sections;
/** A member for each section. */
export const toLists = <T>(toList: (name: SectionName) => T) =>
  Object.fromEntries(sectionNames.map((name) => [name, toList(name)])) as Record<SectionName, T>;
export const sectionNames = Object.keys(sections) as SectionName[];

/** Items of each section per page. */
export const pageSize = 250;

export type PersonExport = Static<typeof PersonExport>;
export const PersonExport = t.NamedObject('PersonExport', {
  ...t.member.personal.all({
    course_user: CourseUser,
    has_password: Type.Boolean(),
    erased_at: t.Nullable(t.DateTime),
    ...toLists((name) => Type.Array<TSchema>(sections[name].Item)),
  }),
  ...t.member.closed.all({
    page: Type.Integer(),
    incomplete: Type.Array(t.OneOf(sectionNames), { description: 'The lists that go on, on the next page' }),
  }),
});
