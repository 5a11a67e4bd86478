import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Language } from '../core/reference/language.ts';
import { caseFoldedSql, columnName, foldedSql, markedColumns } from '../database/tables/columns.ts';
import { fullNameSql } from '../database/tables/users.ts';
import { tenantWhere } from './tenant-scope.ts';

/** A course user, with the orders and customers of which the person is the buyer, and the person's mails. */
export type Person = {
  providerId: number;
  userId: number;
  orders: number[];
  customers: number[];
  mails: number[];
  /** Another person of the school has the e-mail. */
  isShared: boolean;
};

type Table = PgTable & { providerId: PgColumn };
type Row = Record<string, unknown>;
type Count = 'participants' | 'attendances' | 'sessions' | 'links' | 'interests' | 'webhook_attempts' | 'import_refs';
/** Purchases that no other person pays next, of these those that no invoice needs, and of these those of no company. */
export type Choice = 'unshared' | 'unneeded' | 'private';
/** The rows of a table `t` that invoices need, and their columns; all unless given. */
export type Kept = { condition?: string; columns?: string };

/** The rows of a table that are of a person or about one. Conditions are SQL with members of a person as `:name`. */
export type Entry = {
  table: Table;
  find: string;
  /** An erasure deletes the rows, or sets their personal columns to null, but for those that become these. */
  erase?: 'delete' | Record<string, string | null>;
  /** The orders and customers whose rows an erasure clears; all unless given. */
  of?: Choice;
  /** A merge deletes the rows, or sets these columns to the one that stays. */
  merge?: 'delete' | string[];
  /** The number of erasures and merges that counts the rows, and which of them. */
  count?: [name: Count, only?: string];
  /** An export shows the rows as items of this name. */
  show?: [name: string, more?: Show];
  /** The deletion of a school keeps what invoices need. */
  invoice?: Kept;
};
type Show = {
  /** The columns that are left out. */
  without?: string;
  order?: string;
  /** The rows, if they are fewer. */
  find?: string;
  /** A page has the rows of its orders: the person's, or also others without their personal columns. */
  ofOrders?: 'own' | 'all';
  /** Texts beside the columns: selected, or from the row. */
  words?: Record<string, SQL | ((row: Row, language: Language) => string)>;
};

/** The condition or value that a text with `:name` means for these values. */
export const bind = (text: string, values: object): SQL =>
  sql.join(
    text
      .split(/(?<!:):([a-zA-Z]+)/)
      .map((part, n) => (n % 2 === 0 ? sql.raw(part) : sql`${sql.param((values as Row)[part])}`)),
  );
export const rowsOf = (entry: Pick<Entry, 'table' | 'find'>, person: Person) =>
  tenantWhere(person, entry.table, bind(`(${entry.find})`, person));

/** The names of the personal columns of a table that the query builder has for them. */
export const personalKeys = (table: PgTable, marked = markedColumns(table, 'personal')) =>
  Object.entries<PgColumn>(getTableColumns(table)).flatMap(([key, one]) =>
    marked.includes(columnName(one)) ? key : [],
  );

/** The values of the personal columns of an entry after an erasure. */
export function erasedValues({ table, erase }: Pick<Entry, 'table' | 'erase'>): Record<string, SQL | null> {
  const own = Object.entries(erase as Record<string, string | null>);
  const replaced = own.map(([key, value]) => [key, value === null ? null : sql.raw(value)] as const);
  return Object.fromEntries([...personalKeys(table).map((key) => [key, null] as const), ...replaced]);
}

export const entry = <More extends Omit<Entry, 'table' | 'find'>>(table: Table, find: string, more: More) => ({
  ...{ table, find },
  ...more,
});
export const deleted = { erase: 'delete' } as const;
export const ended = { erase: 'delete', merge: 'delete' } as const;
/** A new text, where a column is unique. */
export const erasedText = (more = '') => `'erased-' || id${more}`;

/** A list of what is found in the rows of a table: an array, from which an index is read. */
export const list = (column: string, table: string, condition: string) =>
  `any(array(select x.${column} from ${table} x where x.provider_id = :providerId and ${condition}))`;
export const ofPlaces = (column: string) => list(column, 'participants', 'x.user_id = :userId');
export const ofOrders = (table: string) => list('id', table, 'x.order_id = any(:orders::bigint[])');
export const isOfPerson = 'user_id = :userId';
export const isPlace = `participant_id = ${ofPlaces('id')}`;
export const isOfOrder = 'order_id = any(:orders::bigint[])';
/** True for rows `t` that others refer to. */
export const isReferred = (by: string, column: string) =>
  `exists (select from ${by} r where r.provider_id = t.provider_id and r.${column} = t.id)`;

export const ofUser = (value: string) =>
  `(select ${value} from course_users u where u.provider_id = :providerId and u.id = :userId)`;
export const userNameSql = (user: string) => foldedSql(`nullif(${fullNameSql(user)}, '')`);
/** True for the e-mail of the person, if no other person has it or something else proves the person. */
export const isOwnEmail = (folded: string, isProven = 'false') =>
  `${folded} = ${ofUser(caseFoldedSql('u.email'))} and (not :isShared or ${isProven})`;
/** True for an interest of the person. The index of e-mails has the default collation. */
export const isInterest = (interest: string) =>
  isOwnEmail(`${interest}.email collate "default"`, `${foldedSql(`${interest}.name`)} = ${ofUser(userNameSql('u'))}`);
