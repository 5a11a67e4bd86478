import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { eq, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { participantStatuses } from '../../../core/reference/participant-statuses.ts';
import type { Language } from '../../../core/reference/language.ts';
import { byName, t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { columnName, storedColumns } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { participants } from '../../../database/tables/participants.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { paidStates } from '../../participants/participants/schema.ts';
import { CourseUser } from '../../people/users/fields.ts';
import { register, type Entry } from '../register/schema.ts';

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
  const type = typeOf(column);
  if (type === 'timestamp' && typeof value === 'string') return formatTimestamp(value);
  return type === 'numeric' && value !== null ? Number(value) : value;
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

/** Texts of a place beside its codes and ids. */
const placeWords = {
  course: sql`(select ${courses.title} from ${courses}
    where ${sameTenant(courses, participants, eq(courses.id, participants.courseId))})`,
  start_at: sql`(select ${courseDates.startAt} from ${courseDates}
    where ${sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId))})`,
};
const toPlaceWords = ({ statusId, paidId, course, start_at }: Row, language: Language) => ({
  status: participantStatuses.get(Number(statusId))!.title[language],
  paid: paidStates.get(Number(paidId))![language],
  ...{ course, start_at },
});

/** The rows of a table as items: a member for each column but those of `without`, so that a new column is exported too. */
function toSection(
  entry: Entry,
  [as, { without = '', order = 'id', find = entry.find } = {}]: NonNullable<Entry['show']>,
) {
  const { table } = entry;
  const [all, left] = [Object.entries<PgColumn>(storedColumns(table)), `providerId ${without}`.split(' ')];
  const shown = all.filter(([key]) => !left.includes(key));
  const toName = (column: PgColumn) => interfaceNames[columnName(column)] ?? columnName(column);
  const members = Object.fromEntries(shown.map(([, column]) => [toName(column), toMember(column)]));
  const words = table === participants ? byName(['status', 'paid', 'course', 'start_at'], () => Type.String()) : {};
  return {
    ...{ table, find, order: order.split(' ').map((key) => Object.fromEntries(all)[key]!) },
    columns: { ...Object.fromEntries(shown), ...(table === participants && placeWords) },
    Item: t.NamedObject(as, t.member.personal.all({ ...members, ...words })),
    toItem: (row: Row, language: Language): Row => ({
      ...Object.fromEntries(shown.map(([key, column]) => [toName(column), toValue(column, row[key])])),
      ...(table === participants && toPlaceWords(row, language)),
    }),
  };
}

/** The lists of an export, beside the course user. */
export const sections = Object.fromEntries(
  Object.entries(register).flatMap(([name, one]) => (one.show ? [[name, toSection(one, one.show)] as const] : [])),
);
const sectionNames = Object.keys(sections);

/** Items of each section per page. */
export const pageSize = 250;

export type PersonExport = Static<typeof PersonExport>;
export const PersonExport = t.NamedObject('PersonExport', {
  ...t.member.personal.all({
    course_user: CourseUser,
    has_password: Type.Boolean(),
    erased_at: t.Nullable(t.DateTime),
    ...byName(sectionNames, (name) => Type.Array<TSchema>(sections[name]!.Item)),
  }),
  ...t.member.closed.all({
    page: Type.Integer(),
    incomplete: Type.Array(t.OneOf(sectionNames), { description: 'The lists that go on, on the next page' }),
  }),
});
