import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { is, SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Language } from '../../../core/reference/language.ts';
import { byName, t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { columnName, storedColumns } from '../../../database/tables/columns.ts';
import type { Entry } from '../../../lists/personal-data.ts';
import { CourseUser } from '../../people/users/fields.ts';
import { register } from '../register/schema.ts';

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

/** The rows of a table as items: a member for each column but those of `without`, so that a new one is exported too. */
function toSection(entry: Entry, [as, show = {}]: NonNullable<Entry['show']>) {
  const { table } = entry;
  const { without = '', order = 'id', find = entry.find, ofOrders, words = {} } = show;
  const [all, left] = [Object.entries<PgColumn>(storedColumns(table)), `providerId ${without}`.split(' ')];
  const shown = all.filter(([key]) => !left.includes(key));
  const toName = (column: PgColumn) => interfaceNames[columnName(column)] ?? columnName(column);
  const members = Object.fromEntries(shown.map(([, column]) => [toName(column), toMember(column)]));
  const selected = Object.entries(words).flatMap(([name, word]) => (is(word, SQL) ? [[name, word] as const] : []));
  return {
    ...{ table, find, ofOrders, order: order.split(' ').map((key) => Object.fromEntries(all)[key]!) },
    columns: { ...Object.fromEntries(shown), ...Object.fromEntries(selected) },
    Item: t.NamedObject(as, t.member.personal.all({ ...members, ...byName(Object.keys(words), () => Type.String()) })),
    toItem: (row: Row, language: Language): Row => ({
      ...Object.fromEntries(shown.map(([key, column]) => [toName(column), toValue(column, row[key])])),
      ...byName(Object.keys(words), (name) => {
        const word = words[name];
        return typeof word === 'function' ? word(row, language) : row[name];
      }),
    }),
  };
}

/** The lists of an export, beside the course user. */
export const sections = Object.fromEntries(
  Object.entries<Entry>(register).flatMap(([name, one]) =>
    one.show ? [[name, toSection(one, one.show)] as const] : [],
  ),
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
